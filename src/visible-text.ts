/**
 * One line of at most `length` characters (and "…") from the beginning of a text from outside: no control characters,
 * white space made single. Of a text that is mostly white space less may be left.
 */
export function visibleText(text: string, length: number): string {
  const line = text
    .slice(0, length * 4)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const cut = line.length > length || text.length > length * 4;
  return cut ? `${line.slice(0, length).toWellFormed()}…` : line;
}
