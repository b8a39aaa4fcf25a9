import type { ShownCell } from '../core/lead/author.ts';
import { batchesBySize } from '../core/lead/text-size.ts';
import { isUnreadable, sameCell } from '../core/lead/value.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import {
  type CopiedSide,
  type EarlierCell,
  type PutBackCell,
  putBackCell,
} from '../core/merge/older-copy.ts';
import { epochMs, oneOf, type Queryable, rowsOf } from './database.ts';
import { history } from './history.ts';
import type { RunRef } from './runs.ts';

/** What a lead, or its first row, shows that is not as in the baseline; null: it is, or is not there. */
const shown = (scan: LiveScan, side: CopiedSide, leadId: string) =>
  side === 'lead' ? scan.lead(leadId) : (scan.row(leadId)?.cells ?? null);

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

/** The cells of a side that show a value from before the baseline; see `putBackCell`. */
export async function* putBackCells(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  side: CopiedSide,
  fields: readonly string[],
): AsyncGenerator<PutBackCell, void> {
  const others = otherSide(side);
  const moved = function* () {
    for (const leadId of [...(side === 'lead' ? scan.leads() : scan.rows.ids())].toSorted()) {
      const cells = scan.isPair(leadId) ? shown(scan, side, leadId) : null;
      if (cells !== null) yield { leadId, cells, others: shown(scan, others, leadId) };
    }
  };
  for (const some of batchesBySize(moved(), () => lookedUpTogether)) {
    const cells = await rowsOf<EarlierCell>(
      db,
      `select s."leadId", e.field, e.moves,
         case when jsonb_typeof(c.mine) in ('string', 'null') then value_hash(c.mine #>> '{}')::text end as mine,
         value_hash(p.base->>e.field)::text as base, value_hash(c.others #>> '{}')::text as others,
         exists (select from held h where h.kind = 'conflict' and h.connection = $1 and h.lead_id = s."leadId" and h.field = e.field
           and (h.resolution is not null or h.code = 'lead.field-refused')
           and ${side}_value = c.mine and ${others}_value = c.others) as "isDecided",
         (select json_build_object('run', run_id, 'rule', rule, 'hash', value_hash(after #>> '{}')::text) from ${history} h
           where connection = $1 and lead_id = s."leadId" and field = e.field and side = '${side}' order by id desc limit 1) as written
       from json_to_recordset($2::json) as s ("leadId" text, cells jsonb, others jsonb)
       join pairs p on p.connection = $1 and p.lead_id = s."leadId" and p.base is not null
       cross join lateral (
         select field, json_agg(json_build_object('hash', hash::text, 'run', run_id, 'had', ${side}_had, 'at', ${epochMs('at')})) as moves
         from earlier_values where connection = $1 and lead_id = s."leadId"
         group by field having bool_or(hash = value_hash(s.cells->>field))) e
       cross join lateral (select s.cells->e.field as mine, coalesce(coalesce(nullif(s.others, 'null'), p.base)->e.field, 'null') as others) c
       where e.field = any($3) and p.base ? e.field
       order by s."leadId", e.field`,
      [run.connection, JSON.stringify(some), fields],
    );
    for (const cell of cells) {
      const putBack = putBackCell(cell);
      if (putBack !== null) yield putBack;
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

/** A move of the baseline of a cell that shows the baseline. `isSame`: what was left behind is the same value. */
export interface KeptMove {
  readonly leadId: string;
  readonly field: string;
  readonly moment: number;
  readonly isSame: boolean;
}

/** All moves after a moment of cells of a side that show the baseline, cell by cell, the earliest first. */
export async function keptMoves(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  side: CopiedSide,
  fields: readonly string[],
  since: number,
): Promise<readonly KeptMove[]> {
  // As `putBackCell` has it.
  const moment = `2 * e.run_id - e.${side}_had::int`;
  const moves = await rowsOf<KeptMove & { readonly value: string | null }>(
    db,
    `select e.lead_id as "leadId", e.field, ${moment} as moment, e.hash = value_hash(p.base->>e.field) as "isSame", p.base->>e.field as value
     from earlier_values e
     join pairs p on p.connection = $1 and p.lead_id = e.lead_id and p.base ? e.field
     where e.connection = $1 and e.run_id >= $3::bigint / 2 and ${moment} > $3 and e.field = any($2)
     order by e.lead_id, e.field, ${moment}, e.at`,
    [run.connection, fields, since],
  );
  return moves.filter(({ leadId, field, value }) => {
    if (scan.missed(leadId)[side]) return false;
    const cells = shown(scan, side, leadId);
    const cell = cells?.[field];
    return cells === null || (cell !== undefined && !isUnreadable(cell) && sameCell(cell, value));
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
