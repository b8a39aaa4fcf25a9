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

export function localHeader(entry: EntryFields): Buffer {
  const header = Buffer.alloc(localLength);
  header.writeUInt32LE(localSignature, 0);
  writeCommon(header, 4, entry);
  return Buffer.concat([header, entry.name]);
}

export function centralHeader(entry: EntryFields, start: number, externalAttributes: number): Buffer {
  const header = Buffer.alloc(centralLength);
  header.writeUInt32LE(centralSignature, 0);
  header.writeUInt16LE(20, 4);
  writeCommon(header, 6, entry);
  header.writeUInt32LE(externalAttributes, 38);
  header.writeUInt32LE(start, 42);
  return Buffer.concat([header, entry.name]);
}

export function endRecord(count: number, start: number, length: number, comment: Buffer): Buffer {
  const end = Buffer.alloc(endLength);
  end.writeUInt32LE(endSignature, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(length, 12);
  end.writeUInt32LE(start, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([end, comment]);
}

/** From "version needed" to "extra field length": the same in both headers. No extra field, no data descriptor. */
function writeCommon(header: Buffer, at: number, entry: EntryFields): void {
  header.writeUInt16LE(20, at);
  header.writeUInt16LE(entry.utf8 ? 0x800 : 0, at + 2);
  header.writeUInt16LE(entry.method, at + 4);
  header.writeUInt32LE(entry.time, at + 6);
  header.writeUInt32LE(entry.crc, at + 10);
  header.writeUInt32LE(entry.compressedSize, at + 14);
  header.writeUInt32LE(entry.size, at + 18);
  header.writeUInt16LE(entry.name.length, at + 22);
}
