import type { Cells, Values } from '../core/lead/value.ts';
import { batchesBySize } from '../core/lead/text-size.ts';
import { isEqual, type LeadCheckpoint, type LiveScan, placeOf } from '../core/merge/live-scan.ts';
import {
  type ActOfRow,
  type ConflictFact,
  inStep,
  type RowStanding,
  RowStandings,
  type ScannedRow,
} from '../core/merge/row-status.ts';
import { mapOf, oneOf, type Queryable, rowsOf, streamRows } from './database.ts';
import type { RoundRef, Run, RunRef } from './runs.ts';
import type pg from 'pg';
import type { AuditConditions, AuditedAction, AuditedRecord } from '../core/audit/audit.ts';
import { valueHash } from '../core/lead/content-hash.ts';
import type { Changes } from '../core/merge/action.ts';
import { isUnsettled } from './intents.ts';
import { type NewRow, newRowsToWrite } from './new-rows.ts';

export async function logLeads(
  db: Queryable,
  runId: number,
  { asBase, cursors, leads, asked }: LeadCheckpoint,
): Promise<void> {
  await db.query(
    `insert into run_sights (run_id, as_base, cursors, listed, asked) values ($1, $2, $3, $4, $5)`,
    [runId, asBase.flat(), cursors, leads, JSON.stringify(asked)],
  );
}

/** Takes up the scan of the leads where an earlier process left it. */
export async function takeUpLeads(db: Queryable, runId: number, scan: LiveScan): Promise<void> {
  const lines = await rowsOf<Pick<LeadCheckpoint, 'cursors' | 'asked'> & { id: number; asBase: string[] }>(
    db,
    `select id, as_base as "asBase", cursors, asked from run_sights where run_id = $1 and cursors is not null order by id`,
    [runId],
  );
  const checkpoints = lines.map(({ asBase, ...line }) => ({
    ...line,
    asBase: asBase.flatMap((id, nth) =>
      nth % 2 === 0 ? [[Number(id), Number(asBase[nth + 1])] as const] : [],
    ),
  }));
  scan.takeUpLeads(checkpoints);
  for (const { id } of lines)
    scan.takeUpOthers(await oneOf(db, `select listed as leads from run_sights where id = $1`, [id]));
}

/**
 * Stores what a scan found that differs, when it is planned: at its end the run compares it with what it did. Without what both
 * sides show, and new leads of which nothing else is known.
 */
export async function storeSights(db: Queryable, runId: number, scan: LiveScan): Promise<void> {
  const leads = function* () {
    for (const leadId of scan.differing()) {
      if (scan.isPaused(leadId)) continue;
      const [lead, row] = [scan.lead(leadId), scan.row(leadId)];
      if (isEqual(scan, lead, row)) continue;
      const isMissed = { isLeadMissed: !scan.hasLead(leadId), isRowMissed: !scan.hasRow(leadId) };
      yield { leadId, row: placeOf(scan, leadId), lead, cells: row?.cells ?? null, ...isMissed };
    }
  };
  await insert(
    db,
    runId,
    `insert into run_sights (run_id, leads, first_lead, last_lead)
     select $1, $2, min(one->>'leadId' collate "C"), max(one->>'leadId' collate "C") from json_array_elements($2) one`,
    leads(),
  );
  await insert(db, runId, 'insert into run_sights (run_id, rows) values ($1, $2)', scan.rows.loose());
}

/**
 * Stores the rows whose status cells may need a change, when they are planned: those that do not show their baselines with the usual
 * text, and those of leads that the list lacks. Of paused rows no status is shown, so that none is written.
 */
export async function storeStatuses(db: Queryable, runId: number, scan: LiveScan): Promise<void> {
  const lines = function* () {
    for (const leadId of scan.rows.ids()) {
      const { hash: _hash, status, paused, ...row } = scan.row(leadId) ?? { status: null };
      const shown = paused === true ? null : status;
      yield { ...row, shown, leadId, isCopy: false, isListed: scan.hasLead(leadId) };
    }
    for (const { ordinal, row, cells, status, isPaused, leadId } of scan.rows.loose()) {
      const shown = isPaused === true ? null : status;
      const isCopy = leadId !== null;
      yield { ordinal, row, cells, shown, leadId, isCopy, isListed: isCopy && scan.hasLead(leadId) };
    }
    for (const { leadId, lead, row } of scan.absent()) {
      if (!lead || row || scan.row(leadId) !== null) continue;
      const place = placeOf(scan, leadId);
      yield { ordinal: place, row: place, shown: inStep, leadId, isCopy: false, isListed: false };
    }
  };
  await insert(db, runId, 'insert into run_sights (run_id, statuses) values ($1, $2)', lines());
}

const storedTogether = 500;

/** `text`: of a run ($1) and of many of these records ($2). */
async function insert(db: Queryable, runId: number, text: string, all: Iterable<object>): Promise<void> {
  for (const some of batchesBySize(all, () => storedTogether))
    await db.query(text, [runId, JSON.stringify(some)]);
}

/** SQL: which of `run_sights s` may have one of these leads (an array, SQL as well): only those are taken apart. */
export const mayHaveOf = (leadIds: string): string =>
  `exists (select from unnest(${leadIds}) w (id) where w.id between s.first_lead and s.last_lead)`;

/** What some leads showed in the scan of a run, once it is planned; of those that showed their baselines, what these are now. */
export function sightedLeads(
  db: Queryable,
  run: RunRef,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, Cells>> {
  return mapOf(
    db,
    `with sighted as materialized (
       select l.* from run_sights s
       cross join lateral json_to_recordset(s.leads) as l ("leadId" text, lead jsonb, "isLeadMissed" boolean)
       where s.run_id = $1 and ${mayHaveOf('$3::text[]')} and l."leadId" = any($3))
     select w.id, coalesce(s.lead, p.base) from unnest($3::text[]) w (id)
     left join sighted s on s."leadId" = w.id left join pairs p on p.connection = $2 and p.lead_id = w.id
     where s."isLeadMissed" is not true and coalesce(s.lead, p.base) is not null`,
    [run.id, run.connection, leadIds],
  );
}

/**
 * Streams, in the target's order, the rows whose status cell may need a change: all except those that show the usual text and have
 * nothing to report, or that the round marked, removed, linked or gave back.
 */
export async function* rowStandings(
  pool: pg.Pool,
  run: Pick<Run, 'id' | 'round' | 'connection' | 'scanIncomplete'>,
): AsyncIterable<RowStanding> {
  const acts = await rowsOf<ActOfRow>(
    pool,
    `select kind, lead_id as "leadId", row_number as row, content_hash as "contentHash", state, coalesce(outcome_code, reason) as code
     from actions where run_id = $1 and round = $2 order by id`,
    [run.id, run.round],
  );
  const standings = new RowStandings(acts, await conflictsOfLeads(pool, run.connection), run.scanIncomplete);
  const rows = streamRows<ScannedRow>(
    pool,
    `with lines as materialized (
       select l.* from run_sights s cross join lateral json_to_recordset(s.statuses) as l ("leadId" text, cells jsonb, shown text,
         "isCopy" boolean, "row" bigint, ordinal bigint, "isListed" boolean) where s.run_id = $1)
     select r."leadId", coalesce(r.cells, p.base) as cells, r.shown, r."isCopy", r."row", r."isListed",
       p.outside_since is not null as "isOutside", to_char(p.lead_deleted_at at time zone 'UTC', 'YYYY-MM-DD') as "deletedOn"
     from (
       select * from lines where shown is not null
       union all
       -- Rows that are as in the baseline show the usual text.
       select lead_id, null, $3, false, row_number, row_number, true from pairs
       where connection = $2 and lead_id = any($4)
         and lead_id not in (select "leadId" from lines where "leadId" is not null and not "isCopy")
         and lead_id not in (
           select l."leadId" from run_sights s cross join lateral json_to_recordset(s.leads) as l ("leadId" text, "isRowMissed" boolean)
           where s.run_id = $1 and l."isRowMissed")) r
     left join pairs p on p.connection = $2 and p.lead_id = r."leadId"
     order by r.ordinal`,
    [run.id, run.connection, inStep, standings.told],
  );
  for await (const row of rows) {
    const standing = standings.of(row);
    if (standing !== null) yield standing;
  }
}

/** What is held for leads; null: for all. */
export async function conflictsOfLeads(
  db: pg.Pool,
  connection: string,
  leadIds: readonly string[] | null = null,
): Promise<ReadonlyMap<string, readonly ConflictFact[]>> {
  const rows = await rowsOf<ConflictFact & { leadId: string }>(
    db,
    `select lead_id as "leadId", field, code from held
     where kind = 'conflict' and connection = $1 and lead_id <> '' and ($2::text[] is null or lead_id = any($2)) and content_hash = '' order by id`,
    [connection, leadIds],
  );
  return Map.groupBy(rows, ({ leadId }) => leadId);
}

type StoredAction = Omit<AuditedAction, 'to'> & { readonly changes: Changes };

interface StoredRecord extends Omit<AuditedRecord, 'actions' | 'held' | 'moved' | 'lead' | 'cells'> {
  /** Null: as in the baseline. */
  readonly lead: Cells | null;
  readonly cells: Cells | null;
  readonly isLeadMissed: boolean;
  readonly isRowMissed: boolean;
  readonly actions: readonly StoredAction[] | null;
  readonly held: readonly string[] | null;
  /** What baselines have left behind since the scan was begun. */
  readonly moved: readonly { readonly field: string; readonly hash: string }[] | null;
}

const actionsWhere = (condition: string): string =>
  `json_agg(json_build_object('kind', kind, 'state', state, 'reason', reason, 'changes', changes,
     'expect', case when kind = 'link' then expect else '{}' end, 'isDoubted', coalesce(receipt <> 'equal', false)) order by id) as actions
   from actions where run_id = $1 and round = $2 and ${condition}`;

/**
 * Streams what the last round of a run left: first leads of which a side is not as in the baseline, or of which the run
 * decided something, then rows without an id, and new leads whose rows were not written. Nothing of records in step.
 */
export async function* auditRecords(
  pool: pg.Pool,
  run: RunRef & RoundRef & Pick<Run, 'mode'>,
): AsyncIterable<AuditedRecord> {
  // A plan stores no conflicts: those that are there are of the last sync.
  const values = [run.id, run.round, run.connection, run.mode !== 'plan'];
  const ofLeads = streamRows<StoredRecord>(
    pool,
    // Each record is looked up by its own.
    `with sighted as materialized (
       select l.* from run_sights s cross join lateral json_to_recordset(s.leads) as l ("leadId" text, "row" bigint, lead jsonb, cells jsonb,
         "isLeadMissed" boolean, "isRowMissed" boolean) where s.run_id = $1),
     acted as (
       select distinct lead_id from actions a where run_id = $1 and round = $2 and lead_id is not null and kind not in ('hold', 'create-lead')
         and not exists (select from sighted where "leadId" = a.lead_id))
     select w."leadId", coalesce(w."row", p.row_number) as row, p.base, w.lead, w.cells, coalesce(w."isLeadMissed", p.lead_id is null) as "isLeadMissed",
       coalesce(w."isRowMissed", p.lead_id is null) as "isRowMissed", a.actions,
       (select json_agg(field) from held where $4 and kind = 'conflict' and connection = $3 and lead_id = w."leadId" and content_hash not like 'duplicate:%') as held,
       (select json_agg(json_build_object('field', field, 'hash', hash)) from earlier_values where connection = $3 and lead_id = w."leadId"
         and at >= (select scan_started_at from runs where id = $1)) as moved,
       coalesce(p.lead_absences >= 2, false) as "isLeadGone", p.lead_deleted_at is not null as "isDeletionDone", false as "isApart"
     from (select * from sighted union all select lead_id, null, null, null, null, null from acted) w
     left join lateral (select * from pairs where connection = $3 and lead_id = w."leadId" limit 1) p on true
     cross join lateral (select ${actionsWhere(`lead_id = w."leadId" and kind <> 'create-lead'`)}) a
     order by w."leadId"`,
    values,
  );
  for await (const stored of ofLeads) yield asAudited(stored);
  const ofRows = streamRows<StoredRecord>(
    pool,
    // Each table is read once: neither actions nor conflicts can be looked up by a row.
    `with acts as materialized (
       select row_number, ${actionsWhere(`row_number is not null and (lead_id is null or kind in ('hold', 'link', 'create-lead'))`)} group by 1),
     held as materialized (
       select row_number, lead_id, split_part(content_hash, '#', 1) as content, field from held
       where $4 and kind = 'conflict' and connection = $3),
     held_there as materialized (
       select row_number, array_agg(field) as fields from held where row_number is not null group by 1),
     held_alike as materialized (select content, array_agg(field) as fields from held where lead_id = '' group by 1)
     select null as "leadId", r.row, null as base, null as lead, r.cells, true as "isLeadMissed", false as "isRowMissed",
       a.actions, t.fields || c.fields as held,
       null as moved, false as "isLeadGone", false as "isDeletionDone", r."isApart", coalesce(r."isPaused", false) as "isPaused"
     from run_sights s cross join lateral json_to_recordset(s.rows) as r (ordinal int, "row" bigint, cells jsonb, "contentHash" text, "isApart" boolean, "isPaused" boolean)
     left join acts a on a.row_number = r.row left join held_there t on t.row_number = r.row
     left join held_alike c on c.content = r."contentHash"
     where s.run_id = $1 order by r.ordinal`,
    values,
  );
  for await (const stored of ofRows) yield asAudited(stored);
  for await (const { body } of newRowsToWrite(pool, run))
    for (const line of body) if (line !== null) yield unwritten(line);
}

function unwritten([leadId, lead]: NewRow): AuditedRecord {
  const action = {
    kind: 'create-row',
    state: 'planned',
    reason: 'new-lead',
    to: {},
    expect: {},
    isDoubted: false,
  };
  const none = new Set<string>();
  return {
    leadId,
    row: null,
    base: null,
    moved: none,
    lead,
    cells: null,
    actions: [action],
    held: none,
    isLeadGone: false,
    isDeletionDone: false,
    isApart: false,
  };
}

function asAudited({ lead, cells, isLeadMissed, isRowMissed, ...stored }: StoredRecord): AuditedRecord {
  const actions = (stored.actions ?? []).map(({ changes, ...action }) => ({
    ...action,
    to: written(changes),
  }));
  const left = (stored.moved ?? []).filter(
    ({ field, hash }) => hash !== valueHash(stored.base?.[field] ?? null),
  );
  const moved = new Set(left.map(({ field }) => field));
  // A new lead that was stored with others: its row was to show what it shows.
  const paged = stored.base === null ? actions.find(({ kind }) => kind === 'create-row')?.to : undefined;
  const asAgreed = asBefore(stored.base, moved);
  return {
    ...stored,
    actions,
    moved,
    held: new Set(stored.held),
    lead: lead ?? (isLeadMissed ? (paged ?? null) : asAgreed),
    cells: cells ?? (isRowMissed ? null : asAgreed),
  };
}

function written(changes: Changes): Cells {
  return Object.fromEntries(Object.entries(changes).map(([field, { to }]) => [field, to]));
}

/** A side that showed its baseline when it was read: where that has moved since, it shows something that is not known any more. */
function asBefore(base: Values | null, moved: ReadonlySet<string>): Cells | null {
  if (base === null || moved.size === 0) return base;
  const before = { unreadable: '(what both sides agreed on before)' };
  return Object.fromEntries(
    Object.entries(base).map(([field, value]) => [field, moved.has(field) ? before : value]),
  );
}

/** Of the conditions of a run what is stored of it and its connection. */
export function auditedConditions(
  db: Queryable,
  run: RunRef & RoundRef,
): Promise<
  Pick<
    AuditConditions,
    'holdsNew' | 'holdsStrays' | 'holdsMatches' | 'holdsOldRows' | 'isInDoubt' | 'pausesStrays'
  >
> {
  return oneOf(
    db,
    `select exists (select from actions where connection = $3 and ${isUnsettled}) as "isInDoubt",
       exists (select from run_sights s cross join lateral json_to_recordset(s.rows) as r ("isPaused" boolean) where s.run_id = $1 and r."isPaused") as "pausesStrays",
       coalesce(bool_or(reason in ('row.id-unreadable', 'row.id-lost', 'row.id-moved', 'row.orphan', 'lead.unasked', 'row.duplicate-id')), false) as "holdsStrays",
       coalesce(bool_or(reason = 'row.column-missing'), false) as "holdsNew",
       coalesce(bool_or(reason like 'match.%'), false) as "holdsMatches", coalesce(bool_or(reason = 'row.put-back'), false) as "holdsOldRows"
     from actions where run_id = $1 and round = $2 and kind = 'hold'`,
    [run.id, run.round, run.connection],
  );
}
