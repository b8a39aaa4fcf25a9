import type { XlsxFault } from './fault.ts';
import type { RandomAccess, ZipDirectory, ZipEntry } from './zip-directory.ts';
import { centralHeader, centralLength, endRecord, localHeader, saturated } from './zip-format.ts';
import { noTime, once, pack, type Packed } from './zip-pack.ts';

const chunkBytes = 256 * 1024;

/** New content of a file in a zip. `at` receives the position of its packed bytes. */
export type NewContent = () => Promise<Packed & { readonly at?: (start: number) => void }>;

/**
 * A zip with some files replaced and others appended. All else is copied as it is, packed bytes included; order, names
 * and packing methods stay.
 */
export async function* rewrittenZip(
  file: RandomAccess,
  directory: ZipDirectory,
  contents: ReadonlyMap<ZipEntry, NewContent>,
  fault: XlsxFault,
  added: readonly { readonly name: string; readonly text: string }[] = [],
): AsyncGenerator<Buffer> {
  const inPlace = directory.entries.toSorted((a, b) => a.start - b.start);
  const centrals = new Map<ZipEntry, Buffer>();
  let position = 0;
  for (const entry of inPlace) {
    if (position === 0 && entry.start > 0) {
      yield* copied(file, 0, entry.start);
      position = entry.start;
    }
    const content = contents.get(entry);
    if (content === undefined) {
      const central = Buffer.from(entry.central);
      central.writeUInt32LE(position, 42);
      centrals.set(entry, central);
      yield* copied(file, entry.start, entry.next);
      position += entry.next - entry.start;
      continue;
    }
    const packed = await content();
    const fields = { ...packed, ...namedAs(entry), method: entry.method };
    centrals.set(entry, centralHeader(fields, position, entry.central.readUInt32LE(38)));
    const header = localHeader(fields);
    packed.at?.(position + header.length);
    yield header;
    yield* packed.chunks;
    position += header.length + packed.compressedSize;
  }
  const more: Buffer[] = [];
  for (const { name, text } of added) {
    const packed = await pack(once(Buffer.from(text)), 8);
    const fields = { ...packed, name: Buffer.from(name), utf8: false, method: 8, time: noTime };
    more.push(centralHeader(fields, position, 0));
    const header = localHeader(fields);
    yield header;
    yield* packed.chunks;
    position += header.length + packed.compressedSize;
  }
  if (position >= saturated) throw fault('would be larger than 4 GB');
  const kept = directory.entries.map((entry) => centrals.get(entry) ?? entry.central);
  const list = Buffer.concat([...kept, ...more]);
  yield list;
  yield endRecord(directory.entries.length + added.length, position, list.length, directory.comment);
}

function namedAs({ central }: ZipEntry) {
  return {
    name: central.subarray(centralLength, centralLength + central.readUInt16LE(28)),
    utf8: (central.readUInt16LE(8) & 0x800) !== 0,
    time: central.readUInt32LE(12),
  };
}

/** `start` inclusive, `end` exclusive. */
export async function* copied(file: RandomAccess, start: number, end: number): AsyncGenerator<Buffer> {
  for (let position = start; position < end; ) {
    const chunk = await file.read(position, Math.min(chunkBytes, end - position));
    if (chunk.length === 0) return;
    position += chunk.length;
    yield chunk;
  }
}
