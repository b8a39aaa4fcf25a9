import type pg from 'pg';
import { epochMs, firstOf, type Queryable, rowsOf, timestamp, transaction, valueOf } from './database.ts';

/** When a connection is synced: a cron pattern in an IANA time zone. */
export interface Timing {
  readonly pattern: string;
  readonly timeZone: string;
}

export interface KnownSchedule extends Timing {
  /** When (epoch ms) each worker said last that it has it. */
  readonly workers: Readonly<Record<string, number>>;
}

/** Workers say at least so often (ms, with reserve) that they have a schedule. */
const liveMs = 180_000;

export function isSameTiming(one: Timing, other: Timing | null | undefined): boolean {
  return other?.pattern === one.pattern && other.timeZone === one.timeZone;
}

/**
 * What is known after a worker said at `now` that its configuration has `own`, or (null) that it stops, and which schedule is
 * right: of those that workers have now the one that a worker had for the first time last. `known`: in that order. So neither an
 * older worker that starts once more nor a newer one's absence changes which configuration is the newer one.
 */
export function agreeOn(
  known: readonly KnownSchedule[],
  worker: string,
  own: Timing | null,
  now: number,
): { readonly known: readonly KnownSchedule[]; readonly right: Timing | null } {
  const isNew = own !== null && !known.some((one) => isSameTiming(one, own));
  const all = isNew ? [...known, { ...own, workers: {} }] : known;
  const noted = all.map((one) => {
    const others = Object.entries(one.workers).filter(([name, at]) => name !== worker && at >= now - liveMs);
    const workers = Object.fromEntries(others);
    return { ...one, workers: isSameTiming(one, own) ? { ...workers, [worker]: now } : workers };
  });
  return { known: noted, right: noted.findLast(({ workers }) => Object.keys(workers).length > 0) ?? null };
}

/** Times are epoch ms. */
export interface Schedule extends Timing {
  /** When it came due next as that was stored. */
  readonly nextRunAt: number;
  /** Since when it is this one; null: it is the first. */
  readonly since: number | null;
  /** When the one before had come due without a run as it was replaced; null: it had not. */
  readonly owedAt: number | null;
}

/**
 * Says that a worker has these connections in its configuration now, with these schedules, and returns those that are right
 * (see `agreeOn`). `nextRunAt`: epoch ms.
 */
export async function agreeSchedules(
  pool: pg.Pool,
  worker: string,
  own: readonly (Timing & Pick<Schedule, 'nextRunAt'> & { readonly connection: string })[],
): Promise<ReadonlyMap<string, Schedule>> {
  const names = own.map(({ connection }) => connection);
  const byName = new Map(own.map((one) => [one.connection, one]));
  return transaction(pool, async (db) => {
    // In the order of the names: workers that say so at the same moment wait for each other.
    await db.query(
      `insert into connections (connection, noted_at) select name, now() from unnest($1::text[]) name order by name
       on conflict (connection) do update set noted_at = excluded.noted_at`,
      [names],
    );
    const agreed = await noteSchedules(db, names, worker, byName);
    const right = own.filter((one) => isSameTiming(one, agreed.get(one.connection)));
    const isSame = '(c.pattern = own.pattern and c.time_zone = own.zone)';
    await db.query(
      `update connections c set pattern = own.pattern, time_zone = own.zone,
         next_run_at = case when ${isSame} and c.next_run_at > now() then c.next_run_at else own.due end,
         scheduled_at = case when ${isSame} or c.pattern is null then c.scheduled_at else now() end,
         owed_at = case when not ${isSame} and c.next_run_at <= now() then c.next_run_at else c.owed_at end
       from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) own (name, pattern, zone, due)
       where c.connection = own.name`,
      [
        right.map(({ connection }) => connection),
        right.map(({ pattern }) => pattern),
        right.map(({ timeZone }) => timeZone),
        right.map(({ nextRunAt }) => timestamp(nextRunAt)),
      ],
    );
    const stored = await rowsOf<Schedule & { connection: string }>(
      db,
      `select connection, ${schedule} from connections where connection = any($1) and pattern is not null`,
      [names],
    );
    return new Map(stored.map(({ connection, ...one }) => [connection, one]));
  });
}

/** Says that a worker stops: from now on no schedule counts because of it. */
export async function leaveSchedules(pool: pg.Pool, worker: string, names: readonly string[]): Promise<void> {
  await transaction(pool, async (db) => void (await noteSchedules(db, names, worker, new Map())));
}

/** Stores which of the connections the worker has, with which schedule, and returns those that are right. */
async function noteSchedules(
  db: pg.PoolClient,
  names: readonly string[],
  worker: string,
  own: ReadonlyMap<string, Timing>,
): Promise<ReadonlyMap<string, Timing | null>> {
  const stored = await rowsOf<{ connection: string; schedules: readonly KnownSchedule[]; now: number }>(
    db,
    `select connection, schedules, floor(${epochMs('now()')}) as now from connections where connection = any($1)
     order by connection for update`,
    [names],
  );
  const agreed = stored.map(({ connection, schedules, now }) => {
    const { pattern, timeZone } = own.get(connection) ?? {};
    const timing = pattern === undefined || timeZone === undefined ? null : { pattern, timeZone };
    return { connection, ...agreeOn(schedules, worker, timing, now) };
  });
  await db.query(
    `update connections c set schedules = n.known from json_to_recordset($1) n (connection text, known jsonb)
     where c.connection = n.connection`,
    [JSON.stringify(agreed)],
  );
  return new Map(agreed.map(({ connection, right }) => [connection, right]));
}

export const schedule = `pattern, time_zone as "timeZone", ${epochMs('next_run_at')} as "nextRunAt",
  floor(${epochMs('scheduled_at')}) as since, floor(${epochMs('owed_at')}) as "owedAt"`;

/** Null: no worker has scheduled the connection so far. */
export function getSchedule(db: Queryable, connection: string): Promise<Schedule | null> {
  return firstOf(db, `select ${schedule} from connections where connection = $1 and pattern is not null`, [
    connection,
  ]);
}

/** Pauses connections until `unpause`; a paused one keeps its date. */
export async function pauseConnections(db: pg.Pool, connections: readonly string[]): Promise<void> {
  await db.query(
    `insert into connections (connection, paused_at) select name, now() from unnest($1::text[]) name
     on conflict (connection) do update set paused_at = coalesce(connections.paused_at, excluded.paused_at)`,
    [connections],
  );
}

/** Ends a pause. False: there was none. */
export async function unpause(db: pg.Pool, connection: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `update connections set paused_at = null where connection = $1 and paused_at is not null`,
    [connection],
  );
  return rowCount === 1;
}

/** Since when (epoch ms) the connection is paused; null: it is not. */
export function pausedSince(db: Queryable, connection: string): Promise<number | null> {
  return valueOf(db, `select floor(${epochMs('paused_at')}) from connections where connection = $1`, [
    connection,
  ]);
}

/** The last call of a heartbeat. Times are epoch ms. */
export interface Heartbeat {
  /** The run whose success was reported last; null: none so far. */
  readonly runId: number | null;
  readonly attemptedAt: number;
  /** Null: the last call succeeded. */
  readonly failingSince: number | null;
  readonly fault: string | null;
}

/** The heartbeat of a connection, or of all (an empty name); null: never called. */
export function getHeartbeat(db: Queryable, connection: string): Promise<Heartbeat | null> {
  return firstOf(
    db,
    `select heartbeat_run as "runId", ${epochMs('heartbeat_at')} as "attemptedAt",
       ${epochMs('failing_since')} as "failingSince", fault
     from connections where connection = $1 and heartbeat_at is not null`,
    [connection],
  );
}

/** Stores the outcome of a call at `now` (epoch ms) for a run: a fault, or null. */
export async function noteHeartbeat(
  db: pg.Pool,
  connection: string,
  runId: number,
  now: number,
  fault: string | null,
): Promise<void> {
  await db.query(
    `insert into connections as c (connection, heartbeat_run, heartbeat_at, failing_since, fault)
     values ($1, case when $4::text is null then $2::bigint end, $3, case when $4::text is not null then $3::timestamptz end, $4)
     on conflict (connection) do update set heartbeat_run = coalesce(excluded.heartbeat_run, c.heartbeat_run),
       heartbeat_at = excluded.heartbeat_at, fault = excluded.fault,
       failing_since = case when excluded.fault is not null then coalesce(c.failing_since, excluded.failing_since) end`,
    [connection, runId, timestamp(now), fault],
  );
}

const idOf = (note: string): string => `encode(sha256(${note}), 'hex')`;

/** One connection's unverified writes, for the process that follows one that died. */
export function createWriteJournal(pool: pg.Pool, connection: string) {
  return {
    async keep(note: Uint8Array): Promise<string> {
      const id = await valueOf<string>(
        pool,
        `insert into connections (connection, unsettled_writes) values ($1, array[$2::bytea])
         on conflict (connection) do update set unsettled_writes = connections.unsettled_writes || excluded.unsettled_writes
         returning ${idOf('$2::bytea')}`,
        [connection, note],
      );
      return id ?? '';
    },
    kept(): Promise<readonly { readonly id: string; readonly note: Uint8Array }[]> {
      const text = `select ${idOf('note')} as id, note from connections, unnest(unsettled_writes) note where connection = $1`;
      return rowsOf(pool, text, [connection]);
    },
    async over(id: string): Promise<void> {
      await pool.query(
        `update connections set unsettled_writes = array(select note from unnest(unsettled_writes) note where ${idOf('note')} <> $2)
         where connection = $1`,
        [connection, id],
      );
    },
  };
}
