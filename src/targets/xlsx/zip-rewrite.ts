import type { XlsxFault } from './fault.ts';
import type { RandomAccess, ZipDirectory, ZipEntry } from './zip-directory.ts';
import { centralHeader, centralLength, endRecord, localHeader, saturated } from './zip-format.ts';
import { copied } from './zip-inflate.ts';
import { once, pack, type Packed } from './zip-pack.ts';

/** New content of a file in a zip. `at` receives the position of its packed bytes. */
export type NewContent = () => Promise<Packed & { readonly at?: (start: number) => void }>;

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
  contents: ReadonlyMap<ZipEntry, NewContent>,
  added: readonly NewPart[],
  fault: XlsxFault,
): AsyncGenerator<Buffer> {
  const inPlace = entries.toSorted((a, b) => a.start - b.start);
  const centrals = new Map<ZipEntry | NewPart, Buffer>();
  let position = inPlace[0]?.start ?? 0;
  async function* put(
    part: ZipEntry | NewPart,
    named: ReturnType<typeof namedAs>,
    { at, ...packed }: Awaited<ReturnType<NewContent>>,
  ): AsyncGenerator<Buffer> {
    const header = localHeader({ ...named, ...packed });
    centrals.set(part, centralHeader({ ...named, ...packed }, position, named.attributes));
    at?.(position + header.length);
    yield header;
    yield* packed.chunks;
    position += header.length + packed.compressedSize;
  }
  yield* copied(file, 0, position);
  for (const entry of inPlace) {
    const content = contents.get(entry);
    if (content !== undefined) {
      yield* put(entry, namedAs(entry), await content());
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
    yield* put(part, named, await pack(once(Buffer.from(part.text)), 8));
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
