import type pg from 'pg';
import type { ShownCell } from '../core/lead/author.ts';
import { batchesBySize } from '../core/lead/text-size.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import {
  type CellRecord,
  type CopiedSide,
  type EarlierCell,
  type Moment,
  type PutBackCell,
  putBackCell,
  shownAgain,
  shownBySides,
} from '../core/merge/older-copy.ts';
import { epochMs, oneOf, type Queryable, rowsOf, streamRows } from './database.ts';
import { history } from './history.ts';
import type { RunRef } from './runs.ts';

/** Records looked up together. */
const lookedUpTogether = 500;

const otherSide = (side: CopiedSide): CopiedSide => (side === 'row' ? 'lead' : 'row');

/** Whether baselines have moved, and on which sides cells are held because they show what they showed before. */
export function whatIsKnown(
  db: Queryable,
  connection: string,
): Promise<{ readonly hasMoved: boolean; readonly conflictOn: readonly CopiedSide[] }> {
  return oneOf(
    db,
    `select exists (select from earlier_values where connection = $1) as "hasMoved",
       array(select distinct split_part(code, '.', 1) from held
         where kind = 'conflict' and connection = $1 and code in ('row.put-back', 'lead.put-back') and resolution is null order by 1 desc) as "conflictOn"`,
    [connection],
  );
}

/** The cells of a side whose baselines moved after a moment, of some leads or of all. */
export function earlierCells(
  pool: pg.Pool,
  { connection }: Pick<RunRef, 'connection'>,
  side: CopiedSide,
  fields: readonly string[],
  { leadIds, since = 0 }: { readonly leadIds?: readonly string[]; readonly since?: Moment },
): AsyncGenerator<EarlierCell, void> {
  return streamRows(
    pool,
    `select e.lead_id as "leadId", e.field, p.base->>e.field as base, e.moves from (
       select lead_id, field, json_agg(json_build_object('hash', hash, 'run', run_id, 'had', ${side}_had, 'at', ${epochMs('at')})) as moves
       from earlier_values where connection = $1 and field = any($2) and ($3::text[] is null or lead_id = any($3)) and run_id >= $4::bigint / 2
       group by 1, 2) e
     -- Each looked up by its own: they may be few of very many.
     cross join lateral (select base from pairs where connection = $1 and lead_id = e.lead_id limit 1) p where p.base ? e.field
     order by 1, 2`,
    [connection, fields, leadIds ?? null, since],
  );
}

/** What is on record of some cells, in their order. */
function recordsOf(
  db: Queryable,
  { connection }: RunRef,
  side: CopiedSide,
  cells: readonly Pick<EarlierCell, 'leadId' | 'field'>[],
): Promise<readonly CellRecord[]> {
  return rowsOf(
    db,
    `select array(select json_build_object('mine', ${side}_value, 'others', ${otherSide(side)}_value) from held
         where kind = 'conflict' and connection = $1 and lead_id = c."leadId" and field = c.field
           and (resolution is not null or code = 'lead.field-refused')) as decided,
       (select json_build_object('run', run_id, 'rule', rule, 'value', after) from ${history} h
         where connection = $1 and lead_id = c."leadId" and field = c.field and side = '${side}' order by id desc limit 1) as written
     from rows from (json_to_recordset($2::json) as ("leadId" text, field text)) with ordinality as c ("leadId", field, nth) order by nth`,
    [connection, JSON.stringify(cells.map(({ leadId, field }) => ({ leadId, field })))],
  );
}

/** The cells of a side that show a value from before the baseline; see `putBackCell`. */
export async function* putBackCells(
  pool: pg.Pool,
  run: RunRef,
  scan: LiveScan,
  side: CopiedSide,
  fields: readonly string[],
): AsyncGenerator<PutBackCell, void> {
  const moved = function* () {
    for (const leadId of [...(side === 'lead' ? scan.leads() : scan.rows.ids())].toSorted()) {
      const shown = shownBySides(scan, side, leadId);
      if (scan.isPair(leadId) && shown.mine !== null) yield { leadId, shown };
    }
  };
  for (const some of batchesBySize(moved(), () => lookedUpTogether)) {
    const byLead = new Map(some.map(({ leadId, shown }) => [leadId, shown]));
    const found = [];
    const leadIds = [...byLead.keys()];
    for await (const cell of earlierCells(pool, run, side, fields, { leadIds })) {
      const shown = shownAgain(cell, byLead.get(cell.leadId) ?? { mine: null, others: null });
      if (shown !== null) found.push({ ...cell, shown });
    }
    if (found.length === 0) continue;
    const records = await recordsOf(pool, run, side, found);
    for (const [nth, { shown, ...cell }] of found.entries()) {
      const record = records[nth];
      const putBack = record && putBackCell(cell, shown, record);
      if (putBack) yield putBack;
    }
  }
}

/** What a scan shows in cells of the table, and where. */
export function shownCells(
  scan: LiveScan,
  cells: readonly { readonly leadId: string; readonly field: string }[],
): readonly ShownCell[] {
  return cells.flatMap(({ leadId, field }) => {
    const row = scan.row(leadId);
    return row === null ? [] : [{ leadId, field, row: row.row, shown: row.cells?.[field] ?? null }];
  });
}

/** A record that appeared or disappeared at a time (epoch ms). */
export interface RecordChange {
  readonly leadId: string;
  readonly at: number;
}

/** Known pairs of which this scan is the first to miss this side, and when they were first seen. */
export function newlyMissed(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  side: CopiedSide,
): Promise<readonly RecordChange[]> {
  const missed = [...scan.absent()].flatMap(({ leadId, ...absent }) =>
    absent[side] && !absent[otherSide(side)] && scan.merged(leadId) === null ? [leadId] : [],
  );
  return rowsOf(
    db,
    `select p.lead_id as "leadId", ${epochMs('p.first_seen_at')} as at from pairs p
     where p.connection = $2 and p.lead_id = any($3) and p.base is not null and p.lead_deleted_at is null
       and p.${side}_absences - (p.absence_run is not distinct from $1)::int <= 0`,
    [run.id, run.connection, missed],
  );
}

/** Records of a side that runs saw deleted, or deleted, and that are there again; when that was. */
export function thereAgain(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  side: CopiedSide,
): Promise<readonly RecordChange[]> {
  const isNew = (leadId: string): boolean => {
    const n = scan.base.find(leadId);
    return n < 0 || (side === 'lead' && scan.base.isDeleted(n));
  };
  const ids = [...(side === 'lead' ? scan.leads() : scan.rows.ids())].filter(isNew);
  return rowsOf(
    db,
    `select a.lead_id as "leadId", ${epochMs('max(a.done_at)')} as at from actions a
     join runs r on r.id = a.run_id and r.connection = $1
     where a.lead_id = any($2) and a.state = 'done'
       and a.kind in (${side === 'row' ? `'remove-row', 'delete-lead'` : `'remove-row', 'mark-row', 'delete-lead'`})
     group by a.lead_id`,
    [run.connection, ids],
  );
}

/** When pairs that are there on a side were made, of those that were after `since` (epoch ms). */
export async function madeSince(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  side: CopiedSide,
  since: number,
): Promise<readonly number[]> {
  const made = await rowsOf<RecordChange>(
    db,
    `select p.lead_id as "leadId", ${epochMs('p.first_seen_at')} as at from pairs p
     where p.connection = $1 and p.base is not null and p.first_seen_at > to_timestamp($2::float8 / 1000)`,
    [run.connection, since],
  );
  return made.flatMap(({ leadId, at }) => (scan.missed(leadId)[side] ? [] : [at]));
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
