/** What two headings share when they name the same column: case, blanks around and the form of umlauts do not matter. */
export function headingKey(heading: string): string {
  return heading.normalize('NFC').trim().toLowerCase();
}
