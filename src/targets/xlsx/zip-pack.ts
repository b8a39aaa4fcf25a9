import { pipeline } from 'node:stream';
import { constants, crc32, createDeflateRaw } from 'node:zlib';
import { centralHeader, endRecord, localHeader } from './zip-format.ts';

export interface Packed {
  readonly chunks: readonly Buffer[];
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
}

/** 1980-01-01 00:00 in MS-DOS form: the earliest a zip can tell. */
export const noTime = 0x00210000;

/**
 * Packs a content: deflated (8), or as it is (0). Only the packed bytes are kept in memory. `goesOn`: it is not the last
 * piece of what is packed (`joined`).
 */
export async function pack(content: AsyncIterable<Buffer>, method: number, goesOn = false): Promise<Packed> {
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
    method === 0 ? counted() : pipeline(counted(), createDeflateRaw(ending(goesOn)), () => undefined);
  for await (const chunk of packing) chunks.push(chunk);
  return { chunks, crc, size, compressedSize: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
}

/** A piece that ends with a whole byte and without the mark of the end can be followed by another (RFC 1951, 3.2.3 and 3.2.4). */
const ending = (goesOn: boolean) => ({ finishFlush: goesOn ? constants.Z_SYNC_FLUSH : constants.Z_FINISH });

/** Pieces of one content, each packed by itself, in their order. */
export function joined(pieces: readonly Packed[]): Packed {
  return {
    chunks: pieces.flatMap(({ chunks }) => chunks),
    crc: pieces.reduce((crc, piece) => crcOfBoth(crc, piece), 0),
    size: pieces.reduce((sum, { size }) => sum + size, 0),
    compressedSize: pieces.reduce((sum, { compressedSize }) => sum + compressedSize, 0),
  };
}

const zeros = Buffer.alloc(256 * 1024);

/** The checksum of a content and one that follows it. A checksum is linear: what the first adds to it is what it adds to as many zeros. */
function crcOfBoth(first: number, { crc, size }: Packed): number {
  let [moved, plain] = [first, 0];
  for (let left = size; left > 0; left -= zeros.length) {
    const some = zeros.subarray(0, Math.min(left, zeros.length));
    [moved, plain] = [crc32(some, moved), crc32(some, plain)];
  }
  return (moved ^ plain ^ crc) >>> 0;
}

/** A new zip of these files, all deflated; always the same bytes for the same files. */
export async function* newZip(
  files: readonly { readonly name: string; readonly text: string }[],
): AsyncGenerator<Buffer> {
  const centrals: Buffer[] = [];
  let position = 0;
  for (const { name, text } of files) {
    const packed = await pack(once(Buffer.from(text)), 8);
    const fields = { ...packed, name: Buffer.from(name), utf8: false, method: 8, time: noTime };
    centrals.push(centralHeader(fields, position, 0));
    const header = localHeader(fields);
    yield header;
    yield* packed.chunks;
    position += header.length + packed.compressedSize;
  }
  const list = Buffer.concat(centrals);
  yield list;
  yield endRecord(files.length, position, list.length, Buffer.alloc(0));
}

/** A content in one piece. */
export async function* once(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}
