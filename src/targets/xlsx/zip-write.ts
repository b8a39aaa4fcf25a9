import {
  centralLength,
  centralSignature,
  copied,
  endSignature,
  localSignature,
  type RandomAccess,
  saturated,
  type ZipDirectory,
  type ZipEntry,
} from './zip-directory.ts';
import { pipeline, Readable } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import type { XlsxFault } from './fault.ts';

interface EntryFields {
  readonly name: Buffer;
  readonly utf8: boolean;
  readonly method: number;
  /** MS-DOS time and date. */
  readonly time: number;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
}

/** Little-endian numbers of 2 or 4 bytes. */
function fields(...values: readonly (readonly [bytes: 2 | 4, value: number])[]): Buffer {
  const all = values.map(([bytes, value]) => {
    const field = Buffer.alloc(bytes);
    field.writeUIntLE(value, 0, bytes);
    return field;
  });
  return Buffer.concat(all);
}

/** From "version needed" to "extra field length": the same in both headers. No extra field, no data descriptor. */
function common({ name, utf8, method, time, crc, compressedSize, size }: EntryFields): Buffer {
  const flags = utf8 ? 0x800 : 0;
  const packed = fields([4, crc], [4, compressedSize], [4, size]);
  return Buffer.concat([
    fields([2, 20], [2, flags], [2, method], [4, time]),
    packed,
    fields([2, name.length], [2, 0]),
  ]);
}

function localHeader(entry: EntryFields): Buffer {
  return Buffer.concat([fields([4, localSignature]), common(entry), entry.name]);
}

function centralHeader(entry: EntryFields, start: number, externalAttributes: number): Buffer {
  const end = fields([2, 0], [2, 0], [2, 0], [4, externalAttributes], [4, start]);
  return Buffer.concat([fields([4, centralSignature], [2, 20]), common(entry), end, entry.name]);
}

function endRecord(count: number, start: number, length: number, comment: Buffer): Buffer {
  const list = fields([2, count], [2, count], [4, length], [4, start]);
  return Buffer.concat([fields([4, endSignature], [4, 0]), list, fields([2, comment.length]), comment]);
}

interface Packed {
  readonly chunks: readonly Buffer[];
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
}

/** Deflated (8) or stored (0); keeps only packed bytes in memory. */
async function pack(content: AsyncIterable<Buffer>, method: number): Promise<Packed> {
  let crc = 0;
  let size = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of content) {
      crc = crc32(chunk, crc);
      size += chunk.length;
      yield chunk;
    }
  }
  const chunks: Buffer[] = [];
  const packing: AsyncIterable<Buffer> =
    method === 0 ? counted() : pipeline(counted(), createDeflateRaw(), () => undefined);
  for await (const chunk of packing) chunks.push(chunk);
  return { chunks, crc, size, compressedSize: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
}

export interface NewPart {
  readonly name: string;
  readonly text: string;
}

/** 1980-01-01 00:00 in MS-DOS form: the earliest zip time. */
const noTime = 0x00210000;

/** Some files replaced, others appended; all else is copied as it is, packed bytes included: order, names and packing methods stay. */
export async function* rewrittenZip(
  file: RandomAccess,
  { entries, comment }: ZipDirectory,
  contents: ReadonlyMap<ZipEntry, AsyncIterable<Buffer>>,
  added: readonly NewPart[],
  fault: XlsxFault,
): AsyncGenerator<Buffer> {
  const inPlace = entries.toSorted((a, b) => a.start - b.start);
  const centrals = new Map<ZipEntry | NewPart, Buffer>();
  let position = inPlace[0]?.start ?? 0;
  async function* put(
    part: ZipEntry | NewPart,
    named: ReturnType<typeof namedAs>,
    content: AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    const packed = await pack(content, named.method);
    const header = localHeader({ ...named, ...packed });
    centrals.set(part, centralHeader({ ...named, ...packed }, position, named.attributes));
    yield header;
    yield* packed.chunks;
    position += header.length + packed.compressedSize;
  }
  yield* copied(file, 0, position);
  for (const entry of inPlace) {
    const content = contents.get(entry);
    if (content !== undefined) {
      yield* put(entry, namedAs(entry), content);
      continue;
    }
    const central = Buffer.from(entry.central);
    central.writeUInt32LE(position, 42);
    centrals.set(entry, central);
    yield* copied(file, entry.start, entry.next);
    position += entry.next - entry.start;
  }
  for (const part of added) {
    const named = { name: Buffer.from(part.name), utf8: false, method: 8, time: noTime, attributes: 0 };
    yield* put(part, named, Readable.from([Buffer.from(part.text)]));
  }
  if (position >= saturated) throw fault('would be larger than 4 GB');
  const all = [...entries, ...added];
  const list = Buffer.concat(all.flatMap((part) => centrals.get(part) ?? []));
  yield list;
  yield endRecord(all.length, position, list.length, comment);
}

/** A new zip; the same parts give the same bytes. */
export function newZip(parts: readonly NewPart[], fault: XlsxFault): AsyncGenerator<Buffer> {
  const nothing = Buffer.alloc(0);
  const file = { size: 0, read: () => Promise.resolve(nothing) };
  return rewrittenZip(file, { entries: [], comment: nothing }, new Map(), parts, fault);
}

function namedAs({ central, method }: ZipEntry) {
  return {
    name: central.subarray(centralLength, centralLength + central.readUInt16LE(28)),
    utf8: (central.readUInt16LE(8) & 0x800) !== 0,
    method,
    time: central.readUInt32LE(12),
    attributes: central.readUInt32LE(38),
  };
}
