/** A cell as written (RFC 4180, section 2); quoted when a program might split it, at this separator or at another one, or `always`. */
export function csvCell(text: string, delimiter: string, always: boolean): string {
  const quoted = always || text.includes(delimiter) || /[",;|\t\r\n]/.test(text);
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Longest text that we write: well below what records.ts reads as one row. */
export const longestCsvText = 1_000_000;
