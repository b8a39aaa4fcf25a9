import { pipeline } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import { codeOf } from '../../lib/errors.ts';
import type { XlsxFault } from './fault.ts';
import type { RandomAccess, ZipEntry } from './zip-directory.ts';
import { localLength, localSignature } from './zip-format.ts';

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
export async function* copied(file: RandomAccess, start: number, end: number): AsyncGenerator<Buffer> {
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
