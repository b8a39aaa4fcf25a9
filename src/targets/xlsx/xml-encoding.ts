import { TextDecoder } from 'node:util';

/**
 * An XML part in UTF-8: UTF-16 is converted, with its declaration; anything else passes. XML readers need no third
 * encoding (XML 1.0, 4.3.3).
 */
export async function* inUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | null | undefined;
  let start = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (decoder === null) {
      yield chunk;
      continue;
    }
    if (decoder !== undefined) {
      yield Buffer.from(decoder.decode(chunk, { stream: true }));
      continue;
    }
    start = Buffer.concat([start, chunk]);
    if (start.length < 256) continue;
    decoder = decoderFor(start);
    yield first(decoder, start);
  }
  if (decoder === undefined) yield first(decoderFor(start), start);
}

function decoderFor(start: Buffer): TextDecoder | null {
  const mark = start.toString('latin1', 0, 2);
  if (mark === '\xff\xfe' || mark === '<\0') return new TextDecoder('utf-16le');
  return mark === '\xfe\xff' || mark === '\0<' ? new TextDecoder('utf-16be') : null;
}

function first(decoder: TextDecoder | null, start: Buffer): Buffer {
  if (decoder === null) return start;
  const text = decoder.decode(start, { stream: true });
  return Buffer.from(text.replace(/^(<\?xml[^>]*?encoding\s*=\s*["'])utf-?16[^"']*/i, '$1UTF-8'));
}
