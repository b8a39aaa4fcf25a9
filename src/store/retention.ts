import type pg from 'pg';

/** How many of each were deleted. */
export interface Pruned {
  readonly history: number;
  readonly actions: number;
  readonly runs: number;
  readonly intents: number;
  readonly reminders: number;
}

/** So few at a time that a delete is short and holds up no sync. */
const defaultBatchSize = 1_000;

/** Runs that are open or that a later one asks for: the newest of each mode, and the sync that names the known service. */
const keptRuns = `select id from runs where connection = $1 and finished_at is null
  union select max(id) from runs where connection = $1 and finished_at is not null group by mode
  union select max(id) from runs where connection = $1 and mode = 'sync' and status in ('succeeded', 'partial') having count(*) > 0`;

/**
 * What may be deleted of each table, at most $3 rows that are older than $2 days. Nothing of it decides anything any
 * more: pairs, what is held, and creates that are not finished are kept for good. What another process is deleting at
 * the same moment is passed over.
 */
const prunable: Readonly<Record<keyof Pruned, string>> = {
  // Of a run that is kept all of it is kept: half a history would tell half the truth.
  history: `select id from history where connection = $1 and at < now() - $2 * interval '1 day'
    and run_id not in (${keptRuns}) order by at limit $3 for update skip locked`,
  // Before their runs, which would take all of theirs with them at once.
  actions: `select a.id from actions a join runs r on r.id = a.run_id
    where r.connection = $1 and r.finished_at < now() - $2 * interval '1 day' and r.id not in (${keptRuns})
    limit $3 for update of a skip locked`,
  runs: `select id from runs r where connection = $1 and finished_at < now() - $2 * interval '1 day' and id not in (${keptRuns})
    and not exists (select from actions where run_id = r.id) limit $3 for update skip locked`,
  // An open run asks whether its action has a create already.
  intents: `select id from intents i where connection = $1 and state in ('linked', 'abandoned')
    and attempted_at < now() - $2 * interval '1 day'
    and not exists (select from actions a join runs r on r.id = a.run_id where a.id = i.action_id and r.finished_at is null)
    limit $3 for update skip locked`,
  // One whose follow-up still stands is kept: it says that the mail was sent, or why not.
  reminders: `select id from reminders m where connection = $1 and state in ('sent', 'cancelled', 'missed', 'failed')
    and greatest(updated_at, due_at) < now() - $2 * interval '1 day'
    and not exists (select from pairs p where p.connection = $1 and p.lead_id = m.lead_id and p.lead_deleted_at is null
      and p.base->>$4 = to_char(m.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    limit $3 for update skip locked`,
};

/**
 * Deletes what is older than `retentionDays` and only there to be looked at, batch by batch, until nothing is left or
 * `stop` aborts. `followUpField` is the field that reminders follow.
 */
export async function prune(
  pool: pg.Pool,
  connection: { readonly name: string; readonly retentionDays: number },
  followUpField: string,
  stop: AbortSignal,
  batchSize = defaultBatchSize,
): Promise<Pruned> {
  const pruned: Record<keyof Pruned, number> = { history: 0, actions: 0, runs: 0, intents: 0, reminders: 0 };
  const kinds = ['history', 'actions', 'runs', 'intents', 'reminders'] as const;
  for (const kind of kinds) {
    const values = [connection.name, connection.retentionDays, batchSize];
    for (let deleted = batchSize; deleted >= batchSize && !stop.aborted; ) {
      const { rowCount } = await pool.query(
        // Materialized: chosen once, whatever way the planner takes.
        `with old as materialized (${prunable[kind]}) delete from ${kind} where id in (select id from old)`,
        kind === 'reminders' ? [...values, followUpField] : values,
      );
      deleted = rowCount ?? 0;
      pruned[kind] += deleted;
    }
  }
  return pruned;
}
