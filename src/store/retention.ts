import type pg from 'pg';
import { columnOf, countOf, deleteInBatches, type Queryable, usualBatchSize } from './database.ts';
import { isUnsettled } from './intents.ts';
import { forgetPlaces, tablesOfPlaces } from './places.ts';
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

/** The rows of a connection are found by its own keys ($1, see places.ts), or by its runs. */
const ofKeys = 't.connection = any($1)';
const ofRuns = 't.run_id in (select id from runs where connection = any($1))';

const tablesOfRuns = ['run_sights', 'actions'] as const;
const tablesOfKeys = [
  ...tablesOfPlaces.filter((table) => table !== 'actions'),
  'mails',
  'follow_ups',
  'calendar_entries',
  'calendars',
  'alerts',
  // Last: by these a connection is found again when the others are not all gone yet.
  'runs',
  'places',
  'connections',
] as const;

/** A digest is a person's, of all connections: another one must not send a second one of the day. */
const isOld = `(kind <> 'digest' or local_date < current_date - 2)`;

/** The tables that hold anything of a connection, in the order in which they are emptied, and which rows are its own. */
export const ownedTables: readonly (readonly [table: string, where: string])[] = [
  ...tablesOfRuns.map((table) => [table, ofRuns] as const),
  ...tablesOfKeys.map((table) => [table, table === 'mails' ? `${ofKeys} and ${isOld}` : ofKeys] as const),
];

export interface KeptRows {
  readonly table: string;
  readonly rows: number;
}

/** What is kept of a connection, and of its former places: tables with rows alone. */
export async function countKept(db: Queryable, connection: string): Promise<readonly KeptRows[]> {
  const keys = await keysOf(db, connection);
  const counts: KeptRows[] = [];
  for (const [table, where] of ownedTables) {
    const rows = await countOf(db, `from ${table} t where ${where}`, [keys]);
    if (rows > 0) counts.push({ table, rows });
  }
  return counts;
}

/**
 * Deletes a connection's data, also of its former places, in small statements; after `stop` the next call deletes the rest.
 * The caller ensures that no process syncs it. Returns the number of deleted rows by table.
 */
export async function forgetConnection(
  pool: pg.Pool,
  connection: string,
  stop: AbortSignal,
): Promise<readonly KeptRows[]> {
  const keys = await keysOf(pool, connection);
  const deleted: KeptRows[] = [];
  for (const [table, where] of ownedTables) {
    const old = `select t.ctid from ${table} t where ${where}`;
    const rows = await deleteInBatches(pool, { table, key: 'ctid', old }, [keys], stop);
    if (rows > 0) deleted.push({ table, rows });
  }
  return deleted;
}

/** Deletes the digests that `forgetConnection` had to leave, once their days are over, of connections not `configured` any more. */
export async function forgetOldDigests(db: Queryable, configured: readonly string[]): Promise<void> {
  await db.query(
    `delete from mails where kind = 'digest' and ${isOld} and connection <> all($1)
       and not exists (select from connections c where c.connection = mails.connection)`,
    [configured],
  );
}

/** Its name, and under which keys its former places and its pruned runs are kept. */
function keysOf(db: Queryable, connection: string): Promise<readonly string[]> {
  return columnOf(
    db,
    `select $1::text union select $1 || '#pruned' union select $1 || '#' || id from places where connection = $1`,
    [connection],
  );
}

/**
 * Connections with kept data that are not `configured` here, and that for `hours` no worker had in its configuration and no
 * run has moved.
 */
export function leftConnections(
  db: Queryable,
  configured: readonly string[],
  hours: number,
): Promise<readonly string[]> {
  return columnOf(
    db,
    `select connection from (
       select connection, max(progress_at) as at from runs where connection not like '%#%' group by 1
       union all select connection, noted_at from connections
       union all select connection, raised_at from alerts where over_at is null) signs
     where connection <> '' and connection <> all($1)
     group by 1 having max(at) < now() - $2 * interval '1 hour' order by 1`,
    [configured, hours],
  );
}
