import type pg from 'pg';
import type { ShownCell } from '../core/lead/author.ts';
import { type EarlierCell, type PutBackCell, putBackCell } from '../core/merge/older-copy.ts';
import { columnOf, epochMs, oneOf, type Queryable, rowsOf } from './database.ts';
import { streamRows } from './stream-rows.ts';
import type { RunRef } from './runs.ts';

export type Side = 'lead' | 'row';

/** What the two sides are called in the tables. */
const names = {
  row: { own: 'staged_rows', other: 'staged_leads', first: 'and not s.duplicate' },
  lead: { own: 'staged_leads', other: 'staged_rows', first: '' },
} as const;

/** Whether baselines have moved, and on which sides cells are held because they show what they showed before. */
export function whatIsKnown(
  db: Queryable,
  connection: string,
): Promise<{ readonly hasMoved: boolean; readonly conflictOn: readonly Side[] }> {
  return oneOf(
    db,
    `select exists (select from earlier_values where connection = $1) as "hasMoved",
       array(select distinct split_part(code, '.', 1) from held
         where kind = 'conflict' and connection = $1 and code in ('row.put-back', 'lead.put-back') and resolution is null order by 1 desc) as "conflictOn"`,
    [connection],
  );
}

/** The cells of a side that show a value from before the baseline; see `putBackCell`. */
export async function* putBackCells(
  pool: pg.Pool,
  run: RunRef,
  side: Side,
  fields: readonly string[],
): AsyncIterable<PutBackCell> {
  const { own, other, first } = names[side];
  const others = side === 'row' ? 'lead' : 'row';
  const cells = streamRows<EarlierCell>(
    pool,
    `select s.lead_id as "leadId", e.field, e.moves,
       case when jsonb_typeof(c.mine) in ('string', 'null') then value_hash(c.mine #>> '{}')::text end as mine,
       value_hash(p.base->>e.field)::text as base, value_hash(c.others #>> '{}')::text as others,
       exists (select from held h where h.kind = 'conflict' and h.connection = $2 and h.lead_id = s.lead_id and h.field = e.field
         and (h.resolution is not null or h.code = 'lead.field-refused')
         and ${side}_value = c.mine and ${others}_value = c.others) as "isDecided",
       (select json_build_object('run', run_id, 'rule', rule, 'hash', value_hash(after #>> '{}')::text) from history
         where connection = $2 and lead_id = s.lead_id and field = e.field and side = '${side}' order by id desc limit 1) as written
     from ${own} s
     join pairs p on p.connection = $2 and p.lead_id = s.lead_id and p.base is not null
     left join lateral (select cells from ${other} where run_id = $1 and lead_id = s.lead_id ${side === 'lead' ? 'and not duplicate' : ''} limit 1) o on true
     cross join lateral (
       select field, json_agg(json_build_object('hash', hash::text, 'run', run_id, 'had', ${side}_had, 'at', ${epochMs('at')})) as moves
       from earlier_values where connection = $2 and lead_id = s.lead_id
       group by field having bool_or(hash = value_hash(s.cells->>field))) e
     cross join lateral (select s.cells->e.field as mine, coalesce(coalesce(o.cells, p.base)->e.field, 'null') as others) c
     where s.run_id = $1 and s.cells is not null ${first} and e.field = any($3) and p.base ? e.field
     order by s.lead_id, e.field`,
    [run.id, run.connection, fields],
  );
  for await (const cell of cells) {
    const putBack = putBackCell(cell);
    if (putBack !== null) yield putBack;
  }
}

/** What this scan shows in cells of the table, and where. */
export function stagedCells(
  db: Queryable,
  run: RunRef,
  cells: readonly { readonly leadId: string; readonly field: string }[],
): Promise<readonly ShownCell[]> {
  return rowsOf(
    db,
    `select s.lead_id as "leadId", c.field, s.row_number as row, s.cells->c.field as shown
     from json_to_recordset($2::json) as c ("leadId" text, field text)
     join staged_rows s on s.run_id = $1 and s.lead_id = c."leadId" and not s.duplicate`,
    [run.id, JSON.stringify(cells.map(({ leadId, field }) => ({ leadId, field })))],
  );
}

/** A move of the baseline of a cell that shows the baseline. `isSame`: what was left behind is the same value. */
export interface KeptMove {
  readonly leadId: string;
  readonly field: string;
  readonly moment: number;
  readonly isSame: boolean;
}

/** All moves after a moment of cells of a side that show the baseline, cell by cell, the earliest first. */
export async function* keptMoves(
  pool: pg.Pool,
  run: RunRef,
  side: Side,
  fields: readonly string[],
  since: number,
): AsyncIterable<KeptMove> {
  const { own, first } = names[side];
  // As `putBackCell` has it.
  const moment = `2 * e.run_id - e.${side}_had::int`;
  yield* streamRows<KeptMove>(
    pool,
    `select e.lead_id as "leadId", e.field, ${moment} as moment, e.hash = b.hash as "isSame"
     from earlier_values e
     join pairs p on p.connection = $2 and p.lead_id = e.lead_id and p.base ? e.field
     left join ${own} s on s.run_id = $1 and s.lead_id = e.lead_id ${first}
     left join absent_pairs m on m.run_id = $1 and m.lead_id = e.lead_id and m.${side}
     cross join lateral (select value_hash(p.base->>e.field) as hash) b
     where e.connection = $2 and e.run_id >= $4::bigint / 2 and ${moment} > $4 and e.field = any($3) and m.lead_id is null
       and (s.cells is null or jsonb_typeof(s.cells->e.field) in ('string', 'null') and value_hash(s.cells->>e.field) = b.hash)
     order by e.lead_id, e.field, ${moment}, e.at`,
    [run.id, run.connection, fields, since],
  );
}

/** A record that appeared or disappeared at a time (epoch ms). */
export interface RecordChange {
  readonly leadId: string;
  readonly at: number;
}

/** Known pairs of which this scan is the first to miss this side, and when they were first seen. */
export function newlyMissed(db: Queryable, run: RunRef, side: Side): Promise<readonly RecordChange[]> {
  return rowsOf(
    db,
    `select p.lead_id as "leadId", ${epochMs('p.first_seen_at')} as at
     from absent_pairs m join pairs p on p.connection = $2 and p.lead_id = m.lead_id
     where m.run_id = $1 and m.${side} and not m.${side === 'row' ? 'lead' : 'row'} and m.merged is null
       and p.base is not null and p.lead_deleted_at is null
       and p.${side}_absences - (p.absence_run is not distinct from $1)::int <= 0`,
    [run.id, run.connection],
  );
}

/** Records of a side that runs saw deleted, or deleted, and that are there again; when that was. */
export function thereAgain(db: Queryable, run: RunRef, side: Side): Promise<readonly RecordChange[]> {
  return rowsOf(
    db,
    `select s.lead_id as "leadId", ${epochMs('max(a.done_at)')} as at
     from ${names[side].own} s left join pairs p on p.connection = $2 and p.lead_id = s.lead_id
     join actions a on a.lead_id = s.lead_id and a.state = 'done'
       and a.kind in (${side === 'row' ? `'remove-row', 'delete-lead'` : `'remove-row', 'mark-row', 'delete-lead'`})
     join runs r on r.id = a.run_id and r.connection = $2
     where s.run_id = $1 and (p.lead_id is null or ${side === 'lead'} and p.lead_deleted_at is not null)
     group by s.lead_id`,
    [run.id, run.connection],
  );
}

/** When pairs that are there on a side were made, of those that were after `since` (epoch ms). */
export function madeSince(db: Queryable, run: RunRef, side: Side, since: number): Promise<readonly number[]> {
  return columnOf(
    db,
    `select ${epochMs('p.first_seen_at')} as at from pairs p
     where p.connection = $2 and p.base is not null and p.first_seen_at > to_timestamp($3::float8 / 1000)
       and not exists (select from absent_pairs m where m.run_id = $1 and m.lead_id = p.lead_id and m.${side})`,
    [run.id, run.connection, since],
  );
}

/** The syncs of a connection that are on record, the earliest first. `at`: epoch ms. */
export function syncTimes(
  db: Queryable,
  connection: string,
): Promise<readonly { readonly id: number; readonly at: number }[]> {
  return rowsOf(
    db,
    `select id, ${epochMs('created_at')} as at from runs
     where connection = $1 and mode = 'sync' order by id`,
    [connection],
  );
}
