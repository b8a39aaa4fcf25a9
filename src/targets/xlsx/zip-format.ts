/** Sizes and signatures of the zip format (PKWARE APPNOTE 6.3, sections 4.3.7, 4.3.12, 4.3.16). */
export const localSignature = 0x04034b50;
export const localLength = 30;
export const centralSignature = 0x02014b50;
export const centralLength = 46;
export const endSignature = 0x06054b50;
export const endLength = 22;

/** A 32-bit field with this value is in a zip64 extra field instead (4.5.3). */
export const saturated = 0xffffffff;

export interface EntryFields {
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

export function localHeader(entry: EntryFields): Buffer {
  return Buffer.concat([fields([4, localSignature]), common(entry), entry.name]);
}

export function centralHeader(entry: EntryFields, start: number, externalAttributes: number): Buffer {
  const end = fields([2, 0], [2, 0], [2, 0], [4, externalAttributes], [4, start]);
  return Buffer.concat([fields([4, centralSignature], [2, 20]), common(entry), end, entry.name]);
}

export function endRecord(count: number, start: number, length: number, comment: Buffer): Buffer {
  const list = fields([2, count], [2, count], [4, length], [4, start]);
  return Buffer.concat([fields([4, endSignature], [4, 0]), list, fields([2, comment.length]), comment]);
}
