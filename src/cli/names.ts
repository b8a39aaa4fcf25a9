import { userInfo } from 'node:os';
import { type Author, authorWords } from '../core/lead/author.ts';
import type { Conflict } from '../store/conflicts.ts';
import { visibleText } from '../lib/foreign-text.ts';

export type Companies = ReadonlyMap<string, string>;

const longestName = 60;

/** A company name for a line; null: unknown. */
export function shownCompany(company: string | null | undefined): string | null {
  return company === null || company === undefined ? null : visibleText(company, longestName) || null;
}

/** The parts of a line that identify a record, as people look for it: company first, id last. */
export function nameRecord(
  company: string | null | undefined,
  ...places: readonly (string | null)[]
): string {
  return [shownCompany(company), ...places].filter((part) => part !== null && part !== '').join(', ');
}

export function rowName(row: number | null | undefined): string | null {
  return row === null || row === undefined ? null : `row ${row}`;
}

/** The value that stands against the lead's, with whose it is; `shown`: the value as people see it. */
export function otherValue({ requestedBy }: Pick<Conflict, 'requestedBy'>, shown: string): string {
  return requestedBy === null ? `row ${shown}` : `requested ${shown} by ${requestedBy}`;
}

/** When something happened, to the second; `shownDates` brings it to people's clocks. */
export const toSecond = (iso: string): string => `${iso.slice(0, 19)}Z`;

/** Who changed the row's value, and when; empty: unknown. */
export function describeAuthor(author: Author | null): string {
  if (author === null) return '';
  return `row: ${authorWords(author)}${author.at === null ? '' : ` on ${toSecond(author.at)}`}`;
}

/** A user without a name, as in some containers, has a number. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? ''}`.trim();
  }
}

export function beforeWords(offsetText: string): string {
  return offsetText === '0m' ? 'when it is due' : `${offsetText} before`;
}

export function short(text: string, length = 60): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}
