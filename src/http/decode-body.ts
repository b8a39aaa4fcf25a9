import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

const decoders: Readonly<Record<string, typeof gunzip.__promisify__>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * The text of a body: UTF-8, decompressed if the service compressed it unasked, at most `maxBytes` long. What cannot be
 * read becomes a short remark in brackets, which is not JSON: undecoded bytes must reach neither a sheet nor a message.
 */
export async function decodeBody(
  body: Buffer,
  encoding: string | readonly string[] | undefined,
  maxBytes: number,
): Promise<string> {
  const name = String(encoding ?? 'identity')
    .trim()
    .toLowerCase();
  if (body.length === 0) return '';
  const unpack = decoders[name];
  if (unpack === undefined && name !== 'identity' && name !== '') return `(compressed as ${name}, unasked)`;
  let plain: Buffer;
  try {
    plain = unpack === undefined ? body : await unpack(body, { maxOutputLength: maxBytes });
  } catch {
    return `(compressed as ${name}, broken, or more than ${maxBytes} bytes)`;
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(plain);
  } catch {
    return '(not UTF-8 text)';
  }
}
