import { type Author, authorWords } from '../core/lead/author.ts';

/** UTC, to the second. */
export function inUtc(iso: string): string {
  return `${iso.slice(0, 19).replace('T', ' ')} UTC`;
}

/** Who changed the row's value, and when; empty: unknown. */
export function describeAuthor(author: Author | null): string {
  if (author === null) return '';
  return `row: ${authorWords(author)}${author.at === null ? '' : ` on ${inUtc(author.at)}`}`;
}
