/** One line of at most `length` characters of a text from outside: no control characters, white space made single. */
export function visibleText(text: string, length: number): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > length ? `${line.slice(0, length).toWellFormed()}…` : line;
}
