import type pg from 'pg';
import type { AuditConditions, AuditedAction, AuditedRecord } from '../core/audit/audit.ts';
import { valueHash } from '../core/lead/content-hash.ts';
import type { Cells, Values } from '../core/lead/value.ts';
import type { Changes } from '../core/merge/action.ts';
import { oneOf, type Queryable } from './database.ts';
import { isUnsettled } from './intents.ts';
import { type NewRow, newRowsToWrite } from './new-rows.ts';
import { streamRows } from './stream-rows.ts';
import type { RoundRef, Run, RunRef } from './runs.ts';

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
