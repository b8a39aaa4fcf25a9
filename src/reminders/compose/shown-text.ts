const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * A text from outside as one line for a mail, at most `length` UTF-16 units and then "…". Control characters and line
 * ends become spaces: they would end a header. Marks that turn the direction of writing are taken out: they would turn
 * the rest of the line, too. Emoji and letters with marks are never cut in the middle.
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
  // A single letter under more marks than the whole line may be long has no good place to be cut.
  return `${line
    .slice(0, end === 0 ? length : end)
    .toWellFormed()
    .trimEnd()}…`;
}

/** A text as it stands in HTML. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
