import { type Cells, plainCell, type Values } from '../core/lead/value.ts';
import { type EmptiedCalendar, emptiedCalendars } from './calendar-entries.ts';
import { type Conflict, conflictsOf, type Decided, decidedOn, heldAgain, isEditHeld } from './conflicts.ts';
import { columnOf, countOf, type Queryable, rowsOf, streamRows, valueOf } from './database.ts';
import { companiesOf } from './pairs.ts';
import type pg from 'pg';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { type UndoneRecord, UndoneRecords } from '../core/merge/undo.ts';
import type { AbsenceProof } from '../core/merge/difference.ts';
import type { RunRef } from './runs.ts';

/** `undone`: an undo took them apart, so they are proposed again, never linked without a decision. */
export const matchStates = ['proposed', 'ambiguous', 'accepted', 'rejected', 'undone'] as const;
export type MatchState = (typeof matchStates)[number];

/** A lead and a row that may be one, with what both show. */
export interface Match {
  readonly kind: 'match';
  readonly id: number;
  readonly connection: string;
  readonly leadId: string;
  readonly row: number | null;
  readonly lead: Cells;
  readonly cells: Cells;
  /** 0 to 1. */
  readonly score: number;
  readonly why: string;
  readonly state: MatchState;
  /** Who accepted or rejected it; null: undecided, or not on record. */
  readonly decided: Decided | null;
}

/** How the lead and the row of a match are known again; see the migration. */
export interface MatchMarks {
  readonly leadId: string;
  readonly contentHash: string;
  readonly leadMark: string | null;
  readonly rowMark: string;
}

export type MatchLine = MatchMarks & Omit<Match, 'kind' | 'id' | 'connection' | 'decided'>;

/** The baselines of all pairs in some fields, and their rows; null: it has none, or none is known. */
export async function* pairedValues(
  pool: pg.Pool,
  connection: string,
  fields: readonly string[],
): AsyncIterable<{ readonly leadId: string; readonly row: number | null; readonly values: Values }> {
  yield* streamRows(
    pool,
    `select lead_id as "leadId", row_number as row, (select jsonb_object_agg(f, base->f) from unnest($2::text[]) f) as "values" from pairs
     where connection = $1 and base is not null and lead_deleted_at is null`,
    [connection, fields],
  );
}

export function knownMatches(
  db: Queryable,
  connection: string,
): Promise<readonly (MatchMarks & { readonly state: MatchState })[]> {
  return rowsOf(
    db,
    `select lead_id as "leadId", content_hash as "contentHash", lead_mark as "leadMark", row_mark as "rowMark", state
     from held where kind = 'match' and connection = $1 order by id`,
    [connection],
  );
}

/**
 * Stores the matches that a sync found, with people's decisions on them. Of earlier matches the rejected and undone ones stay;
 * after an incomplete scan (`isIncomplete`) all stay.
 */
export async function storeMatches(
  db: Queryable,
  connection: string,
  lines: readonly MatchLine[],
  isIncomplete: boolean,
): Promise<void> {
  if (!isIncomplete) {
    await db.query(`update held set current = false where kind = 'match' and connection = $1`, [connection]);
  }
  if (lines.length > 0)
    await db.query(
      `insert into held (kind, connection, current, lead_id, content_hash, lead_mark, row_mark, row_number, lead_value, row_value, score, message, state)
       select distinct on ("leadId", "contentHash") 'match', $1, true, "leadId", "contentHash", "leadMark", "rowMark", "row", lead, cells, score, why, state
       from json_to_recordset($2::json) as m ("leadId" text, "contentHash" text, "leadMark" text, "rowMark" text, "row" bigint,
         lead jsonb, cells jsonb, score double precision, why text, state text) order by "leadId", "contentHash", "row"
       ${heldAgain} current = true, since = now(), lead_mark = excluded.lead_mark, row_mark = excluded.row_mark,
         row_number = excluded.row_number, lead_value = excluded.lead_value, row_value = excluded.row_value,
         score = excluded.score, message = excluded.message, state = excluded.state`,
      [connection, JSON.stringify(lines)],
    );
  if (!isIncomplete)
    await db.query(
      `delete from held where kind = 'match' and connection = $1 and not current and state not in ('rejected', 'undone')`,
      [connection],
    );
}

/** These leads have a row now. */
export async function forgetMatches(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<void> {
  if (leadIds.length === 0) return;
  await db.query(`delete from held where kind = 'match' and connection = $1 and lead_id = any($2)`, [
    connection,
    leadIds,
  ]);
}

const columns = `kind, id, connection, lead_id as "leadId", row_number as row, lead_value as lead, row_value as cells, score, message as why, state,
  ${decidedOn(`state in ('accepted', 'rejected')`)} as decided`;

/** Those of these numbers that the last sync or plan found. */
function matchesOf(db: Queryable, ids: readonly number[]): Promise<readonly Match[]> {
  return rowsOf(db, `select ${columns} from held where id = any($1) and kind = 'match' and current`, [ids]);
}

export function openMatches(
  db: Queryable,
  connection: string,
): Promise<readonly Pick<Match, 'lead' | 'cells'>[]> {
  return rowsOf(
    db,
    `select lead_value as lead, row_value as cells from held
     where connection = $1 and kind = 'match' and current and state in ('proposed', 'ambiguous')`,
    [connection],
  );
}

/** The number of another accepted match of the same lead or row; null: none. */
export function acceptedBeside(db: Queryable, id: number): Promise<number | null> {
  return valueOf(
    db,
    `select o.id from held m join held o on o.kind = 'match' and o.connection = m.connection and o.id <> m.id
       and (o.lead_id = m.lead_id or o.row_number = m.row_number)
     where m.id = $1 and o.state = 'accepted' and o.current order by o.id limit 1`,
    [id],
  );
}

/** Remembers a person's decision, and `by` whom. False, and nothing is remembered, when it shows something else by now. */
export async function decideMatch(
  db: Queryable,
  { id, lead, cells }: Pick<Match, 'id' | 'lead' | 'cells'>,
  state: 'accepted' | 'rejected',
  by: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with decided as (
       update held set state = $2, decided_by = $3, decided_at = now()
       where id = $1 and kind = 'match' and current and lead_value = $4::jsonb and row_value = $5::jsonb returning *)
     insert into held (kind, connection, lead_id, resolution, decided_by, decided_at)
     select 'decision', connection, lead_id, state, decided_by, decided_at from decided`,
    [id, state, by, JSON.stringify(lead), JSON.stringify(cells)],
  );
  return rowCount === 1;
}

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

export async function keepUndone(
  db: Queryable,
  connection: string,
  records: readonly UndoneRecord[],
): Promise<void> {
  await db.query(
    `insert into held (kind, connection, lead_id, content_hash, row_value)
     select distinct on (r."leadId", r."contentHash") 'undone', $1, r."leadId", r."contentHash", r.cells
     from jsonb_to_recordset($2::jsonb) as r ("leadId" text, "contentHash" text, cells jsonb)
     ${heldAgain} row_value = excluded.row_value, missed = 0, last_run = null`,
    [connection, JSON.stringify(records)],
  );
}

export async function loadUndone(
  db: Queryable,
  connection: string,
  fields: readonly FieldMapping[],
): Promise<UndoneRecords> {
  const records = await rowsOf<UndoneRecord>(
    db,
    `select lead_id as "leadId", content_hash as "contentHash", row_value as cells from held where kind = 'undone' and connection = $1`,
    [connection],
  );
  return new UndoneRecords(records, fields);
}

/**
 * Deletes records that a person decided on or that two complete scans of different runs did not show unchanged. Call it
 * before ended conflicts are released.
 */
export async function saveUndone(
  db: Queryable,
  run: RunRef,
  undone: UndoneRecords,
  isProof: AbsenceProof,
): Promise<void> {
  if (undone.size === 0) return;
  const isSeen = `exists (select from jsonb_to_recordset($3::jsonb) as s ("leadId" text, "contentHash" text)
    where s."leadId" = u.lead_id and s."contentHash" = u.content_hash)`;
  const isMissed = `(u.last_run is distinct from $1 and case when u.lead_id = '' then $5::boolean else $4 end)`;
  const parameters = [run.id, run.connection, JSON.stringify([...undone.seen]), isProof.leads, isProof.rows];
  await db.query(
    `delete from held u where kind = 'undone' and connection = $2 and not ${isSeen} and (missed > 0 and ${isMissed}
       or exists (select from held h where h.kind = 'conflict' and h.connection = $2 and h.lead_id = u.lead_id
         and split_part(h.content_hash, '#', 1) = u.content_hash and h.code in ('row.undone', 'lead.undone')
         and h.resolution is not null))`,
    parameters,
  );
  await db.query(
    `update held u set last_run = $1, missed = case when ${isSeen} then 0 else missed + ${isMissed}::int end
     where kind = 'undone' and connection = $2`,
    parameters,
  );
}
