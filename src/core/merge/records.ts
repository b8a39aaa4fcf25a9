import { hash } from 'node:crypto';
import type { FieldMapping } from '../lead/mapping.ts';
import type { Cells, Value, Values } from '../lead/value.ts';
import { showsBase } from './difference.ts';

const chunkBits = 23;
/** Bytes of the largest usual chunk, each up to it twice as large as the one before: records never move, so that growing copies nothing. */
export const largestChunk = 1 << chunkBits;
const leastChunk = 1 << 16;
/** Bytes before the id: the lengths of id and text. */
const head = 6;

type Bytes = Buffer & { utf8Slice(from: number, to: number): string };

/** Asked for bytes before they are allocated; throws when there are not as many. Below 0: they are free again. */
export type Reserve = (bytes: number) => void;

/** Where the bytes of a record are: its id, then its text. */
type RecordBytes = [from: Buffer, id: number, idEnd: number, text: number, textEnd: number];

/** Records, an id and a text each, as bytes outside of the heap, where no collector of garbage looks at them; found by id. */
export class Records {
  readonly #reserveOf: Reserve;
  #reserved = 0;
  readonly #chunks: Bytes[] = [];
  /** Free bytes of the last chunk. */
  #left = 0;
  size = 0;
  /** By ordinal the chunk and the place in it. */
  #at = new Uint32Array(1_024);
  /** Ordinal + 1 at the slot that the id's hash names, or at one behind it; 0: free. The length is a power of two. */
  #slots = new Int32Array(4_096);
  #scratch = Buffer.allocUnsafe(4_096);

  constructor(reserve: Reserve = () => {}) {
    this.#reserveOf = reserve;
  }

  /** Gives back the bytes of records that nobody looks at any more. */
  free(): void {
    this.#reserve(-this.#reserved);
  }

  /** The ordinal of an id; -1: it is not there. */
  find(id: string): number {
    if (this.size === 0) return -1;
    const length = this.#write(id);
    const mask = this.#slots.length - 1;
    let slot = hashOf(this.#scratch, 0, length) & mask;
    for (let n = this.#slots[slot] ?? 0; n !== 0; n = this.#slots[slot] ?? 0) {
      const [chunk, at] = this.#place(n - 1);
      if (this.#isScratch(chunk, at + head, chunk.readUInt16LE(at), length)) return n - 1;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  /** Whether the text of a record is this one. */
  hasText(n: number, text: string): boolean {
    const [chunk, at] = this.#place(n);
    return this.#isScratch(
      chunk,
      at + head + chunk.readUInt16LE(at),
      chunk.readUInt32LE(at + 2),
      this.#write(text),
    );
  }

  /** Adds a record, whose id must not be there, from the bytes of both; returns its ordinal. */
  add(...bytes: RecordBytes): number {
    const place = this.#append(...bytes);
    if (this.size === this.#at.length) this.#at = grown(this.#at, new Uint32Array(this.size * 2));
    this.#at[this.size] = place;
    this.size += 1;
    if (this.size * 2 > this.#slots.length) this.#index(this.#slots.length * 2);
    else this.#insert(this.size - 1);
    return this.size - 1;
  }

  /** Adds a record, or gives it another text: it keeps its ordinal, which is returned. */
  set(id: string, text: string): number {
    const bytes = Buffer.from(id + text);
    const end = Buffer.byteLength(id);
    const n = this.find(id);
    if (n < 0) return this.add(bytes, 0, end, end, bytes.length);
    this.#at[n] = this.#append(bytes, 0, end, end, bytes.length);
    return n;
  }

  id(n: number): string {
    const [chunk, at] = this.#place(n);
    return chunk.utf8Slice(at + head, at + head + chunk.readUInt16LE(at));
  }

  text(n: number): string {
    const [chunk, at] = this.#place(n);
    const from = at + head + chunk.readUInt16LE(at);
    return chunk.utf8Slice(from, from + chunk.readUInt32LE(at + 2));
  }

  /** The bytes of the text of an id; 0: it is not there. */
  lengthOf(id: string): number {
    const n = this.find(id);
    if (n < 0) return 0;
    const [chunk, at] = this.#place(n);
    return chunk.readUInt32LE(at + 2);
  }

  #place(n: number): readonly [Bytes, number] {
    const at = this.#at[n] ?? 0;
    const chunk = this.#chunks[at >>> chunkBits];
    if (chunk === undefined) throw new Error(`there is no record ${n}`);
    return [chunk, at & ((1 << chunkBits) - 1)];
  }

  /** Writes a text into the scratch; returns its bytes. */
  #write(text: string): number {
    if (3 * text.length > this.#scratch.length) this.#scratch = Buffer.allocUnsafe(6 * text.length);
    return this.#scratch.write(text);
  }

  #isScratch(chunk: Buffer, from: number, length: number, scratch: number): boolean {
    return length === scratch && chunk.compare(this.#scratch, 0, length, from, from + length) === 0;
  }

  /** Writes a record behind the others; returns its chunk and its place in it. */
  #append(from: Buffer, id: number, idEnd: number, text: number, textEnd: number): number {
    const [idLength, length] = [idEnd - id, textEnd - text];
    const bytes = head + idLength + length;
    if (bytes > this.#left) this.#addChunk(bytes);
    const last = this.#chunks.length - 1;
    const chunk = this.#chunks[last];
    if (chunk === undefined) throw new Error('there is no chunk');
    const at = chunk.length - this.#left;
    chunk.writeUInt16LE(idLength, at);
    chunk.writeUInt32LE(length, at + 2);
    from.copy(chunk, at + head, id, idEnd);
    from.copy(chunk, at + head + idLength, text, textEnd);
    this.#left -= bytes;
    return last * 2 ** chunkBits + at;
  }

  #reserve(bytes: number): void {
    this.#reserveOf(bytes);
    this.#reserved += bytes;
  }

  #addChunk(least: number): void {
    const usual = Math.min(largestChunk, Math.max(leastChunk, 2 * (this.#chunks.at(-1)?.length ?? 0)));
    const bytes = Math.max(least, usual);
    if (this.#chunks.length === 1 << (32 - chunkBits)) this.#reserve(Infinity);
    this.#reserve(bytes);
    this.#chunks.push(Buffer.allocUnsafeSlow(bytes) as Bytes);
    this.#left = bytes;
  }

  #index(length: number): void {
    this.#reserve(4 * length);
    this.#slots = new Int32Array(length);
    for (let n = 0; n < this.size; n++) this.#insert(n);
  }

  #insert(n: number): void {
    const [chunk, at] = this.#place(n);
    const mask = this.#slots.length - 1;
    let slot = hashOf(chunk, at + head, at + head + chunk.readUInt16LE(at)) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = n + 1;
  }
}

/** FNV-1a, mixed once more. */
function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 1;
}

/** A longer array with what a shorter one has. */
function grown<T extends Uint32Array | Float64Array | Uint8Array>(before: T, longer: T): T {
  longer.set(before);
  return longer;
}

/** Begins what is kept of a long text: its bytes, a space, and its SHA-256 in base64. */
export const digestMark = '#';

/** A pair, as it is loaded. */
export interface LoadedPair {
  readonly id: number;
  /** Where its row stood last; null: nowhere. */
  readonly row: number | null;
  /** Whether only its values are to be compared: no side was missed before, the lead is not deleted, both were in step. */
  readonly isSettled: boolean;
  /** An earlier run found out that the lead was deleted. */
  readonly isDeleted: boolean;
}

const [settled, deleted] = [1, 2];

/** The pairs of a place, by ordinals: their order when they were loaded. */
export class Baselines {
  /** How often pairs had moved when they were loaded (see the schema). */
  readonly moves: number;
  readonly fields: readonly FieldMapping[];
  readonly #records: Records;
  #pairIds = new Float64Array(1_024);
  #rows = new Float64Array(1_024);
  /** Of each `settled`, `deleted`, or neither. */
  #flags = new Uint8Array(1_024);

  constructor(fields: readonly FieldMapping[], moves = 0, reserve?: Reserve) {
    this.fields = fields;
    this.moves = moves;
    this.#records = new Records(reserve);
  }

  get size(): number {
    return this.#records.size;
  }

  /** Takes a pair: the bytes of its id, and those of its baseline as `recordText` has it, or of the digest of that. */
  add(pair: LoadedPair, ...bytes: Parameters<Records['add']>): void {
    const n = this.#records.add(...bytes);
    if (n === this.#flags.length) {
      this.#pairIds = grown(this.#pairIds, new Float64Array(2 * n));
      this.#rows = grown(this.#rows, new Float64Array(2 * n));
      this.#flags = grown(this.#flags, new Uint8Array(2 * n));
    }
    this.#pairIds[n] = pair.id;
    this.#rows[n] = pair.row ?? -1;
    this.#flags[n] = pair.isDeleted ? deleted : pair.isSettled ? settled : 0;
  }

  /** -1: the lead is no pair. */
  find(leadId: string): number {
    return this.#records.find(leadId);
  }

  leadId(n: number): string {
    return this.#records.id(n);
  }

  pairId(n: number): number {
    return this.#pairIds[n] ?? 0;
  }

  row(n: number): number | null {
    const row = this.#rows[n] ?? -1;
    return row === -1 ? null : row;
  }

  /** Whether both sides were in step once. */
  wasInStep(n: number): boolean {
    return n >= 0 && this.#records.text(n) !== '';
  }

  /** The bytes of a baseline. */
  length(n: number): number {
    const text = n < 0 ? '' : this.#records.text(n);
    return text.startsWith(digestMark) ? Number.parseInt(text.slice(digestMark.length), 10) : text.length;
  }

  isDeleted(n: number): boolean {
    return this.#flags[n] === deleted;
  }

  /** Whether a record shows the baseline in every field that it has, and nothing else is to be decided. */
  isShown(n: number, cells: Cells): boolean {
    if (this.#flags[n] !== settled) return false;
    const text = recordText(cells, this.fields);
    if (this.#records.hasText(n, text)) return true;
    const known = this.#records.text(n);
    // Of a long one in another form only the sight of both sides tells that it means the same.
    if (known.startsWith(digestMark))
      return known === `${digestMark}${Buffer.byteLength(text)} ${hash('sha256', text, 'base64')}`;
    return showsBase(cells, this.#valuesOf(known));
  }

  #valuesOf(text: string): Values {
    const values = JSON.parse(text) as readonly (Value | 0)[];
    return Object.fromEntries(
      this.fields.flatMap(({ field }, nth) => {
        const value = values[nth] ?? null;
        return value === 0 ? [] : [[field, value]];
      }),
    );
  }
}

/** What a record shows, in the order of the mapping; 0: it has no such field. */
export function recordText(cells: Cells, fields: readonly FieldMapping[]): string {
  return JSON.stringify(fields.map(({ field }) => cells[field] ?? (field in cells ? null : 0)));
}
