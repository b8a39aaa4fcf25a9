import { plainCell } from '../core/lead/value.ts';
import { type EmptiedCalendar, emptiedCalendars } from './calendar-reports.ts';
import { type Conflict, conflictsOf } from './conflicts.ts';
import { columnOf, countOf, type Queryable } from './database.ts';
import { type Match, matchesOf } from './matches.ts';
import { companiesOf } from './pairs.ts';

type Item = Conflict | Match | EmptiedCalendar;

/** Something that waits for a person, under a number that nothing else has. */
export type HeldItem = Item & {
  /** What it is about; of a calendar, whose it is; null: not known. */
  readonly company: string | null;
};

/** A connection, as its settings are: what they do not ask for any more waits for nobody. */
export interface Holder {
  readonly name: string;
  readonly sync: { readonly match: string };
  readonly reminders?: { readonly calendars: readonly { readonly recipient: string }[] } | undefined;
}

const ofHolders = `from waiting where connection = any($1) and (kind <> 'match' or connection = any($2))
  and (kind <> 'calendar' or array[connection, recipient] in (select array[c->>0, c->>1] from jsonb_array_elements($3::jsonb) c))`;

function valuesOf(holders: readonly Holder[]): readonly unknown[] {
  const calendars = holders.flatMap(({ name, reminders }) =>
    (reminders?.calendars ?? []).map(({ recipient }) => [name, recipient]),
  );
  const matching = holders.filter(({ sync }) => sync.match !== 'off');
  const names = (of: readonly Holder[]): readonly string[] => of.map(({ name }) => name);
  return [names(holders), names(matching), JSON.stringify(calendars)];
}

interface Part {
  /** The number alone. */
  readonly id?: number;
  /** Only numbers above it. */
  readonly after?: number;
  readonly limit?: number;
}

/** All that waits for a person, the oldest first. */
export async function listHeld(
  db: Queryable,
  holders: readonly Holder[],
  { id, after = 0, limit }: Part = {},
): Promise<readonly HeldItem[]> {
  const ids = await columnOf<number>(
    db,
    `select id ${ofHolders} and id > $4 and ($5::bigint is null or id = $5) order by id limit $6`,
    [...valuesOf(holders), after, id ?? null, limit ?? null],
  );
  if (ids.length === 0) return [];
  const items = [
    ...(await conflictsOf(db, ids)),
    ...(await matchesOf(db, ids)),
    ...(await emptiedCalendars(db, ids)),
  ];
  const companies = new Map<string, ReadonlyMap<string, string>>();
  for (const [connection, own] of Map.groupBy(items, (item) => item.connection))
    companies.set(connection, await companiesOf(db, connection, [...new Set(own.flatMap(leadOf))]));
  return items
    .map((item) => ({ ...item, company: companyOf(item, companies.get(item.connection)) }))
    .toSorted((one, other) => one.id - other.id);
}

const leadOf = (item: Item): readonly string[] => (item.kind === 'calendar' ? [] : [item.leadId]);

function companyOf(item: Item, companies: ReadonlyMap<string, string> | undefined): string | null {
  if (item.kind === 'calendar') return item.recipient;
  if (item.kind === 'match') return plainCell(item.lead['companyName'] ?? item.cells['companyName'] ?? null);
  return companies?.get(item.leadId) ?? item.company;
}

export function countHeld(db: Queryable, holders: readonly Holder[]): Promise<number> {
  return countOf(db, ofHolders, valuesOf(holders));
}
