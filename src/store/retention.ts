import type pg from 'pg';
import { deleteInBatches, usualBatchSize } from './delete-batches.ts';
import { isUnsettled } from './intents.ts';
import { forgetPlaces } from './places.ts';
import { isWhole } from './runs.ts';

/** How many of each were deleted. */
export interface Pruned {
  readonly runs: number;
  readonly actions: number;
  readonly mails: number;
  readonly followUps: number;
  readonly earlierValues: number;
  /** Former places, with all that was kept of them. */
  readonly places: number;
  readonly held: number;
}

/** How long at least earlier values of a cell are known. */
const earlierValuesDays = 400;

/** Those that have no id of their own. */
const withoutId: readonly (keyof typeof prunable)[] = ['follow_ups', 'earlier_values'];

/** The key of runs that wait to be deleted: no query finds them, and no undo. */
const prunedKey = (connection: string): string => `${connection}#pruned`;

/**
 * Moves all runs of $1 that ended more than $2 days ago to $3, where no query finds them: whole runs, because an undo of half
 * a history would put back half. Kept are open runs and those that later runs read: the newest finished one of each mode,
 * also without undos and reviewed plans, and the newest sync that wrote, which names the known service. Rows locked by
 * another process are skipped.
 */
const takeOldRuns = `
  with kept as (
    select max(id) as id from runs where connection = $1 and finished_at is not null group by mode
    union select max(id) from runs where connection = $1 and finished_at is not null and ${isWhole} group by mode
    union select max(id) from runs where connection = $1 and mode = 'sync' and status in ('succeeded', 'partial')),
  old as materialized (
    select id from runs r where connection = $1 and finished_at < now() - $2 * interval '1 day'
      and not exists (select from kept where kept.id = r.id) for update skip locked)
  update runs set connection = $3 where id in (select id from old)`;

/** The others of $1, when they are older than $2 days. */
const prunable = {
  // One whose follow-up still stands is kept: it says that the mail was sent, or why not. Of one that was moved away and
  // back it has to be known for as long as a late mail may be sent, which is 30 days at most.
  mails: `select id from mails t where connection = $1 and state not in ('scheduled', 'sending')
    and greatest(updated_at, due_at, send_at) < now() - case kind when 'digest' then $2 else greatest($2, 31) end * interval '1 day'
    and not exists (select from pairs p where p.connection = $1 and p.lead_id = t.lead_id and p.lead_deleted_at is null
      and left(p.base->>$3, 16) = to_char(t.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI'))`,
  // A rejected or undone match holds while both sides are unchanged, a refused create while a row shows its content.
  held: `select id from held t where connection = $1 and coalesce(settled_at, since) < now() - $2 * interval '1 day' and case kind
    when 'match' then not current when 'edit' then state in ('applied', 'unchanged', 'superseded') else kind in ('decision', 'refused') end`,
  // For a deleted lead without reminders.
  follow_ups: `select ctid as id from follow_ups t where connection = $1 and seen is null
    and not exists (select from pairs p where p.connection = $1 and p.lead_id = t.lead_id)
    and not exists (select from mails m where m.connection = $1 and m.lead_id = t.lead_id and m.kind <> 'digest') and $2::int > 0`,
  // An older copy is recognised for longer than the history is kept: a backup of last year is one, too.
  earlier_values: `select ctid as id from earlier_values t where connection = $1
    and at < now() - greatest($2, ${earlierValuesDays}) * interval '1 day'`,
} as const;

/**
 * Deletes records older than `retentionDays` that serve only as history, in small statements, until none is left or `stop`
 * aborts. Pairs, conflicts and unfinished creates are never deleted. `followUpField`: the field that reminders follow.
 */
export async function prune(
  pool: pg.Pool,
  { name, retentionDays }: { readonly name: string; readonly retentionDays: number },
  followUpField: string,
  stop: AbortSignal,
  batchSize = usualBatchSize,
): Promise<Pruned> {
  const runs = await pruneRuns(pool, name, retentionDays, stop, batchSize);
  const rest = (table: keyof typeof prunable, more: readonly string[] = []): Promise<number> => {
    const key = withoutId.includes(table) ? 'ctid' : 'id';
    const chosen = { table, key, old: prunable[table] } as const;
    return deleteInBatches(pool, chosen, [name, retentionDays, ...more], stop, batchSize);
  };
  return {
    ...runs,
    mails: await rest('mails', [followUpField]),
    followUps: await rest('follow_ups'),
    earlierValues: await rest('earlier_values'),
    places: await forgetPlaces(pool, name, retentionDays, stop),
    held: await rest('held'),
  };
}

async function pruneRuns(
  pool: pg.Pool,
  connection: string,
  retentionDays: number,
  stop: AbortSignal,
  batchSize: number,
): Promise<Pick<Pruned, 'runs' | 'actions'>> {
  const key = prunedKey(connection);
  if (!stop.aborted) await pool.query(takeOldRuns, [connection, retentionDays, key]);
  const oldActions = `select t.id from runs r join actions t on t.run_id = r.id where r.connection = $1 and (${isUnsettled}) is not true`;
  const ofRuns = { table: 'actions', key: 'id', old: oldActions } as const;
  const actions = await deleteInBatches(pool, ofRuns, [key], stop, batchSize);
  const old = `select t.id from runs t where connection = $1 and not exists (select from actions where run_id = t.id)`;
  return { runs: await deleteInBatches(pool, { table: 'runs', key: 'id', old }, [key], stop), actions };
}
