import { pipeline } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import { centralHeader, endRecord, localHeader } from './zip-format.ts';

export interface Packed {
  readonly chunks: readonly Buffer[];
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
}

/** 1980-01-01 00:00 in MS-DOS form: the earliest a zip can tell. */
export const noTime = 0x00210000;

/** Packs a content: deflated (8), or as it is (0). Only the packed bytes are kept in memory. */
export async function pack(content: AsyncIterable<Buffer>, method: number): Promise<Packed> {
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
