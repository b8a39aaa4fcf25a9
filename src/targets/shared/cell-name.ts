/** `A` for 0, `AA` for 26. */
export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last;
}

/** `C5` for row 4 and column 2 (0-based), as people name it. */
export function cellName(row: number, column: number): string {
  return `${columnLetters(column)}${row + 1}`;
}

export function generalNumber(number: number): string {
  const text = String(Number(number.toPrecision(15)));
  return text.replace(
    /e([+-])(\d+)$/,
    (_, sign: string, digits: string) => `E${sign}${digits.padStart(2, '0')}`,
  );
}

/** Whether a text is what a spreadsheet shows for that number. */
export const isGeneralNumber = (text: string): boolean =>
  /^-?\d/.test(text) && generalNumber(Number(text)) === text;
