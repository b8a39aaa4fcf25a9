import type { XlsxFault } from './fault.ts';
import { pipeline, Readable } from 'node:stream';
import { crc32, createInflateRaw, createDeflateRaw } from 'node:zlib';
import { codeOf } from '../../lib/errors.ts';

/** Sizes and signatures of the zip format (PKWARE APPNOTE 6.3, sections 4.3.7, 4.3.12, 4.3.16). */
const localSignature = 0x04034b50;
const localLength = 30;
const centralSignature = 0x02014b50;
const centralLength = 46;
const endSignature = 0x06054b50;
const endLength = 22;

/** A 32-bit field with this value is in a zip64 extra field instead (4.5.3). */
const saturated = 0xffffffff;

/** Bytes from any position; a read past the end gives fewer. */
export interface RandomAccess {
  readonly size: number;
  read(position: number, length: number): Promise<Buffer>;
}

export interface ZipEntry {
  readonly name: string;
  /** Stored (0) or deflated (8); others can only be copied. */
  readonly method: number;
  readonly encrypted: boolean;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
  /** Start of its local header, and of what follows it. */
  readonly start: number;
  readonly next: number;
  /** Its central directory header, never in zip64 form. */
  readonly central: Buffer;
}

export interface ZipDirectory {
  readonly entries: readonly ZipEntry[];
  readonly comment: Buffer;
}

const mostEntries = 20_000;
const longestDirectory = 16 * 1024 * 1024;

/** Reads a zip's directory, zip64 included. @throws what `fault` makes, for a broken zip or no zip. */
export async function readZipDirectory(file: RandomAccess, fault: XlsxFault): Promise<ZipDirectory> {
  const { start, length, count, comment } = await readEnd(file, fault);
  if (count > mostEntries || length > longestDirectory)
    throw fault('is a zip with too many files for a workbook');
  if (start + length > file.size) throw damaged(fault);
  const directory = await file.read(start, length);
  const found: Omit<ZipEntry, 'next'>[] = [];
  for (let at = 0; at < directory.length; ) {
    if (at + centralLength > directory.length) throw damaged(fault);
    if (directory.readUInt32LE(at) !== centralSignature) throw damaged(fault);
    const end =
      at + centralLength + [28, 30, 32].reduce((sum, field) => sum + directory.readUInt16LE(at + field), 0);
    if (end > directory.length) throw damaged(fault);
    found.push(readEntry(directory.subarray(at, end), fault));
    at = end;
  }
  if (found.length !== count) throw damaged(fault);
  return { entries: withNext(found, start, fault), comment };
}

function damaged(fault: XlsxFault): Error {
  return fault('is damaged: its list of parts cannot be read (the end may be missing)');
}

async function readEnd(file: RandomAccess, fault: XlsxFault) {
  const tailLength = Math.min(file.size, endLength + 0xffff);
  const tail = await file.read(file.size - tailLength, tailLength);
  for (let at = tail.length - endLength; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== endSignature) continue;
    if (at + endLength + tail.readUInt16LE(at + 20) !== tail.length) continue;
    const comment = tail.subarray(at + endLength);
    const end = {
      count: tail.readUInt16LE(at + 10),
      length: tail.readUInt32LE(at + 12),
      start: tail.readUInt32LE(at + 16),
      comment,
    };
    if (end.start !== saturated && end.length !== saturated && end.count !== 0xffff) return end;
    return { ...(await readEnd64(file, file.size - tailLength + at, fault)), comment };
  }
  throw fault.incomplete('lacks the list of parts at its end');
}

/** APPNOTE 4.3.14 and 4.3.15. */
async function readEnd64(file: RandomAccess, endStart: number, fault: XlsxFault) {
  const locator = endStart < 20 ? Buffer.alloc(0) : await file.read(endStart - 20, 20);
  if (locator.length < 20 || locator.readUInt32LE(0) !== 0x07064b50) throw damaged(fault);
  const record = await file.read(Number(locator.readBigUInt64LE(8)), 56);
  if (record.length < 56 || record.readUInt32LE(0) !== 0x06064b50) throw damaged(fault);
  return {
    count: Number(record.readBigUInt64LE(32)),
    length: Number(record.readBigUInt64LE(40)),
    start: Number(record.readBigUInt64LE(48)),
  };
}

function readEntry(header: Buffer, fault: XlsxFault): Omit<ZipEntry, 'next'> {
  const central = withoutZip64(header, fault);
  return {
    name: central
      .toString('utf8', centralLength, centralLength + central.readUInt16LE(28))
      .replaceAll('\\', '/')
      .replace(/^\/+/, ''),
    method: central.readUInt16LE(10),
    encrypted: (central.readUInt16LE(8) & 1) !== 0,
    crc: central.readUInt32LE(16),
    compressedSize: central.readUInt32LE(20),
    size: central.readUInt32LE(24),
    start: central.readUInt32LE(42),
    central,
  };
}

/**
 * The header with zip64 numbers moved to their usual fields: some programs use zip64 for small files. The extra field holds, in this
 * order, only the numbers that are missing there (APPNOTE 4.5.3).
 */
function withoutZip64(header: Buffer, fault: XlsxFault): Buffer {
  const moved = [24, 20, 42].filter((place) => header.readUInt32LE(place) === saturated);
  if (moved.length === 0) return header;
  const extraStart = centralLength + header.readUInt16LE(28);
  const extraEnd = extraStart + header.readUInt16LE(30);
  for (let at = extraStart; at + 4 <= extraEnd; at += 4 + header.readUInt16LE(at + 2)) {
    const end = at + 4 + header.readUInt16LE(at + 2);
    if (header.readUInt16LE(at) !== 1 || end > extraEnd) continue;
    if (at + 4 + 8 * moved.length > end) break;
    const plain = Buffer.concat([header.subarray(0, at), header.subarray(end)]);
    plain.writeUInt16LE(extraEnd - extraStart - (end - at), 30);
    for (const [index, place] of moved.entries()) {
      const value = header.readBigUInt64LE(at + 4 + 8 * index);
      if (value >= BigInt(saturated)) throw fault('has a part of more than 4 GB');
      plain.writeUInt32LE(Number(value), place);
    }
    return plain;
  }
  throw damaged(fault);
}

function withNext(found: readonly Omit<ZipEntry, 'next'>[], end: number, fault: XlsxFault): ZipEntry[] {
  const starts = found.map((entry) => entry.start).toSorted((a, b) => a - b);
  const next = new Map(starts.map((start, index) => [start, starts[index + 1] ?? end]));
  const names = new Set<string>();
  return found.map((entry) => {
    const until = next.get(entry.start) ?? end;
    // Overlapping files are how a small zip unpacks to petabytes.
    if (entry.start + localLength + entry.compressedSize > until) throw damaged(fault);
    const key = entry.name.toLowerCase();
    if (names.has(key)) throw fault(`is damaged: it has two parts named ${JSON.stringify(entry.name)}`);
    names.add(key);
    return { ...entry, next: until };
  });
}

const chunkBytes = 64 * 1024;

/** Up to here any ratio is harmless; above, more than 400:1 is a zip bomb. */
const harmlessBytes = 32 * 1024 * 1024;
const mostRatio = 400;

/** Checked against length and checksum. `most`: bytes unpacked. Throws what `fault` makes when it cannot be unpacked completely. */
export async function* inflated(
  file: RandomAccess,
  entry: ZipEntry,
  most: number,
  fault: XlsxFault,
): AsyncGenerator<Buffer> {
  const part = JSON.stringify(entry.name);
  if (entry.encrypted) throw fault('is encrypted', 'Save it without a password.');
  if (entry.method !== 0 && entry.method !== 8) throw fault(`has a part ${part} packed in an unknown way`);
  const bomb = entry.size > harmlessBytes && entry.size > mostRatio * entry.compressedSize;
  if (entry.size > most || bomb) {
    throw fault(`has a part ${part} of ${entry.size} bytes unpacked, more than leadsync reads`);
  }
  const broken = (cause?: unknown) =>
    fault(`is damaged: its part ${part} cannot be unpacked`, undefined, cause);
  const header = await file.read(entry.start, localLength);
  if (header.length < localLength || header.readUInt32LE(0) !== localSignature) throw broken();
  const start = entry.start + localLength + header.readUInt16LE(26) + header.readUInt16LE(28);
  if (start + entry.compressedSize > entry.next) throw broken();

  const packed = copied(file, start, start + entry.compressedSize);
  let size = 0;
  let crc = 0;
  try {
    for await (const chunk of entry.method === 0 ? packed : inflate(packed)) {
      size += chunk.length;
      if (size > entry.size) break;
      crc = crc32(chunk, crc);
      yield chunk;
    }
  } catch (error) {
    throw isZlibFault(error) ? broken(error) : error;
  }
  if (size !== entry.size || crc !== entry.crc) throw broken();
}

/** The bytes from `start` (inclusive) to `end` (exclusive). */
async function* copied(file: RandomAccess, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end; ) {
    const chunk = await file.read(position, Math.min(chunkBytes, end - position));
    if (chunk.length === 0) return;
    position += chunk.length;
    yield chunk;
  }
}

async function* inflate(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  // Errors of both ends also reach the loop.
  const unpacking = pipeline(packed, createInflateRaw({ chunkSize: 2 * chunkBytes }), () => undefined);
  for await (const chunk of unpacking as AsyncIterable<Buffer>) yield chunk;
}

function isZlibFault(error: unknown): boolean {
  return codeOf(error)?.startsWith('Z_') ?? false;
}

/** 1980-01-01 00:00 in MS-DOS form: the earliest zip time. */
const noTime = 0x00210000;
/** The flag of a name in UTF-8. */
const utf8Name = 0x800;

/** For a part that is packed anew, but for checksum, sizes and place: no extra field, no comment, no data descriptor. */
function newCentral(name: Buffer, old?: Buffer): Buffer {
  const header = Buffer.alloc(centralLength);
  header.writeUInt32LE(centralSignature, 0);
  for (const version of [4, 6]) header.writeUInt16LE(20, version);
  header.writeUInt16LE((old?.readUInt16LE(8) ?? 0) & utf8Name, 8);
  header.writeUInt16LE(old?.readUInt16LE(10) ?? 8, 10);
  header.writeUInt32LE(old?.readUInt32LE(12) ?? noTime, 12);
  header.writeUInt16LE(name.length, 28);
  header.writeUInt32LE(old?.readUInt32LE(38) ?? 0, 38);
  return Buffer.concat([header, name]);
}

/** The same, at the start of the part: from "version needed" to "extra field length" both headers are alike. */
function localHeader(central: Buffer): Buffer {
  const signature = Buffer.alloc(4);
  signature.writeUInt32LE(localSignature);
  return Buffer.concat([signature, central.subarray(6, 32), central.subarray(centralLength)]);
}

function endRecord(count: number, start: number, length: number, comment: Buffer): Buffer {
  const end = Buffer.alloc(endLength);
  end.writeUInt32LE(endSignature, 0);
  for (const place of [8, 10]) end.writeUInt16LE(count, place);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(start, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([end, comment]);
}

/** Deflated (8) or stored (0), with its checksum and sizes in the header; keeps only packed bytes in memory. */
async function pack(content: AsyncIterable<Buffer>, central: Buffer): Promise<readonly Buffer[]> {
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
    central.readUInt16LE(10) === 0 ? counted() : pipeline(counted(), createDeflateRaw(), () => undefined);
  for await (const chunk of packing) chunks.push(chunk);
  const packed = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  for (const [at, value] of [crc, packed, size].entries()) central.writeUInt32LE(value, 16 + 4 * at);
  return chunks;
}

export interface NewPart {
  readonly name: string;
  readonly text: string;
}

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
    central: Buffer,
    content: AsyncIterable<Buffer>,
  ): AsyncGenerator<Buffer> {
    const chunks = await pack(content, central);
    central.writeUInt32LE(position, 42);
    centrals.set(part, central);
    for (const chunk of [localHeader(central), ...chunks]) {
      position += chunk.length;
      yield chunk;
    }
  }
  yield* copied(file, 0, position);
  for (const entry of inPlace) {
    const content = contents.get(entry);
    if (content !== undefined) {
      const name = entry.central.subarray(centralLength, centralLength + entry.central.readUInt16LE(28));
      yield* put(entry, newCentral(name, entry.central), content);
      continue;
    }
    const central = Buffer.from(entry.central);
    central.writeUInt32LE(position, 42);
    centrals.set(entry, central);
    yield* copied(file, entry.start, entry.next);
    position += entry.next - entry.start;
  }
  for (const part of added) {
    yield* put(part, newCentral(Buffer.from(part.name)), Readable.from([Buffer.from(part.text)]));
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
