/** Whether a text may be one that `guarded` changes: most are not. */
const mayStart = /^["']*[=+\-@＝＋－＠\t\r\n]|[,;|\t\r\n]/;

/**
 * Keeps spreadsheet programs from running a part of a text as a formula (OWASP, "CSV Injection"): puts one `'` in front of what
 * starts like one, also after a sign at which a program set to another country would split the cell, with or without quotation
 * marks, and after existing `'`, so that `unguarded` restores the text.
 */
export function guarded(text: string): string {
  if (!mayStart.test(text)) return text;
  return text.replaceAll(
    /(?:^(?=["']*[=+\-@＝＋－＠\t\r\n])|(?<=[,;|\t\r\n])(?=["']*[=+\-@＝＋－＠]))/g,
    "'",
  );
}

/** Undoes `guarded`: removes exactly one `'` in each place. Formulas that a person typed without it (`=x`, `-5`) stay. */
export function unguarded(text: string): string {
  if (!text.includes("'")) return text;
  return text.replaceAll(
    /(?:^'(?=["']*[=+\-@＝＋－＠\t\r\n])|(?<=[,;|\t\r\n])'(?=["']*[=+\-@＝＋－＠]))/g,
    '',
  );
}
