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

/** The value at a path of keys in parsed JSON; undefined: there is none. */
export function valueAt(json: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    return Reflect.get(value, key);
  }, json);
}

/** A text without percent-encoding; null when a `%` begins no character. */
export function decoded(written: string): string | null {
  try {
    return decodeURIComponent(written);
  } catch {
    return null;
  }
}
