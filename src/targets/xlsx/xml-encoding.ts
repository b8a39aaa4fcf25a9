import { TextDecoder } from 'node:util';

/**
 * An XML part in UTF-8: UTF-16 is converted, with its declaration; anything else passes. XML readers need no third
 * encoding (XML 1.0, 4.3.3). The first chunk must hold the declaration.
 */
export async function* inUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let decoder: TextDecoder | null | undefined;
  for await (const chunk of chunks) {
    const isFirst = decoder === undefined;
    decoder ??= decoderFor(chunk);
    const text = decoder?.decode(chunk, { stream: true });
    if (text === undefined) yield chunk;
    else yield Buffer.from(isFirst ? text.replace(utf16Declared, '$1UTF-8') : text);
  }
}

const utf16Declared = /^(<\?xml[^>]*?encoding\s*=\s*["'])utf-?16[^"']*/i;

/** Null: not in UTF-16. */
function decoderFor(start: Buffer): TextDecoder | null {
  const mark = start.toString('latin1', 0, 2);
  if (mark === '\xff\xfe' || mark === '<\0') return new TextDecoder('utf-16le');
  return mark === '\xfe\xff' || mark === '\0<' ? new TextDecoder('utf-16be') : null;
}
