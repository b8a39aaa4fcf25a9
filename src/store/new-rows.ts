import { batchesBySize } from '../core/lead/text-size.ts';
import type { Values } from '../core/lead/value.ts';
import { plannedAction, type PlannedAction } from '../core/merge/action.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { columnOf, firstOf, mapOf, oneOf, type Queryable, rowsOf } from './database.ts';
import type { RoundRef, RunRef } from './runs.ts';

/** A new lead of which nothing else is known, and what it shows. */
export type NewRow = readonly [leadId: string, cells: Values];

/** New rows that have one action together. */
export interface NewRows {
  readonly id: number;
  /** Null: it has an action of its own since. */
  readonly body: readonly (NewRow | null)[];
  readonly attempts: number;
}

/** The most new rows that are stored together. */
const mostTogether = 800;

/** More than `mostTogether`: so many ids has each body. Those of all lines come after those of all actions, and are exact numbers. */
const idsOfBody = 1024;
const idsBefore = 2 ** 52;

/** SQL: of an action, a number above the ids of all its lines. */
export const afterLines = `${idsBefore} + (id + 1) * ${idsOfBody}`;

/** SQL: the single rows of the actions that make many, as actions of their own; `which` chooses among those of `actions`. */
export const newRowsOf = (which: string): string => `(
  select ${idsBefore} + a.id * ${idsOfBody} + e.nth as id, a.run_id, e.line->>0 as lead_id,
    (select json_object_agg(c.key, json_build_object('from', null, 'to', c.value)) from json_each(e.line->1) c) as changes,
    a.state, a.done_at
  from (select * from actions where body is not null and ${which}) a
  cross join lateral json_array_elements(a.body) with ordinality e (line, nth)
  where json_typeof(e.line) = 'array')`;

/** The action of a row that has one of its own. */
export function ownAction([leadId, values]: NewRow): PlannedAction {
  const changes = Object.fromEntries(
    Object.entries(values).map(([field, to]) => [field, { from: null, to }]),
  );
  return plannedAction('create-row', { leadId, reason: 'new-lead', changes });
}

const isBegun = `state = 'planned' and attempts > 0 and run_id in (select id from runs where connection = $1)`;

/** SQL: the rows that were begun by runs of $1 that never heard what became of them. */
const begun = `(select id, lead_id, changes from actions where kind = 'create-row' and body is null and ${isBegun}
  union all select id, lead_id, changes from ${newRowsOf(isBegun)} l)`;

/** What each row was to show, by lead, that was begun by runs that never heard what became of it. */
export function begunRows(db: Queryable, connection: string): Promise<ReadonlyMap<string, Values>> {
  return mapOf(
    db,
    `select lead_id, (select coalesce(json_object_agg(c.key, c.value->'to'), '{}') from json_each(b.changes) c)
     from ${begun} b order by b.id`,
    [connection],
  );
}

/**
 * Leads of which earlier runs know something, so that a new lead of the scan among them has to be looked at by itself: held, undone,
 * taken away, or begun.
 */
export function leadsToLookAt(db: Queryable, connection: string): Promise<readonly string[]> {
  return columnOf(
    db,
    `select lead_id from held where kind in ('conflict', 'undone') and connection = $1 and lead_id <> ''
     union select a.lead_id from actions a join runs r on r.id = a.run_id where r.connection = $1 and a.lead_id is not null
       and a.state = 'done' and a.kind in ('remove-row', 'mark-row', 'delete-lead')
     union select lead_id from ${begun} b`,
    [connection],
  );
}

/** Plans a new row for each lead of which nothing else is known; `most`: that are written together. Returns how many. */
export async function planNewRows(
  db: Queryable,
  run: RoundRef,
  scan: LiveScan,
  most: number,
): Promise<number> {
  let planned = 0;
  for (const lines of batchesBySize(scan.plainLines(), () => Math.min(mostTogether, most))) {
    const text = `insert into actions (run_id, round, kind, reason, leads, body) values ($1, $2, 'create-row', 'new-lead', $3, $4)`;
    await db.query(text, [run.id, run.round, lines.length, `[${lines.join(',')}]`]);
    planned += lines.length;
  }
  return planned;
}

/** The new rows of a round in their order, those of one action at a time; `which` chooses among these. */
async function* readNewRows(db: Queryable, run: RoundRef, which: string): AsyncGenerator<NewRows> {
  for (let after = 0; ; ) {
    const found = await firstOf<NewRows>(
      db,
      `select id, body, attempts from actions
       where run_id = $1 and round = $2 and id > $3 and body is not null and ${which} order by id limit 1`,
      [run.id, run.round, after],
    );
    if (found === null) return;
    after = found.id;
    yield found;
  }
}

/** Those that are not written. */
export function newRowsToWrite(db: Queryable, run: RoundRef): AsyncGenerator<NewRows> {
  return readNewRows(db, run, `state = 'planned'`);
}

/** Takes some rows out of those of an action, to have one of their own. Returns them. */
export async function takeRows(
  db: Queryable,
  { id, body }: NewRows,
  isTaken: (leadId: string) => boolean,
): Promise<readonly NewRow[]> {
  const taken = body.filter((line) => line !== null).filter(([leadId]) => isTaken(leadId));
  if (taken.length === 0) return [];
  const gone = new Set<NewRow | null>(taken);
  const left = JSON.stringify(body.map((line) => (gone.has(line) ? null : line)));
  await db.query(`update actions set leads = leads - $2, body = $3 where id = $1`, [id, taken.length, left]);
  return taken;
}

const isToRead = `state = 'done' and receipt is null`;

/** The new rows of a round that were not read again yet: how many, and between which of its pairs theirs are. */
export interface NewRowsToRead {
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

export async function newRowsToRead(db: Queryable, run: RunRef & RoundRef): Promise<NewRowsToRead | null> {
  const ofRound = `run_id = $1 and round = $2 and body is not null and leads > 0 and ${isToRead}`;
  const ends = `id in ((select min(id) from actions where ${ofRound}), (select max(id) from actions where ${ofRound}))`;
  const found = await oneOf<NewRowsToRead>(
    db,
    `select (select coalesce(sum(leads), 0)::int from actions where ${ofRound}) as count,
       coalesce(min(id), 0) as first, coalesce(max(id), 0) as last
     from pairs where connection = $3 and lead_id = any(array(select lead_id from ${newRowsOf(ends)} l))`,
    [run.id, run.round, run.connection],
  );
  return found.count === 0 ? null : found;
}

/** A new row that the round wrote; `values`: what was written. */
export interface NewRowWritten {
  readonly leadId: string;
  readonly values: Values;
  readonly notedRow: number | null;
}

/** The new rows of these leads, as far as the round wrote them. */
export function newRowsWritten(
  db: Queryable,
  connection: string,
  { first, last }: NewRowsToRead,
  leadIds: readonly string[],
): Promise<readonly NewRowWritten[]> {
  return rowsOf(
    db,
    `select lead_id as "leadId", base as "values", row_number as "notedRow" from pairs
     where connection = $1 and lead_id = any($2) and id between $3 and $4 and base is not null`,
    [connection, leadIds, first, last],
  );
}

/** All new rows of the round were read again as they were written, but for `isOther`: these are taken out, and returned. */
export async function newRowsSeen(
  db: Queryable,
  run: RoundRef,
  isOther: ((leadId: string) => boolean) | null,
): Promise<readonly NewRow[]> {
  const others: NewRow[] = [];
  if (isOther !== null)
    for await (const rows of readNewRows(db, run, isToRead))
      others.push(...(await takeRows(db, rows, isOther)));
  await db.query(
    `update actions set receipt = 'equal' where run_id = $1 and round = $2 and body is not null and ${isToRead}`,
    [run.id, run.round],
  );
  return others;
}
