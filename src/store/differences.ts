import type pg from 'pg';
import type { Cells } from '../core/lead/value.ts';
import type { LooseRow, RecordTally, Sight } from '../core/merge/difference.ts';
import type { UnknownLead } from '../core/merge/likeness.ts';
import { keysOfLead, type Service } from './places.ts';
import type { BaselineRow } from '../core/merge/shifted-rows.ts';
import { columnOf, epochMs, mapOf, oneOf, type Queryable, rowsOf } from './database.ts';
import { streamRows } from './stream-rows.ts';
import type { RoundRef, Run, RunRef } from './runs.ts';

/**
 * Streams every lead id that may need a decision, in the order of the ids: all of which something is staged, or that a side
 * missed; with `ofRows` those alone whose row is staged or missed.
 */
export async function* sights(pool: pg.Pool, run: RunRef, ofRows = false): AsyncIterable<Sight> {
  // Each record is looked up by its own. The limits keep Postgres, which cannot know how few there are, from joining
  // whole tables.
  yield* streamRows<Sight>(
    pool,
    `select w.lead_id as "leadId", p.lead_id is not null as "isKnown", p.base, same.yes as "isSame",
       case when not same.yes then l.cells end as lead, case when not same.yes then t.cells end as row,
       coalesce(t.row_number, p.row_number) as "rowNumber",
       json_build_object('lead', coalesce(m.lead, false), 'row', coalesce(m.row, false)) as missed, m.merged,
       coalesce(p.lead_absences, 0) as "leadAbsences", coalesce(p.row_absences, 0) as "rowAbsences",
       p.absence_run is not distinct from $1 as "isCounted", p.lead_deleted_at is not null as "deletionDone",
       case when q.answer is not null then json_build_object('answer', q.answer, 'message', q.message) end as asked,
       array(select json_build_object('field', field, 'code', code, 'resolution', resolution, 'lead', lead_value, 'row', row_value)
         from held where kind = 'conflict' and connection = $2 and lead_id = w.lead_id) as held,
       exists (select from staged_rows where run_id = $1 and lead_id = w.lead_id and duplicate) as "isCopied"
     from (
       select lead_id from staged_leads where run_id = $1 and not $3
       union select lead_id from staged_rows where run_id = $1 and lead_id is not null and not duplicate and cells is not null
       union select lead_id from absent_pairs where run_id = $1 and (row or not $3)) w
     left join lateral (select * from staged_leads where run_id = $1 and lead_id = w.lead_id limit 1) l on true
     left join lateral (
       select * from staged_rows where run_id = $1 and lead_id = w.lead_id and not duplicate limit 1) t on true
     left join lateral (select * from pairs where connection = $2 and lead_id = w.lead_id limit 1) p on true
     left join lateral (select * from absent_pairs where run_id = $1 and lead_id = w.lead_id limit 1) m on true
     left join lateral (select answer, message from asked_leads where run_id = $1 and lead_id = w.lead_id limit 1) q on true
     cross join lateral (select (l.hash = t.hash) is true as yes) same
     order by w.lead_id`,
    [run.id, run.connection, ofRows],
  );
}

/** All rows with a baseline, where they are `now` or were `before`: what they show of some fields, and had. */
export async function* rowsInPlace(
  pool: pg.Pool,
  run: RunRef,
  fields: readonly string[],
  when: 'now' | 'before',
): AsyncIterable<BaselineRow> {
  const place = when === 'now' ? 'coalesce(t.row_number, p.row_number)' : 'p.row_number';
  // A row that was gone before this scan has the number of another one.
  const goneCounts =
    when === 'now'
      ? 'm.lead_id is null'
      : '(m.lead_id is null or p.row_absences <= (p.absence_run is not distinct from $1)::int)';
  const of = (cells: string): string =>
    `(select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(${cells}) where key = any($3))`;
  yield* streamRows<BaselineRow>(
    pool,
    `select ${place} as place, coalesce(t.row_number, p.row_number) as row, ${of('p.base')} as base,
       case when m.lead_id is null then ${of('coalesce(t.cells, p.base)')} end as cells
     from pairs p
     left join staged_rows t on t.run_id = $1 and t.lead_id = p.lead_id and not t.duplicate
     left join absent_pairs m on m.run_id = $1 and m.lead_id = p.lead_id and m.row
     where p.connection = $2 and p.base is not null and ${place} is not null and ${goneCounts}
     order by place`,
    [run.id, run.connection, fields],
  );
}

/** Rows that no lead id names: those without an id and those whose id an earlier row has, in the target's order. */
export async function* looseRows(pool: pg.Pool, run: RunRef): AsyncIterable<LooseRow> {
  yield* streamRows<LooseRow>(
    pool,
    `select row_number as row, lead_id as "leadId", unreadable_id as "unreadableId", id_closed as "idClosed",
       apart as "isApart", cells, content_hash as "contentHash"
     from staged_rows where run_id = $1 and (lead_id is null or duplicate) order by ordinal`,
    [run.id],
  );
}

/** The keys of rows without an id of which a person wants leads. */
export async function wantedRows(db: Queryable, connection: string): Promise<ReadonlySet<string>> {
  const text = `select content_hash from held where kind = 'conflict' and connection = $1 and lead_id = '' and field = '' and resolution is not null`;
  return new Set(await columnOf<string>(db, text, [connection]));
}

/** What rows showed that gave up their ids in the last sync, so that leads are made of them, wherever they stand. */
export function releasedRows(db: Queryable, connection: string): Promise<readonly Cells[]> {
  return columnOf(
    db,
    `select expect from actions where kind = 'unlink' and reason = 'older-copy' and state = 'done'
       and run_id in (select id from runs where connection = $1 and mode = 'sync' order by id desc limit 2)`,
    [connection],
  );
}

/** What is known of a scan beside its `sights` and `looseRows`, for `RecordTally`. Asked before the scan is committed. */
export async function countMet(
  db: Queryable,
  run: RunRef & RoundRef & Pick<Run, 'unmovedLeads' | 'unmovedRows'>,
): Promise<Parameters<RecordTally['counts']>[0]> {
  const found = await oneOf<{ pairs: number; newRows: number }>(
    db,
    `select (select count(*)::int from pairs where connection = $2) as pairs,
       (select coalesce(sum(count), 0)::int from new_row_counts where run_id = $1 and round = $3) as "newRows"`,
    [run.id, run.connection, run.round],
  );
  return { ...found, metLeads: run.unmovedLeads, metRows: run.unmovedRows };
}

/** Leads of the scan that no earlier run saw: a lost create may have made them. */
export function unknownLeads(db: Queryable, run: RunRef, service: Service): Promise<readonly UnknownLead[]> {
  const keys = keysOfLead('o.lead_id', { connection: '$2', baseUrl: '$3', account: '$4' });
  return rowsOf(
    db,
    `select l.lead_id as id, l.cells, (select min(${epochMs('o.first_seen_at')}) from pairs o
       where o.lead_id = l.lead_id and o.connection in ${keys}) as "knownSince"
     from staged_leads l
     left join pairs p on p.connection = $2 and p.lead_id = l.lead_id
     where l.run_id = $1 and p.lead_id is null order by l.lead_id`,
    [run.id, run.connection, service.baseUrl, service.account],
  );
}

/** What some leads show in the scan. */
export function scannedLeadCells(
  db: Queryable,
  runId: number,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, Cells>> {
  return mapOf(db, `select lead_id, cells from scanned_leads where run_id = $1 and lead_id = any($2)`, [
    runId,
    leadIds,
  ]);
}

/** The leads among these whose id a row has. */
export async function idsInRows(
  db: Queryable,
  runId: number,
  leadIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const text = `select lead_id from scanned_rows where run_id = $1 and lead_id = any($2)`;
  return new Set(await columnOf<string>(db, text, [runId, leadIds]));
}
