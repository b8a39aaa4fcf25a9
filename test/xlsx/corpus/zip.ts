import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipStyle {
  /** No compression. */
  readonly stored?: boolean;
  /** Sizes and checksum follow the data, as programs write that stream (APPNOTE 4.3.9). */
  readonly dataDescriptors?: boolean;
  /** Sizes and offsets as 64-bit extra fields although they would fit (APPNOTE 4.5.3). */
  readonly zip64?: boolean;
  /** An extra field of another program, in both headers. */
  readonly extraField?: boolean;
  /** Entries for folders. */
  readonly folders?: boolean;
  /** Bytes after the last record, as its comment. */
  readonly comment?: string;
  readonly backslashes?: boolean;
}

interface Entry {
  readonly name: Buffer;
  readonly content: Buffer;
  readonly data: Buffer;
  readonly method: number;
  readonly offset: number;
}

const max32 = 0xffff_ffff;

/** A zip written from the specification alone (PKWARE APPNOTE 6.3.10), so that it can have any legal shape. */
export function zip(parts: ReadonlyMap<string, Buffer | string>, style: ZipStyle = {}): Buffer {
  const pieces: Buffer[] = [];
  const entries: Entry[] = [];
  let offset = 0;
  const put = (piece: Buffer) => {
    pieces.push(piece);
    offset += piece.length;
  };
  for (const [path, part] of style.folders === true ? withFolders(parts) : parts) {
    const content = Buffer.from(part);
    const method = style.stored === true || path.endsWith('/') ? 0 : 8;
    const data = method === 0 ? content : deflateRawSync(content);
    const name = Buffer.from(style.backslashes === true ? path.replaceAll('/', '\\') : path);
    const entry = { name, content, data, method, offset };
    entries.push(entry);
    put(localHeader(entry, style));
    put(data);
    if (style.dataDescriptors === true) put(dataDescriptor(entry));
  }
  const start = offset;
  for (const entry of entries) put(centralHeader(entry, style));
  put(ending(entries.length, start, offset - start, style));
  return Buffer.concat(pieces);
}

function withFolders(parts: ReadonlyMap<string, Buffer | string>): Map<string, Buffer | string> {
  const all = new Map<string, Buffer | string>();
  for (const [path, part] of parts) {
    const steps = path.split('/');
    for (let n = 1; n < steps.length; n++) all.set(`${steps.slice(0, n).join('/')}/`, '');
    all.set(path, part);
  }
  return all;
}

const u16 = (value: number) => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
};
const u32 = (value: number) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
};
const u64 = (value: number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
};
const dosTime = Buffer.from([0x00, 0x60, 0x75, 0x5b]);

function common({ content, method }: Entry, style: ZipStyle): Buffer {
  const flags = (style.dataDescriptors === true ? 8 : 0) | 0x800;
  return Buffer.concat([
    u16(style.zip64 === true ? 45 : 20),
    u16(flags),
    u16(method),
    dosTime,
    u32(crc32(content)),
  ]);
}

function foreignExtra(style: ZipStyle): Buffer {
  return style.extraField === true
    ? Buffer.concat([u16(0x5455), u16(5), Buffer.from([1, 0, 0, 0, 90])])
    : Buffer.alloc(0);
}

function localHeader(entry: Entry, style: ZipStyle): Buffer {
  const { name, content, data } = entry;
  const late = style.dataDescriptors === true;
  const sizes64 = Buffer.concat([u16(1), u16(16), u64(content.length), u64(data.length)]);
  const extra = Buffer.concat([
    foreignExtra(style),
    style.zip64 === true && !late ? sizes64 : Buffer.alloc(0),
  ]);
  const head = common(entry, style);
  if (late) head.writeUInt32LE(0, 10);
  const size = (length: number) => u32(late ? 0 : style.zip64 === true ? max32 : length);
  return Buffer.concat([
    u32(0x04034b50),
    head,
    size(data.length),
    size(content.length),
    u16(name.length),
    u16(extra.length),
    name,
    extra,
  ]);
}

function dataDescriptor({ content, data }: Entry): Buffer {
  return Buffer.concat([u32(0x08074b50), u32(crc32(content)), u32(data.length), u32(content.length)]);
}

function centralHeader(entry: Entry, style: ZipStyle): Buffer {
  const { name, content, data, offset } = entry;
  const big = style.zip64 === true;
  const sizes64 = Buffer.concat([u16(1), u16(24), u64(content.length), u64(data.length), u64(offset)]);
  const extra = Buffer.concat([foreignExtra(style), big ? sizes64 : Buffer.alloc(0)]);
  return Buffer.concat([
    u32(0x02014b50),
    u16(big ? 45 : 20),
    common(entry, style),
    u32(big ? max32 : data.length),
    u32(big ? max32 : content.length),
    u16(name.length),
    u16(extra.length),
    u16(0),
    u16(0),
    u16(0),
    u32(name.at(-1) === 0x2f ? 0x10 : 0),
    u32(big ? max32 : offset),
    name,
    extra,
  ]);
}

function ending(count: number, start: number, size: number, style: ZipStyle): Buffer {
  const comment = Buffer.from(style.comment ?? '');
  const big = style.zip64 === true;
  const end64 = Buffer.concat([
    u32(0x06064b50),
    u64(44),
    u16(45),
    u16(45),
    u32(0),
    u32(0),
    u64(count),
    u64(count),
    u64(size),
    u64(start),
  ]);
  const locator = Buffer.concat([u32(0x07064b50), u32(0), u64(start + size), u32(1)]);
  const end = Buffer.concat([
    u32(0x06054b50),
    u16(0),
    u16(0),
    u16(big ? 0xffff : count),
    u16(big ? 0xffff : count),
    u32(big ? max32 : size),
    u32(big ? max32 : start),
    u16(comment.length),
    comment,
  ]);
  return Buffer.concat(big ? [end64, locator, end] : [end]);
}
