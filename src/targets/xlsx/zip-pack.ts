import { pipeline } from 'node:stream';
import { constants, crc32, createDeflateRaw } from 'node:zlib';

export interface Packed {
  readonly chunks: readonly Buffer[];
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
}

/** Deflated (8) or stored (0); keeps only packed bytes in memory. `goesOn`: another piece follows (`joined`). */
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

/** A piece that ends on a byte boundary without the end mark can be continued (RFC 1951, 3.2.3 and 3.2.4). */
const ending = (goesOn: boolean) => ({ finishFlush: goesOn ? constants.Z_SYNC_FLUSH : constants.Z_FINISH });

/** Separately packed pieces as one content. */
export function joined(pieces: readonly Packed[]): Packed {
  return {
    chunks: pieces.flatMap(({ chunks }) => chunks),
    crc: pieces.reduce((crc, piece) => crcOfBoth(crc, piece), 0),
    size: pieces.reduce((sum, { size }) => sum + size, 0),
    compressedSize: pieces.reduce((sum, { compressedSize }) => sum + compressedSize, 0),
  };
}

const zeros = Buffer.alloc(256 * 1024);

/** The CRC of two contents in a row. CRCs are linear: the first adds what it would add to as many zeros. */
function crcOfBoth(first: number, { crc, size }: Packed): number {
  let [moved, plain] = [first, 0];
  for (let left = size; left > 0; left -= zeros.length) {
    const some = zeros.subarray(0, Math.min(left, zeros.length));
    [moved, plain] = [crc32(some, moved), crc32(some, plain)];
  }
  return (moved ^ plain ^ crc) >>> 0;
}

export async function* once(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}
