/**
 * The text of a cell so that no spreadsheet program runs it as a formula: one `'` in front of what starts like one
 * (OWASP, "CSV Injection"), also when `'` stand before that already, so that `unguarded` gives the same text back.
 */
export function guarded(text: string): string {
  return /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

/** Undoes `guarded`: takes away exactly one `'`. What a person typed without it (`=x`, `-5`) stays. */
export function unguarded(text: string): string {
  return /^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text;
}

/** A cell as it stands in the file (RFC 4180, section 2); in quotes when it must be, or when `always`. */
export function csvCell(text: string, delimiter: string, always: boolean): string {
  const quoted = always || text.includes(delimiter) || /["\r\n]/.test(text);
  return quoted ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Longest text that we write: well under what csv-records.ts reads as one row. */
const longestText = 1_000_000;

/** Why a text cannot be kept in a CSV file and read back the same, as a sentence; null when it can. */
export function notStorableInCsv(text: string): string | null {
  if (text.includes('\0')) return 'The text contains a NUL character, which no spreadsheet program reads.';
  if (!text.isWellFormed())
    return 'The text contains half of a character (a lone surrogate), which UTF-8 cannot hold.';
  if (text.length > longestText)
    return `The text has ${text.length} characters; at most ${longestText} are written.`;
  return null;
}
