import { createHash } from 'node:crypto';
import { crc32, inflateRawSync } from 'node:zlib';

/** Uncompressed parts of a package by name, in the order of its central directory. */
export type Parts = ReadonlyMap<string, Buffer>;

const max32 = 0xffff_ffff;

/**
 * Reads a zip by its central directory and checks what a strict reader would: signatures, sizes, checksums, no name
 * twice. Written from the specification (PKWARE APPNOTE 6.3.10) and sharing nothing with the program. Throws on any fault.
 */
export function readParts(file: Buffer): Parts {
  const parts = new Map<string, Buffer>();
  const { count, start } = findDirectory(file);
  let at = start;
  for (let n = 0; n < count; n++) {
    expectSignature(file, at, 0x02014b50);
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) =>
      file.readUInt16LE(at + field),
    ) as [number, number, number];
    const name = file.toString('utf8', at + 46, at + 46 + nameLength);
    const extra = file.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength);
    const wide = wideSizes(extra);
    const real = (field: number) => {
      const value = file.readUInt32LE(at + field);
      return value === max32 ? (wide.shift() ?? value) : value;
    };
    const size = real(24);
    const compressed = real(20);
    const offset = real(42);
    if (parts.has(name)) throw new Error(`${name} is there twice`);
    expectSignature(file, offset, 0x04034b50);
    const localName = file.toString('utf8', offset + 30, offset + 30 + file.readUInt16LE(offset + 26));
    if (localName !== name) throw new Error(`${name} is called ${localName} in its local header`);
    const from = offset + 30 + file.readUInt16LE(offset + 26) + file.readUInt16LE(offset + 28);
    const data = file.subarray(from, from + compressed);
    const content = file.readUInt16LE(at + 10) === 0 ? Buffer.from(data) : inflateRawSync(data);
    if (content.length !== size) throw new Error(`${name} has ${content.length} bytes instead of ${size}`);
    if (crc32(content) !== file.readUInt32LE(at + 16)) throw new Error(`${name} has a wrong checksum`);
    if (!/[/\\]$/.test(name)) parts.set(name, content);
    at += 46 + nameLength + extraLength + commentLength;
  }
  return parts;
}

function findDirectory(file: Buffer): { count: number; start: number } {
  const end = file.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  if (end < 0) throw new Error('not a zip: it has no end record');
  if (end + 22 + file.readUInt16LE(end + 20) !== file.length) throw new Error('bytes follow the end record');
  const count = file.readUInt16LE(end + 10);
  const start = file.readUInt32LE(end + 16);
  if (count !== 0xffff && start !== max32) return { count, start };
  expectSignature(file, end - 20, 0x07064b50);
  const end64 = Number(file.readBigUInt64LE(end - 12));
  expectSignature(file, end64, 0x06064b50);
  return { count: Number(file.readBigUInt64LE(end64 + 32)), start: Number(file.readBigUInt64LE(end64 + 48)) };
}

function wideSizes(extra: Buffer): number[] {
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue;
    const fields = extra.subarray(at + 4, at + 4 + extra.readUInt16LE(at + 2));
    return Array.from({ length: fields.length / 8 }, (_, n) => Number(fields.readBigUInt64LE(n * 8)));
  }
  return [];
}

function expectSignature(file: Buffer, at: number, signature: number): void {
  if (file.readUInt32LE(at) !== signature)
    throw new Error(`no zip record ${signature.toString(16)} at ${at}`);
}

/** sha256 of each uncompressed part. */
export function sha256OfParts(parts: Parts): Map<string, string> {
  return new Map([...parts].map(([name, part]) => [name, createHash('sha256').update(part).digest('hex')]));
}

export interface PartsDifference {
  readonly added: readonly string[];
  readonly missing: readonly string[];
  readonly changed: readonly string[];
  readonly reordered: boolean;
}

/** In what two packages differ, by checksum. */
export function compareParts(before: Parts, after: Parts): PartsDifference {
  const [left, right] = [sha256OfParts(before), sha256OfParts(after)];
  return {
    added: [...right.keys()].filter((name) => !left.has(name)),
    missing: [...left.keys()].filter((name) => !right.has(name)),
    changed: [...left]
      .filter(([name, sum]) => right.has(name) && right.get(name) !== sum)
      .map(([name]) => name),
    reordered:
      [...left.keys()].filter((name) => right.has(name)).join() !==
      [...right.keys()].filter((name) => left.has(name)).join(),
  };
}
