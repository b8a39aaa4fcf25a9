/**
 * Keeps spreadsheet programs from running a text as a formula: puts one `'` in front of what starts like one (OWASP,
 * "CSV Injection"), even after existing `'`, so that `unguarded` restores the text.
 */
export function guarded(text: string): string {
  return /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** Undoes `guarded`: removes exactly one `'`. Formulas that a person typed without it (`=x`, `-5`) stay. */
export function unguarded(text: string): string {
  return /^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text;
}

/** A cell as written (RFC 4180, section 2); quoted when necessary, or `always`. */
export function csvCell(text: string, delimiter: string, always: boolean): string {
  const quoted = always || text.includes(delimiter) || /["\r\n]/.test(text);
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Longest text that we write: well below what records.ts reads as one row. */
export const longestCsvText = 1_000_000;
