import type { ActionKind } from '../core/merge/action.ts';
import type { Problem } from '../lib/errors.ts';
import type { Refusal } from '../core/merge/guard.ts';
import { epochMs, firstOf, isoMs, mapOf, oneOf, type Queryable, rowsOf } from './database.ts';

/** A line of a reviewed plan that is to be carried out. */
export interface ApprovedLine {
  /** Its id in the plan. */
  readonly id: string;
  readonly kind: ActionKind;
  readonly leadId: string | null;
  readonly row: number | null;
  readonly fingerprint: string;
}

/** The lines that a run may carry out, and the run of their plan. */
export interface Approval {
  readonly planId: number;
  readonly lines: readonly ApprovedLine[];
}

/** `edit`: it carries out requested edits, without a scan. */
export const runModes = ['sync', 'plan', 'edit'] as const;
export type RunMode = (typeof runModes)[number];
export const phases = ['pull', 'read', 'plan', 'push-leads', 'push-rows', 'receipt', 'finish'] as const;
export type Phase = (typeof phases)[number];
export const runStatuses = ['running', 'succeeded', 'partial', 'stopped', 'failed'] as const;
export type RunStatus = (typeof runStatuses)[number];

/** A run as stored. Times are epoch ms. */
export interface Run {
  readonly id: number;
  /** The key of its baselines: the name of the connection, but for a run in a place that is not the current one (so far). */
  readonly connection: string;
  /** Null: not known, or not found yet. */
  readonly place: string | null;
  readonly mode: RunMode;
  readonly status: RunStatus;
  readonly phase: Phase;
  readonly round: number;
  readonly settingsHash: string;
  readonly allow: readonly string[];
  /** The batch of reviewed lines that it may carry out. */
  readonly approval: string | null;
  /** The run that it puts back. */
  readonly undoOf: number | null;
  readonly cursor: string | null;
  readonly scanStartedAt: number;
  /** Leads that its scan asks for on a page; 0: without `limit`; null: as the settings say. */
  readonly pageSize: number | null;
  readonly scanIncomplete: boolean;
  readonly scanRestarted: boolean;
  readonly pages: number;
  readonly pulled: number;
  /** What the leads of the current scan take, roughly. */
  readonly pulledBytes: number;
  /** How often pairs had moved when the scan was begun; null: it is not begun. */
  readonly moves: number | null;
  readonly targetRows: number;
  /** The table was as an earlier run had read it then (ISO instant), and was not read again; null: it was read. */
  readonly tableReadAt: string | null;
  /** Records on either side. */
  readonly records: number;
  /** Records that differ without anything to be done. */
  readonly leftAlone: number;
  /** Rows of the target that are paused. */
  readonly pausedRows: number;
  /** Records that were compared and are equal: nothing is planned for them. */
  readonly comparedEqual: number;
  /** Records without an action that wait for the outcome of a create. */
  readonly waiting: number;
  /** The round's writes to rows when all were verified at once; else 0: each is verified by itself. */
  readonly rowsReadEqual: number;
  /** The mark found in the target; '' when it has none, null when it was not read. */
  readonly mark: string | null;
  /** Failures in a row without any progress. */
  readonly attempts: number;
  /** The last of them; it stays when there was progress since. */
  readonly fault: RunFault | null;
  readonly pausedAt: number | null;
  readonly waitedMs: number;
  readonly leadRequests: number;
  readonly targetRequests: number;
  readonly problems: readonly Problem[];
  readonly refusals: readonly Refusal[];
  readonly report: unknown;
  readonly createdAt: number;
  readonly progressAt: number;
  /** Ms since then, by the clock of the database: those of workers differ from it, and jump. */
  readonly idleMs: number;
  readonly finishedAt: number | null;
}

/** What the last attempts of a run failed with. */
interface RunFault {
  readonly code: string;
  readonly message: string;
  /** When (epoch ms) the first of those in a row failed. */
  readonly since: number;
}

/** A run, and the key of its baselines. */
export type RunRef = Pick<Run, 'id' | 'connection'>;

/** SQL for a run that was neither an undo nor the application of a reviewed plan. */
export const isWhole = 'approval is null and undo_of is null';

/** A round of a run. */
export type RoundRef = Pick<Run, 'id' | 'round'>;

const columns = `id, coalesce(baseline, connection) as connection, place, mode, status, phase, round, settings_hash as "settingsHash", allow, approval,
  undo_of as "undoOf", cursor,
  ${epochMs('scan_started_at')} as "scanStartedAt", page_size as "pageSize", scan_incomplete as "scanIncomplete", scan_restarted as "scanRestarted", pages, pulled,
  pulled_bytes as "pulledBytes", moves,
  target_rows as "targetRows", ${isoMs('table_read_at')} as "tableReadAt", records, left_alone as "leftAlone", paused_rows as "pausedRows", compared_equal as "comparedEqual", waiting,
  rows_read_equal as "rowsReadEqual", mark, attempts, fault, ${epochMs('paused_at')} as "pausedAt", waited_ms as "waitedMs",
  lead_requests as "leadRequests", target_requests as "targetRequests", problems, refusals, report,
  ${epochMs('created_at')} as "createdAt", ${epochMs('progress_at')} as "progressAt",
  floor(extract(epoch from now() - progress_at) * 1000)::float8 as "idleMs",
  ${epochMs('finished_at')} as "finishedAt"`;

type Fixed = 'id' | 'connection' | 'mode' | 'settingsHash' | 'allow' | 'approval' | 'undoOf';
type Counted = 'pausedAt' | 'waitedMs' | 'leadRequests' | 'targetRequests' | 'idleMs';
type Moments = 'scanStartedAt' | 'createdAt' | 'progressAt' | 'finishedAt';

/** What a step of a run may set. `baseline`: the key of the baselines of its place; null: its connection. */
export type RunPatch = Partial<Omit<Run, Fixed | Counted | Moments>> & { readonly baseline?: string | null };

const jsonColumns: ReadonlySet<string> = new Set(['problems', 'refusals', 'report', 'fault']);

/** Starts a run. The database refuses a second open one of the same connection. */
export async function insertRun(
  db: Queryable,
  run: {
    connection: string;
    mode: RunMode;
    baseUrl: string;
    settingsHash: string;
    allow: readonly string[];
    approval?: string | null;
    /** Absent: as an earlier run of the same approval. */
    approved?: Approval | undefined;
    undoOf?: number | null;
    pageSize?: number;
  },
): Promise<Run> {
  return oneOf<Run>(
    db,
    `insert into runs (connection, mode, base_url, settings_hash, allow, approval, undo_of, page_size, approved)
     values ($1, $2, $3, $4, $5, $6, $7, $8,
       coalesce($9, (select approved from runs where approval = $6 order by id desc limit 1))) returning ${columns}`,
    [
      run.connection,
      run.mode,
      run.baseUrl,
      run.settingsHash,
      run.allow,
      run.approval ?? null,
      run.undoOf ?? null,
      run.pageSize ?? null,
      run.approved === undefined ? null : JSON.stringify(run.approved),
    ],
  );
}

/** Sets columns of a run; any call counts as progress. */
export async function updateRun(db: Queryable, id: number, patch: RunPatch): Promise<Run> {
  const values: unknown[] = [id];
  const sets = Object.entries(patch).map(([key, value]) => {
    values.push(jsonColumns.has(key) ? JSON.stringify(value) : value);
    const column = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    return `${column} = $${values.length}`;
  });
  return oneOf<Run>(
    db,
    `update runs set ${[...sets, 'progress_at = now()'].join(', ')} where id = $1 returning ${columns}`,
    values,
  );
}

/** Begins another round of a run: everything is scanned and planned anew, what was done stays counted. */
export async function nextRound(db: Queryable, id: number): Promise<Run> {
  await clearScan(db, id);
  return oneOf<Run>(
    db,
    `update runs set round = round + 1, phase = 'pull', cursor = null, moves = null, pulled = 0, pulled_bytes = 0, records = 0, rows_read_equal = 0,
       scan_started_at = now(), scan_incomplete = false, scan_restarted = false, progress_at = now() where id = $1 returning ${columns}`,
    [id],
  );
}

/** Ends a run for good and drops what is known of its scan. The next run of its approval goes on after a failure alone. */
export async function finishRun(db: Queryable, id: number, status: RunStatus, report: unknown): Promise<Run> {
  await clearScan(db, id);
  return oneOf<Run>(
    db,
    `update runs set status = $2, report = $3, baseline = null, approved = case $2 when 'failed' then approved end, finished_at = now(), progress_at = now() where id = $1 returning ${columns}`,
    [id, status, JSON.stringify(report)],
  );
}

/** Drops what the scan of a run has seen. */
export async function clearScan(db: Queryable, id: number): Promise<void> {
  await db.query(`delete from run_sights where run_id = $1`, [id]);
}

/** Records since when the run waits. */
export async function pauseRun(db: Queryable, id: number): Promise<void> {
  await db.query(`update runs set paused_at = coalesce(paused_at, now()) where id = $1`, [id]);
}

/** Adds the time of a pause to `waitedMs`. */
export async function resumeRun(db: Queryable, id: number): Promise<void> {
  await db.query(
    `update runs set waited_ms = waited_ms + (extract(epoch from now() - paused_at) * 1000)::bigint, paused_at = null
     where id = $1 and paused_at is not null`,
    [id],
  );
}

/** Adds requests that were sent since the last call. */
export async function countRequests(
  db: Queryable,
  id: number,
  { leads, target }: { readonly leads: number; readonly target: number },
): Promise<void> {
  await db.query(
    `update runs set lead_requests = lead_requests + $2, target_requests = target_requests + $3 where id = $1`,
    [id, leads, target],
  );
}

export function getRun(db: Queryable, id: number): Promise<Run | null> {
  return firstOf(db, `select ${columns} from runs where id = $1`, [id]);
}

/** The unfinished run in this mode, or null. */
export function openRun(db: Queryable, connection: string, mode: RunMode): Promise<Run | null> {
  return firstOf(
    db,
    `select ${columns} from runs where connection = $1 and mode = $2 and finished_at is null`,
    [connection, mode],
  );
}

/** The unfinished syncs of these connections. */
export function openRuns(db: Queryable, connections: readonly string[]): Promise<readonly Run[]> {
  return rowsOf(
    db,
    `select ${columns} from runs where connection = any($1) and mode = 'sync' and finished_at is null`,
    [connections],
  );
}

/** When the newest finished whole sync of each connection began (epoch ms). */
export function lastStarts(
  db: Queryable,
  connections: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  return mapOf(
    db,
    `select name as key, last.at as value from unnest($1::text[]) name cross join lateral (
       select ${epochMs('created_at')} as at from runs where connection = name and mode = 'sync'
         and finished_at is not null and ${isWhole} order by id desc limit 1) last`,
    [connections],
  );
}

/** The newest finished whole run in this mode, or null. */
export function lastRun(db: Queryable, connection: string, mode: RunMode): Promise<Run | null> {
  return firstOf(
    db,
    `select ${columns} from runs where connection = $1 and mode = $2 and finished_at is not null
       and ${isWhole} order by id desc limit 1`,
    [connection, mode],
  );
}

/** The finished run that carried out a batch of reviewed lines, or null. */
export function runOfBatch(db: Queryable, batch: string): Promise<Run | null> {
  return firstOf(
    db,
    `select ${columns} from runs where approval = $1 and finished_at is not null order by id desc limit 1`,
    [batch],
  );
}
