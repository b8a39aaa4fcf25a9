const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * An untrusted text as one line of at most `length` UTF-16 units, plus "…". Control characters and line ends, which would end a header, become
 * spaces; bidirectional marks are removed. Never splits emoji or combined characters.
 */
export function oneLine(text: string, length: number): string {
  const line = text
    .slice(0, length * 4)
    .toWellFormed()
    .replaceAll(/\p{Bidi_Control}/gu, '')
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  if (line.length <= length) return line;
  let end = 0;
  for (const { index, segment } of graphemes.segment(line.slice(0, length + 64))) {
    if (index + segment.length > length) break;
    end = index + segment.length;
  }
  // A letter with more marks than fit cannot be cut well.
  return `${line
    .slice(0, end === 0 ? length : end)
    .toWellFormed()
    .trimEnd()}…`;
}

/** For HTML or XML, also in an attribute. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
