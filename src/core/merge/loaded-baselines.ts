import { hash } from 'node:crypto';
import type { FieldMapping } from '../lead/mapping.ts';
import type { Cells, Value, Values } from '../lead/value.ts';
import { showsBase } from './difference.ts';
import { grown, Records, type Reserve } from './records.ts';

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
