import { plainCell } from '../core/lead/value.ts';
import { type EmptiedCalendar, emptiedCalendars } from './calendar-reports.ts';
import { type Conflict, conflictsOf, isEditHeld } from './conflicts.ts';
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

const matched = `from held where kind = 'match' and current`;

/** A row or a lead that may be a counterpart is its match. */
const ofHolders = `from held where connection = any(array(select jsonb_object_keys($1::jsonb))) and case kind
  when 'conflict' then code not like 'match.%' or ((connection, lead_id) in (select connection, lead_id ${matched})
    or (connection, row_number) in (select connection, row_number ${matched})) is not true
  when 'edit' then ${isEditHeld}
  when 'match' then current and ($1::jsonb -> connection ->> 'matches')::boolean
  when 'calendar' then $1::jsonb -> connection -> 'calendars' ? requested_by end`;

/** One text, so that what many pages ask can be one query (`forMany`). */
function textOf(holders: readonly Holder[]): string {
  const all = holders.map(({ name, sync, reminders }) => {
    const calendars = reminders?.calendars.map(({ recipient }) => recipient) ?? [];
    return [name, { matches: sync.match !== 'off', calendars }];
  });
  return JSON.stringify(Object.fromEntries(all));
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
    `select id ${ofHolders} and id > $2 and ($3::bigint is null or id = $3) order by id limit $4`,
    [textOf(holders), after, id ?? null, limit ?? null],
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

/** Of what does not name its company itself. */
const leadOf = (item: Item): readonly string[] =>
  item.kind === 'calendar' || item.kind === 'match' ? [] : [item.leadId];

function companyOf(item: Item, companies: ReadonlyMap<string, string> | undefined): string | null {
  if (item.kind === 'calendar') return item.recipient;
  if (item.kind === 'match') return plainCell(item.lead['companyName'] ?? item.cells['companyName'] ?? null);
  return companies?.get(item.leadId) ?? item.company;
}

export function countHeld(db: Queryable, holders: readonly Holder[]): Promise<number> {
  return countOf(db, ofHolders, [textOf(holders)]);
}
