import type { Problem } from '../lib/errors.ts';

/** Where a problem is, as far as its sentence does not say so. `heading`: of its field, or empty. */
export function unsaidPlaces(
  { message, row, leadId }: Problem,
  company: string | null | undefined,
  heading: string,
): readonly string[] {
  const isListed = row !== undefined && new RegExp(`\\brows [\\d, ]*(?<!\\d)${row}(?!\\d)`).test(message);
  // A company is what people know a lead by.
  const places = [
    row === undefined || isListed ? '' : `row ${row}`,
    heading,
    company ? '' : (leadId ?? '') && `lead ${leadId}`,
  ];
  return places.filter((place) => place !== '' && !saysWord(message, place.replace(/^lead /, '')));
}

/** Whole words only: "row 12" does not contain "row 1". */
function saysWord(text: string, word: string): boolean {
  return new RegExp(`(?<![\\w-])${word.replaceAll(/\W/g, String.raw`\$&`)}(?![\\w-])`).test(text);
}
