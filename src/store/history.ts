import type { Author } from '../core/lead/author.ts';
import type { Cell, Cells, Value, Values } from '../core/lead/value.ts';
import type { ActionKind, Changes } from '../core/merge/action.ts';
import { leadAlone, type RunChanges } from '../core/merge/undo.ts';
import type { EditSource } from '../core/merge/requested-edit.ts';
import { isoMs, mapOf, type Queryable, rowsOf, streamRows } from './database.ts';
import { newRowsOf } from './new-rows.ts';
import type { RunRef } from './runs.ts';
import type pg from 'pg';
import { type LiveScan, placeOf } from '../core/merge/live-scan.ts';
import { sentBy } from './intents.ts';

export interface HistoryEntry {
  readonly actionId: number;
  readonly leadId: string;
  readonly changes: Changes;
}

/** SQL: every field that an action wrote. */
export const history = `(
  select a.id + nth * 0.000001 as id, r.connection, a.run_id, a.written_lead as lead_id, c.key as field,
    case when a.kind in ('create-lead', 'update-lead', 'delete-lead') then 'lead' else 'row' end as side,
    (c.value->'base')::jsonb as base, (c.value->'from')::jsonb as before, (c.value->'to')::jsonb as after,
    coalesce(c.value->>'rule', 'lead-edited') as rule,
    case when a.state = 'done' then a.done_at else a.written_at end as at, a.id as action_id, nullif(a.authors->c.key, 'null') as author
  from (select lead_id as written_lead, * from actions where written_to is null
    union all select written_to, * from actions where written_to is not null) a
  join runs r on r.id = a.run_id cross join lateral json_each(a.written) with ordinality c (key, value, nth))`;

/** Drops what was recorded of writes that did not come about. */
export async function forgetWrites(db: Queryable, actionIds: readonly number[]): Promise<void> {
  if (actionIds.length === 0) return;
  await db.query(`update actions set written = null where id = any($1)`, [actionIds]);
}

/**
 * Stores both values of each written field, to recover what a policy overwrote; replaces what these actions had.
 * Recorded before a write is sent, and again with its outcome: a write of unknown outcome leaves what says what may be lost.
 */
export async function recordHistory(db: Queryable, entries: readonly HistoryEntry[]): Promise<void> {
  if (entries.length === 0) return;
  const lines = entries.map((entry) => ({ ...entry, changes: JSON.stringify(entry.changes) }));
  await db.query(
    `update actions a set written = l.changes::json, written_at = now(), written_to = nullif(l."leadId", a.lead_id)
     from json_to_recordset($1::json) as l ("actionId" bigint, "leadId" text, changes text) where a.id = l."actionId"`,
    [JSON.stringify(lines)],
  );
}

/** The last values that a run wrote into one side of some leads; what cannot be read is left out. */
export function valuesWritten(
  db: Queryable,
  run: RunRef,
  leadIds: readonly string[],
  side: 'lead' | 'row',
): Promise<ReadonlyMap<string, Values>> {
  return mapOf(
    db,
    `select lead_id as "leadId", jsonb_object_agg(field, after order by id) filter (where jsonb_typeof(after) <> 'object') as "values"
     from ${history} h where connection = $1 and run_id = $2 and side = $3 and lead_id = any($4) group by 1`,
    [run.connection, run.id, side, leadIds],
  );
}

/** One value that a run wrote, with what led to it. */
export interface FieldWrite {
  readonly run: number;
  /** ISO instant. */
  readonly at: string;
  readonly field: string;
  readonly side: 'lead' | 'row';
  /** The merge's rule; for a whole record that was created, removed or put back, the plan's reason. */
  readonly rule: string;
  /** What both sides last agreed on before; absent when they were never in step. */
  readonly base?: Value;
  /** What each side had before; absent where it is not on record. */
  readonly lead?: Cell;
  readonly row?: Cell;
  readonly written: Cell;
  /** Of the row's value, where the write ended a conflict; null: not known. */
  readonly author: Author | null;
  /** Who requested it outside table and service, and when (ISO instant). */
  readonly requested?: Requested;
}

interface Requested {
  readonly by: string;
  readonly at: string;
  readonly source: EditSource;
}

interface Line {
  readonly run: number;
  readonly at: Date;
  readonly field: string;
  readonly side: 'lead' | 'row';
  readonly rule: string;
  readonly base: Value;
  readonly inStep: boolean;
  readonly before: Cell;
  readonly after: Cell;
  /** Of the action that wrote it; null when it is not kept any more. */
  readonly kind: ActionKind | null;
  readonly reason: string | null;
  /** What the plan wanted to write, when that is known. */
  readonly planned: Cell | null;
  readonly hasPlanned: boolean;
  readonly author: Author | null;
  readonly requested: Requested | null;
}

/**
 * All that runs wrote to a lead and its row, newest first. Created rows, and leads whose create was matched later, have
 * no lines in the history: their actions stand for them.
 */
export async function writesOf(
  db: Queryable,
  connection: string,
  leadId: string,
): Promise<readonly FieldWrite[]> {
  const isOfRuns = `run_id in (select id from runs where connection = $1)`;
  const lines = await rowsOf<Line>(
    db,
    `with mine as materialized (
       select a.id, a.run_id, a.kind, a.reason, a.changes, a.intent_id, a.state, a.done_at from actions a join runs r on r.id = a.run_id
       where r.connection = $1 and a.state in ('done', 'held') and a.done_at is not null
         and a.lead_id = $2
       union all
       select id, run_id, 'create-row', 'new-lead', changes, null, state, done_at
       from ${newRowsOf(`state = 'done' and strpos(body::text, to_json($2::text)::text) > 0 and ${isOfRuns}`)} l where lead_id = $2)
     select h.run_id as run, h.at, h.field, h.side, h.rule, h.base, h.base is not null as "inStep", h.before, h.after,
       m.kind, m.reason, (m.changes->h.field->'to')::jsonb as planned, m.changes->h.field is not null as "hasPlanned", h.author,
       case when e.id is not null then json_build_object('by', e.requested_by, 'at', ${isoMs('e.since')}, 'source', e.source) end as requested,
       h.id as nth
     from ${history} h left join mine m on m.id = h.action_id left join held e on e.action_id = h.action_id
     where h.connection = $1 and h.lead_id = $2
     union all
     select m.run_id, m.done_at, c.key, 'row', coalesce(c.value->>'rule', ''), null, false, null, (c.value->'to')::jsonb,
       m.kind, m.reason, null, false, null, null, m.id
     from mine m, json_each(m.changes) c where m.kind = 'create-row' and m.state = 'done'
     union all
     select m.run_id, m.done_at, c.key, 'lead', '', null, false, null, (c.value->'to')::jsonb, 'create-lead', 'new-row', null, false, null, null, m.id
     from mine m join actions a on a.id = m.intent_id, json_each(a.changes) c
     where m.kind = 'link' and m.state = 'done' and m.reason = 'settled-create' and a.state <> 'done'
     order by at desc, nth desc`,
    [connection, leadId],
  );
  return lines.map(fieldWrite);
}

function fieldWrite(line: Line): FieldWrite {
  const { run, at, field, side, base, before, after, author, requested } = line;
  const rule = ruleOf(line);
  const known = {
    run,
    at: at.toISOString(),
    field,
    side,
    rule,
    ...(line.inStep && { base }),
    written: after,
    author,
    ...(requested !== null && { requested }),
  };
  // What is put back, or written to the lead alone, is no value that the other side has.
  if (rule === 'undone' || rule === 'reopened' || leadAlone.includes(rule))
    return { ...known, [side]: before };
  const wanted = line.hasPlanned ? line.planned : after;
  if (side === 'lead') return { ...known, lead: before, row: line.kind === 'delete-lead' ? null : wanted };
  return { ...known, lead: line.kind === 'remove-row' ? null : after, row: before };
}

const wholeRecordKinds: readonly (ActionKind | null)[] = [
  'create-row',
  'create-lead',
  'remove-row',
  'delete-lead',
];

function ruleOf({ kind, reason, rule }: Line): string {
  const byReason = wholeRecordKinds.includes(kind) || reason === 'stored-otherwise' || reason === 'created';
  return byReason && reason !== null ? reason : rule;
}

/** That a run joined a row and a lead that were there already. */
export interface Joined {
  readonly run: number;
  /** ISO instant. */
  readonly at: string;
  /** How it was known. */
  readonly message: string;
}

export function joinsOf(db: Queryable, connection: string, leadId: string): Promise<readonly Joined[]> {
  return rowsOf(
    db,
    `select a.run_id as run, ${isoMs('a.done_at')} as at, coalesce(a.message, a.reason) as message from actions a join runs r on r.id = a.run_id
     where r.connection = $1 and a.lead_id = $2 and a.state = 'done' and a.kind = 'link' and a.reason = 'matched' order by a.id desc`,
    [connection, leadId],
  );
}

/** That a run deleted a lead, or marked or removed the row of a lead that was deleted. */
export interface Deletion {
  readonly run: number;
  /** ISO instant. */
  readonly at: string;
  readonly kind: 'delete-lead' | 'mark-row' | 'remove-row';
  readonly reason: string;
}

export function deletionsOf(db: Queryable, connection: string, leadId: string): Promise<readonly Deletion[]> {
  return rowsOf(
    db,
    `select a.run_id as run, ${isoMs('a.done_at')} as at, a.kind, a.reason from actions a join runs r on r.id = a.run_id
     where r.connection = $1 and a.lead_id = $2 and a.state = 'done' and a.kind in ('delete-lead', 'mark-row', 'remove-row')
     order by a.id desc`,
    [connection, leadId],
  );
}

/** What a run did to one lead and its row, beside what both show in the scan of the run that is to put it back. */
export interface ShownRunChanges extends RunChanges {
  readonly lead: Cells | null;
  readonly row: Cells | null;
  readonly rowNumber: number | null;
  readonly isPaused: boolean;
}

/**
 * Streams what the run `undoOf` did, lead by lead in the order of their ids, with what a scan shows. What
 * other runs did since is included; what an earlier undo of the same run did is not: this undo continues it.
 */
export async function* shownRunChanges(
  pool: pg.Pool,
  scan: LiveScan,
  { undoOf, connection }: { readonly undoOf: number; readonly connection: string },
): AsyncIterable<ShownRunChanges> {
  const all = streamRows<
    Omit<ShownRunChanges, 'lead' | 'row' | 'rowNumber' | 'isPaused'> & { readonly base: Values | null }
  >(
    pool,
    // A mark that had no column to go to is none.
    `with those as (
       select id from runs where id = $1 or connection = $2 and id > $1 and undo_of is distinct from $1),
     done as (
       select run_id, lead_id, kind, expect, changes from actions
       where state = 'done' and lead_id is not null and (kind in ('create-row', 'remove-row', 'mark-row', 'delete-lead', 'unlink') or kind = 'link' and reason = 'matched')
         and outcome_code is distinct from 'target.no-status-column' and run_id in (select id from those)
       union all
       select run_id, lead_id, 'create-row', '{}', changes from ${newRowsOf(`state = 'done' and run_id in (select id from those)`)} l),
     mine as (
       select lead_id, bool_or(kind = 'mark-row') as row_marked,
         (array_agg(${sentBy('changes')})
           filter (where kind = 'create-row'))[1] as row_made,
         (array_agg(expect) filter (where kind = 'remove-row'))[1] as row_removed,
         (array_agg(expect) filter (where kind = 'link'))[1] as row_matched,
         (array_agg(expect) filter (where kind = 'delete-lead'))[1] as lead_deleted
       from done where run_id = $1 group by 1),
     since as (select lead_id, max(run_id) as run from done where run_id <> $1 group by 1),
     made as (
       select lead_id, ${sentBy('changes')} as content, expect from actions
       where run_id = $1 and intent is not null and lead_id is not null),
     written as (
       select f.lead_id, jsonb_agg(jsonb_build_object('side', f.side, 'field', f.field, 'before', f.before, 'after', f.after,
           'rule', f.rule, 'later', later.run)
         || case when f.base is null then '{}' else jsonb_build_object('base', f.base) end
         || case when a.changes->f.field is null then '{}' else jsonb_build_object('wanted', (a.changes->f.field->'to')::jsonb) end
         order by f.first) as list
       from (select lead_id, side, field, min(id) as first, (array_agg(before order by id))[1] as before,
               (array_agg(after order by id desc))[1] as after, (array_agg(base order by id))[1] as base,
               (array_agg(rule order by id))[1] as rule, max(action_id) as action_id
             from ${history} h where run_id = $1 group by 1, 2, 3) f
       left join lateral (
         select max(h.run_id) as run from ${history} h join runs r on r.id = h.run_id
         where h.connection = $2 and h.lead_id = f.lead_id and h.field = f.field and h.run_id > $1
           and (f.rule <> all($3) or h.side = 'lead') and r.undo_of is distinct from $1) later on true
       left join actions a on a.id = f.action_id and a.kind = 'update-lead'
       group by f.lead_id)
     select k.lead_id as "leadId", p.base,
       coalesce(w.list, '[]') as written, m.content as "leadMade", m.expect as "rowLinked", since.run as later,
       mine.row_made as "rowMade", mine.row_removed as "rowRemoved", mine.lead_deleted as "leadDeleted", mine.row_matched as "rowMatched",
       coalesce(mine.row_marked, false) as "rowMarked"
     from (select lead_id from mine union select lead_id from made union select lead_id from written) k
     left join mine using (lead_id)
     left join since using (lead_id)
     left join made m using (lead_id)
     left join written w using (lead_id)
     left join pairs p on p.connection = $2 and p.lead_id = k.lead_id
     order by k.lead_id`,
    [undoOf, connection, leadAlone],
  );
  for await (const { base, ...changes } of all) {
    const { leadId } = changes;
    const lead = scan.hasLead(leadId) ? (scan.lead(leadId) ?? base) : null;
    const row = scan.hasRow(leadId) ? (scan.row(leadId)?.cells ?? base) : null;
    const isPaused = scan.isPaused(leadId);
    yield { ...changes, lead, row, rowNumber: row && placeOf(scan, leadId), isPaused };
  }
}
