/** `A` for 0, `AA` for 26. */
export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last;
}

/** `C5` for row 4 and column 2 (0-based), as people name it. */
export function cellName(row: number, column: number): string {
  return `${columnLetters(column)}${row + 1}`;
}
