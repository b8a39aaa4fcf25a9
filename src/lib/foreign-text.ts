/**
 * The beginning of a text from outside as one line of at most `length` characters (and "…"): without control characters, with
 * single spaces. A text that is mostly white space may be cut earlier.
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

/** Undefined: not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
