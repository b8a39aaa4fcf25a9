import type pg from 'pg';
import { forgetPlaces } from './places.ts';

/** How many of each were deleted. */
export interface Pruned {
  readonly runs: number;
  readonly actions: number;
  readonly history: number;
  readonly intents: number;
  readonly approvals: number;
  readonly reminders: number;
  readonly digests: number;
  readonly followUps: number;
  readonly earlierValues: number;
  /** Former places, with all that was kept of them. */
  readonly places: number;
  readonly matches: number;
  readonly valueAuthors: number;
  readonly decisions: number;
}

/** For so long it is known at least what a cell showed before. */
const earlierValuesDays = 400;

/** Those that have no id of their own. */
const withoutId: readonly (keyof typeof prunable)[] = [
  'approvals',
  'follow_ups',
  'earlier_values',
  'value_authors',
];

/** So few at a time that a delete is short. */
const defaultBatchSize = 1_000;

/**
 * The oldest run of $1 that ended more than $2 days ago, with all that it did: whole, because half a history would tell,
 * and undo, half the truth. Kept are open runs and those that a later one asks for: the newest finished one of each
 * mode, with and without what a person has chosen (an undo, a reviewed plan), and the newest sync that was carried out,
 * which names the known service. What another process deletes at the same moment is passed over.
 */
const pruneRun = `
  with kept as (
    select max(id) as id from runs where connection = $1 and finished_at is not null group by mode
    union select max(id) from runs where connection = $1 and finished_at is not null and approval is null and undo_of is null group by mode
    union select max(id) from runs where connection = $1 and mode = 'sync' and status in ('succeeded', 'partial')),
  old as materialized (
    select id from runs r where connection = $1 and finished_at < now() - $2 * interval '1 day'
      and not exists (select from kept where kept.id = r.id) order by id limit 1 for update skip locked),
  gone_history as (delete from history where run_id in (select id from old) returning id),
  gone_actions as (delete from actions where run_id in (select id from old) returning id),
  gone_runs as (delete from runs where id in (select id from old) returning id)
  select (select count(*)::int from gone_runs) as runs, (select count(*)::int from gone_actions) as actions,
    (select count(*)::int from gone_history) as history`;

/** The others of which at most $3 are deleted at a time, when they are older than $2 days. */
const prunable = {
  // Of an action that is kept it is told, and undone, what its lead was made of.
  intents: `select id from intents i where connection = $1 and state in ('linked', 'abandoned')
    and attempted_at < now() - $2 * interval '1 day' and not exists (select from actions a where a.id = i.action_id)`,
  approvals: `select ctid as id from approvals p where connection = $1 and created_at < now() - $2 * interval '1 day'
    and not exists (select from runs r where r.connection = $1 and r.approval = p.batch)`,
  // One whose follow-up still stands is kept: it says that the mail was sent, or why not. Of one that was moved away and
  // back it has to be known for as long as a late mail may be sent, which is 30 days at most.
  reminders: `select id from reminders m where connection = $1 and state in ('sent', 'cancelled', 'missed', 'failed')
    and greatest(updated_at, due_at, send_at) < now() - greatest($2, 31) * interval '1 day'
    and not exists (select from pairs p where p.connection = $1 and p.lead_id = m.lead_id and p.lead_deleted_at is null
      and p.base->>$4 = to_char(m.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))`,
  digests: `select id from digests where connection = $1 and state in ('sent', 'skipped', 'missed', 'failed')
    and greatest(updated_at, send_at) < now() - $2 * interval '1 day'`,
  // What people rejected, or an undo took apart, holds while both show the same.
  matches: `select id from matches where connection = $1 and not current and seen_at < now() - $2 * interval '1 day'`,
  // What is no conflict any more is told by the history.
  value_authors: `select ctid as id from value_authors v where connection = $1 and seen_at < now() - $2 * interval '1 day'
    and not exists (select from held h where h.connection = $1 and h.lead_id = v.lead_id and h.field = v.field)`,
  decisions: `select id from decisions where connection = $1 and at < now() - $2 * interval '1 day'`,
  // Of a lead that is gone, when there is no reminder of it either.
  follow_ups: `select ctid as id from follow_ups f where connection = $1 and seen is null
    and not exists (select from pairs p where p.connection = $1 and p.lead_id = f.lead_id)
    and not exists (select from reminders m where m.connection = $1 and m.lead_id = f.lead_id) and $2::int > 0`,
  // An older copy is recognised for longer than the history is kept: a backup of last year is one, too.
  earlier_values: `select ctid as id from earlier_values where connection = $1
    and at < now() - greatest($2, ${earlierValuesDays}) * interval '1 day'`,
} as const;

/**
 * Deletes what is older than `retentionDays` and only there to be looked at, bit by bit, until nothing is left or `stop`
 * aborts. Pairs, what is held and creates that are not finished are kept for good. `followUpField` is the field that
 * reminders follow.
 */
export async function prune(
  pool: pg.Pool,
  { name, retentionDays }: { readonly name: string; readonly retentionDays: number },
  followUpField: string,
  stop: AbortSignal,
  batchSize = defaultBatchSize,
): Promise<Pruned> {
  const runs = await pruneRuns(pool, name, retentionDays, stop);
  const rest = async (table: keyof typeof prunable, more: readonly string[] = []): Promise<number> => {
    const key = withoutId.includes(table) ? 'ctid' : 'id';
    let total = 0;
    for (let deleted = batchSize; deleted >= batchSize && !stop.aborted; total += deleted) {
      const { rowCount } = await pool.query(
        // Materialized: chosen once, whatever way the planner takes.
        `with old as materialized (${prunable[table]} limit $3 for update skip locked)
         delete from ${table} where ${key} in (select id from old)`,
        [name, retentionDays, batchSize, ...more],
      );
      deleted = rowCount ?? 0;
    }
    return total;
  };
  return {
    ...runs,
    intents: await rest('intents'),
    approvals: await rest('approvals'),
    reminders: await rest('reminders', [followUpField]),
    digests: await rest('digests'),
    followUps: await rest('follow_ups'),
    earlierValues: await rest('earlier_values'),
    places: stop.aborted ? 0 : await forgetPlaces(pool, name, retentionDays),
    matches: await rest('matches'),
    valueAuthors: await rest('value_authors'),
    decisions: await rest('decisions'),
  };
}

async function pruneRuns(
  pool: pg.Pool,
  connection: string,
  retentionDays: number,
  stop: AbortSignal,
): Promise<Pick<Pruned, 'runs' | 'actions' | 'history'>> {
  const total = { runs: 0, actions: 0, history: 0 };
  while (!stop.aborted) {
    const { rows } = await pool.query<typeof total>(pruneRun, [connection, retentionDays]);
    const [gone] = rows;
    if (gone === undefined || gone.runs === 0) break;
    total.runs += gone.runs;
    total.actions += gone.actions;
    total.history += gone.history;
  }
  return total;
}
