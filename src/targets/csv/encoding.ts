import { isAscii, isUtf8 } from 'node:buffer';
import { incompleteFile } from '../file/file-fault.ts';
import type { SourceFile } from '../file/source-file.ts';

export type CsvEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Windows-1252 in place of the C1 controls; blanks: unassigned. Otherwise as Unicode. */
const c1 = '€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ';
const byCharacter = new Map(
  Array.from(c1).flatMap((char, at) => (char === ' ' ? [] : [[char, 0x80 + at] as const])),
);
const unassigned = /[\0\x81\x8d\x8f\x90\x9d]/;
const utf8Sequence = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/;

/** UTF-16 by its mark; Windows-1252 when not UTF-8 and all bytes are of it; else UTF-8, whose reader reports the bad line. Reads it all. */
export async function csvEncodingOf(file: SourceFile, signal: AbortSignal): Promise<CsvEncoding> {
  const [first = 0, second = 0] = await file.head(2);
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  let rest: Buffer = Buffer.alloc(0);
  let isValid = true;
  let has1252 = true;
  for await (const chunk of file.chunks(signal)) {
    if (rest.length === 0 && isAscii(chunk) && !chunk.includes(0)) continue;
    const bytes = Buffer.concat([rest, chunk]);
    const whole = bytes.length - cutLength(bytes);
    rest = bytes.subarray(whole);
    const text = bytes.subarray(0, whole);
    isValid &&= isUtf8(text);
    const latin1 = text.toString('latin1');
    // A mix of UTF-8 and other bytes: as Windows-1252, the UTF-8 part would be garbled.
    has1252 &&= !unassigned.test(latin1) && !utf8Sequence.test(latin1);
    if (!has1252) return 'utf-8';
  }
  return isValid ? 'utf-8' : 'windows-1252';
}

/** The file transcoded to UTF-8, for readers that use byte positions. */
export function decodedFile(file: SourceFile, encoding: CsvEncoding, name: string): SourceFile {
  if (encoding === 'utf-8') return file;
  const decode = (): ((chunk: Buffer | null) => Buffer) => {
    if (encoding === 'windows-1252') return (chunk) => from1252(chunk ?? Buffer.alloc(0));
    const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
    return (chunk) => {
      try {
        return Buffer.from(chunk === null ? decoder.decode() : decoder.decode(chunk, { stream: true }));
      } catch (error) {
        if (chunk !== null) throw error;
        throw incompleteFile(`${name} ends in the middle of a character`, error);
      }
    };
  };
  return {
    ...file,
    // A character takes at most twice as many bytes in UTF-16.
    head: async (length) => decode()(await file.head(2 * length)).subarray(0, length),
    async *chunks(signal) {
      const next = decode();
      for await (const chunk of file.chunks(signal)) yield next(chunk);
      yield next(null);
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

export async function* encodedChunks(
  chunks: AsyncIterable<Buffer>,
  encoding: CsvEncoding,
): AsyncGenerator<Buffer> {
  if (encoding === 'utf-8') {
    yield* chunks;
    return;
  }
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const chunk of chunks) yield encode(decoder.decode(chunk, { stream: true }), encoding);
  yield encode(decoder.decode(), encoding);
}

export function notInEncoding(text: string, encoding: CsvEncoding): string | null {
  if (encoding !== 'windows-1252') return null;
  const foreign = Array.from(text.normalize('NFC')).find((char) => byteOf(char) === null);
  if (foreign === undefined) return null;
  return `The file is in Windows-1252, which has no ${JSON.stringify(foreign)}: save it as "CSV UTF-8".`;
}

function encode(text: string, encoding: CsvEncoding): Buffer {
  if (encoding === 'windows-1252')
    return Buffer.from(Array.from(text.normalize('NFC'), (char) => byteOf(char) ?? 0x3f));
  const bytes = Buffer.from(text, 'utf16le');
  return encoding === 'utf-16be' ? bytes.swap16() : bytes;
}

function byteOf(char: string): number | null {
  const code = char.codePointAt(0) ?? 0;
  const isSame = code < 0x80 || (code >= 0xa0 && code <= 0xff);
  return isSame ? code : (byCharacter.get(char) ?? null);
}

function from1252(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  return Buffer.from(text.replaceAll(/[\x80-\x9f]/g, (char) => c1[char.charCodeAt(0) - 0x80] ?? char));
}

/** How many bytes at the end begin an incomplete UTF-8 character. */
export function cutLength(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}
