import type pg from 'pg';
import { plainCell } from '../core/lead/value.ts';
import { companiesOf } from '../store/companies.ts';
import type { Held } from '../store/held.ts';
import { visibleText } from '../visible-text.ts';

/** What the companies of leads are called, by their ids. */
export type Companies = ReadonlyMap<string, string>;

/** Characters of a company's name that a line repeats. */
const longestName = 60;

/** A company's name as it stands in a line for people; null: it is not known. */
export function shownCompany(company: string | null | undefined): string | null {
  return company === null || company === undefined ? null : visibleText(company, longestName) || null;
}

/** The parts of a line that tell which record it is about, as people look for it: its company first, its id last. */
export function nameRecord(
  company: string | null | undefined,
  ...places: readonly (string | null)[]
): string {
  return [shownCompany(company), ...places].filter((part) => part !== null && part !== '').join(', ');
}

/** `row 12`; null: it has none. */
export function rowName(row: number | null | undefined): string | null {
  return row === null || row === undefined ? null : `row ${row}`;
}

/** What the company of a held item is called; while that is what is held, the lead's name, or else the row's. */
export function heldCompany({ leadId, field, lead, rowValue }: Held, companies: Companies): string | null {
  return companies.get(leadId) ?? (field === 'companyName' ? plainCell(lead ?? rowValue) : null);
}

/** The names of the companies that these problems, conflicts or actions of a connection are about. */
export function companiesIn(
  pool: pg.Pool,
  connection: string,
  items: readonly { readonly leadId?: string | null }[],
): Promise<Companies> {
  return companiesOf(pool, connection, [...new Set(items.flatMap(({ leadId }) => leadId ?? []))]);
}
