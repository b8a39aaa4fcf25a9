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
const longestText = 1_000_000;

/** Why a CSV file cannot hold a text and give it back unchanged, as a sentence; null when it can. */
export function notStorableInCsv(text: string): string | null {
  if (text.includes('\0'))
    return 'The text contains a NUL character, which spreadsheet programs cannot read.';
  if (!text.isWellFormed())
    return 'The text contains half a character (a lone surrogate), which UTF-8 cannot hold.';
  if (text.length > longestText)
    return `The text has ${text.length} characters; the maximum is ${longestText}.`;
  return null;
}
