import type pg from 'pg';
import type { Cell, Cells, Values } from '../core/lead/value.ts';
import type { FieldMemo } from '../core/merge/merge-field.ts';
import type { MergedPlace } from './seen-pairs.ts';
import type { UnknownLead } from '../core/merge/likeness.ts';
import type { Asked } from './asked-leads.ts';
import { keysOfLead, type Service } from './places.ts';
import type { BaselineRow } from '../core/merge/shifted-rows.ts';
import { columnOf, epochMs, firstOf, mapOf, oneOf, type Queryable, rowsOf } from './database.ts';
import type { AbsenceProof } from './baselines.ts';
import { streamRows } from './stream-rows.ts';
import type { RunRef } from './runs.ts';

/** What a field of a lead was held for, with the values both sides showed then. */
interface HeldMemo extends FieldMemo {
  readonly lead: Cell;
  readonly row: Cell;
}

/** A lead id on which the two sides do not show the same. */
export interface Difference {
  readonly leadId: string;
  readonly base: Values | null;
  readonly lead: Cells | null;
  readonly row: Cells | null;
  readonly rowNumber: number | null;
  readonly leadAbsences: number;
  readonly rowAbsences: number;
  /** What the service answered when it was asked for the lead by its id; null: it was not. */
  readonly asked: Asked | null;
  readonly deletionDone: boolean;
  readonly merged: MergedPlace | null;
  readonly memo: Readonly<Record<string, HeldMemo>> | null;
  /** A further row has the same id. */
  readonly isCopied: boolean;
  /** A person has decided that the row which an undo took away is written again. */
  readonly isWanted: boolean;
}

/**
 * Streams every lead id that needs a decision, in the order of the ids; a pair whose two sides show the same needs
 * none. What is not staged is as in the baseline. Absences count this run's scan where it is proof.
 */
export async function* differences(
  pool: pg.Pool,
  run: RunRef,
  isProof: AbsenceProof,
): AsyncIterable<Difference> {
  // Each record is looked up by its own. The limits keep Postgres, which cannot know how few there are, from joining
  // whole tables.
  yield* streamRows<Difference>(
    pool,
    `select w.lead_id as "leadId", p.base, shown.lead, shown.row, coalesce(t.row_number, p.row_number) as "rowNumber",
       case when shown.lead is not null then 0
         else coalesce(p.lead_absences, 0) + (($3 or $5 and q.answer = 'gone') and p.absence_run is distinct from $1)::int end as "leadAbsences",
       case when shown.row is not null then 0
         else coalesce(p.row_absences, 0) + ($4 and ($6 or m.lead is not true) and p.absence_run is distinct from $1)::int end as "rowAbsences",
       p.lead_deleted_at is not null as "deletionDone", m.merged, h.memo,
       case when q.answer is not null then json_build_object('answer', q.answer, 'message', q.message) end as asked,
       coalesce(h.wanted, false) as "isWanted",
       exists (select from staged_rows where run_id = $1 and lead_id = w.lead_id and duplicate) as "isCopied"
     from (
       select lead_id from staged_leads where run_id = $1
       union select lead_id from staged_rows where run_id = $1 and lead_id is not null and not duplicate and cells is not null
       union select lead_id from absent_pairs where run_id = $1) w
     left join lateral (select * from staged_leads where run_id = $1 and lead_id = w.lead_id limit 1) l on true
     left join lateral (
       select * from staged_rows where run_id = $1 and lead_id = w.lead_id and not duplicate limit 1) t on true
     left join lateral (select * from pairs where connection = $2 and lead_id = w.lead_id limit 1) p on true
     left join lateral (select * from absent_pairs where run_id = $1 and lead_id = w.lead_id limit 1) m on true
     left join lateral (select answer, message from asked_leads where run_id = $1 and lead_id = w.lead_id limit 1) q on true
     cross join lateral (select
       coalesce(l.cells, case when m.lead is not true then p.base end) as lead,
       coalesce(t.cells, case when m.row is not true then p.base end) as row) shown
     left join lateral (select jsonb_object_agg(field, jsonb_build_object('resolution', resolution,
         'refused', code = 'lead.field-refused', 'covered', coalesce(row_value->>'why' = 'merged', false),
         'putBack', case code when 'row.put-back' then 'row' when 'lead.put-back' then 'lead' end, 'lead', lead_value, 'row', row_value)) filter (where field <> '') as memo,
         bool_or(code = 'lead.undone' and resolution is not null) as wanted
       from conflicts where connection = $2 and lead_id = w.lead_id and (field <> '' or code = 'lead.undone')) h on true
     where (l.hash = t.hash) is not true
       -- A lead that was met twice is staged, also as it was.
       and (t.cells is null and m.row is not true and p.base @> l.cells) is not true
     order by w.lead_id`,
    [run.id, run.connection, isProof.leads, isProof.rows, isProof.answers, isProof.rowsAlone],
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

/** A row without lead id. */
interface LooseRow {
  readonly row: number;
  readonly leadId: string | null;
  readonly unreadableId: string | null;
  readonly idClosed: string | null;
  /** It stands apart from the table. */
  readonly isApart: boolean;
  readonly cells: Cells;
  /** The leads whose rows were merged into it, as far as the service has them; null: none. */
  readonly mergedOf: readonly string[] | null;
  /** A person decided to create a lead from it. */
  readonly isWanted: boolean;
}

/** Rows that no lead id names: those without an id and those whose id an earlier row has, in the target's order. */
export async function* looseRows(pool: pg.Pool, run: RunRef): AsyncIterable<LooseRow> {
  yield* streamRows<LooseRow>(
    pool,
    // Of rows that are alike the further ones are held by a number of their own: see `recordPlannedConflicts`.
    `select r.row_number as row, r.lead_id as "leadId", r.unreadable_id as "unreadableId",
       r.id_closed as "idClosed", r.apart and released.cells is null as "isApart", r.cells, merged.leads as "mergedOf",
       own.id is not null as "isWanted"
     from (
       select *, content_hash || case when row_number() over alike > 1 then '#' || row_number() over alike else '' end as own_key
       from staged_rows where run_id = $1 and (lead_id is null or duplicate)
       window alike as (partition by lead_id, content_hash order by ordinal)) r
     left join (
       select (merged->>'row')::bigint as place, array_agg(lead_id order by lead_id) as leads from absent_pairs
       where run_id = $1 and merged is not null and not lead group by 1) merged on merged.place = r.row_number
     -- They gave up their ids so that leads are made of them, wherever they stand.
     left join (
       select distinct expect::jsonb as cells from actions where kind = 'unlink' and reason = 'older-copy' and state = 'done'
         and run_id in (select id from runs where connection = $2 and mode = 'sync' order by id desc limit 2)) released
       on r.apart and released.cells = r.cells::jsonb
     left join conflicts own on own.connection = $2 and own.content_hash = r.own_key and own.lead_id = '' and own.field = ''
       and own.resolution is not null
     order by r.ordinal`,
    [run.id, run.connection],
  );
}

/** The ids in a table, and the first of them; null: none. */
export function idsOfRows(
  db: Queryable,
  runId: number,
): Promise<{ readonly ids: number; readonly row: number; readonly id: string } | null> {
  return firstOf(
    db,
    `select count(*) over ()::int as ids, row_number as row, lead_id as id from staged_rows
     where run_id = $1 and lead_id is not null and not duplicate order by ordinal limit 1`,
    [runId],
  );
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

/** How many leads are known, and how many of them the scan did not show. */
export function missedLeads(
  db: Queryable,
  run: RunRef,
): Promise<{ readonly known: number; readonly missed: number }> {
  return oneOf(
    db,
    `select count(*)::int as known, count(*) filter (where l.lead_id is null)::int as missed from pairs p
     left join scanned_leads l on l.run_id = $1 and l.lead_id = p.lead_id
     where p.connection = $2 and p.lead_deleted_at is null`,
    [run.id, run.connection],
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

interface LooseStagedRow {
  readonly row: number;
  readonly contentHash: string;
  readonly cells: Cells;
  /** Its id cell shows something, and cannot be written to. */
  readonly isUnreadable: boolean;
}

/** All rows without an id, in the target's order. Asked only while a create is unfinished. */
export function looseStagedRows(db: Queryable, runId: number): Promise<readonly LooseStagedRow[]> {
  return rowsOf(
    db,
    `select row_number as row, content_hash as "contentHash", cells, unreadable_id is not null as "isUnreadable" from staged_rows where run_id = $1 and lead_id is null order by ordinal`,
    [runId],
  );
}
