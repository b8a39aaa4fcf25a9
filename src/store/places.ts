import type pg from 'pg';
import { uuidPattern } from '../core/lead/lead-id.ts';
import {
  columnOf,
  deleteInBatches,
  firstOf,
  isoMs,
  oneOf,
  type Queryable,
  rowsOf,
  valueOf,
} from './database.ts';
import { type Run, updateRun } from './runs.ts';

/** A place that a run has found before. */
export interface KnownPlace {
  readonly id: string;
  /** The connection whose table it is. */
  readonly connection: string;
  readonly identity: string;
  readonly address: string;
  readonly isCurrent: boolean;
  /** Whether rows of it were in step once, and leads of it are remembered. */
  readonly wasCurrent: boolean;
}

const columns = `id, connection, identity, address, is_current as "isCurrent",
  is_current or switched_at is not null as "wasCurrent"`;

/** A place as a target reports it. */
interface FoundPlace {
  readonly id: string;
  readonly idWhileMissing?: string;
  readonly address: string;
  readonly isThere: boolean;
}

/**
 * What two places are called where both are named: by their addresses, or, when one address leads elsewhere than before (a
 * file became a link, a tab of this title is another one), by what they are as well.
 */
export function placeNames(
  places: Readonly<Record<'here' | 'before', Named>>,
): Record<'here' | 'before', string> {
  const isOne = places.here.address === places.before.address;
  const nameOf = ({ address, identity }: Named): string => {
    const [what = ''] = identity.slice(identity.indexOf(':') + 1).split('\n');
    return !isOne || what === address ? address : `${address} (which is ${what})`;
  };
  return { here: nameOf(places.here), before: nameOf(places.before) };
}

type Named = Pick<KnownPlace, 'address' | 'identity'>;

/** What belongs to a service and one place, by a key in its column `connection`. */
export const tablesOfPlaces = [
  'pairs',
  'earlier_values',
  'held',
  'place_notes',
  // Its creates that were begun.
  'actions',
] as const;

/** The days for which a former place is remembered at the least. */
const leastDays = 90;

/** Under which the baselines of a place are kept: the name of the connection, unless it is a former place. */
export function keyOf({ connection, id, isCurrent }: KnownPlace): string {
  return isCurrent ? connection : `${connection}#${id}`;
}

/** Whose leads a connection has. */
export interface Service {
  readonly baseUrl: string;
  /** See `serviceScope`. */
  readonly account: string;
}

/** SQL for an id that is the same lead for every key of a service. Other ids may be of two accounts. */
export function isSameForAll(leadId: string): string {
  return `${leadId} ~* '${uuidPattern}'`;
}

/**
 * SQL for the keys under which baselines of the same lead are kept: those of a connection, and of others of its service.
 * All are expressions of SQL.
 */
export function keysOfLead(
  leadId: string,
  of: { readonly connection: string; readonly baseUrl: string; readonly account: string },
): string {
  return `(select ${of.connection}::text union all select case when is_current then connection else connection || '#' || id end from places
    where service = ${of.baseUrl} and (connection = split_part(${of.connection}, '#', 1) or account = ${of.account} or ${isSameForAll(leadId)}))`;
}

/** The connection that a key belongs to. */
export function connectionOf(key: string): string {
  return key.split('#', 1)[0] ?? key;
}

/** The place that a connection keeps in step; null before its first sync. */
export function currentPlace(db: Queryable, connection: string): Promise<KnownPlace | null> {
  return firstOf(db, `select ${columns} from places where connection = $1 and is_current`, [connection]);
}

export function placeById(db: Queryable, id: string): Promise<KnownPlace | null> {
  return firstOf(db, `select ${columns} from places where id = $1`, [id]);
}

/** A place that a connection syncs or used to sync; `leftAt` (ISO instant): null for the current one. */
export interface KeptPlace {
  readonly address: string;
  readonly leftAt: string | null;
}

/** The places that a connection syncs and used to sync; the current one first. */
export function listPlaces(db: Queryable, connection: string): Promise<readonly KeptPlace[]> {
  return rowsOf(
    db,
    `select address, case when not is_current then ${isoMs('switched_at')} end as "leftAt" from places
     where connection = $1 and (is_current or switched_at is not null) order by is_current desc, switched_at desc`,
    [connection],
  );
}

/** Whether a run is part of no reviewed plan, and no sync has carried out all that it decided in this table before. */
export async function isFirstSync(db: Queryable, { place, approval, connection }: Run): Promise<boolean> {
  if (place === null || approval !== null || connection !== connectionOf(connection)) return false;
  const current = await firstOf<{ isSynced: boolean }>(
    db,
    `select is_synced as "isSynced" from places where connection = $1 and is_current`,
    [connection],
  );
  return current?.isSynced !== true;
}

/** The place on record, or null. A missing place is known by its address alone. */
export function findPlace(
  db: Queryable,
  connection: string,
  { id, address, isThere }: FoundPlace,
): Promise<KnownPlace | null> {
  return firstOf(
    db,
    `select ${columns} from places where connection = $1 and (identity = $2 or address = $3 and not $4)
     order by identity = $2 desc, is_current desc, seen_at desc limit 1`,
    [connection, id, address, isThere],
  );
}

/**
 * The place on record; a new one is stored. One that was stored while it was missing is the same place once it exists: the
 * process that created it may have been killed before `renamePlace`.
 */
export async function seePlace(db: Queryable, connection: string, place: FoundPlace): Promise<KnownPlace> {
  const { id, idWhileMissing = id, address, isThere } = place;
  const known = isThere ? null : await findPlace(db, connection, place);
  if (known !== null) return known;
  const missing =
    idWhileMissing === id
      ? null
      : await findPlace(db, connection, { id: idWhileMissing, address, isThere: true });
  if (missing !== null) await renamePlace(db, missing.id, place);
  return oneOf(
    db,
    `insert into places (connection, identity, address) values ($1, $2, $3)
     on conflict (connection, identity) do update set address = excluded.address, seen_at = now() returning ${columns}`,
    [connection, id, address],
  );
}

/** Stores the identity of a place that was just created. */
export async function renamePlace(
  db: Queryable,
  id: string,
  place: { readonly id: string; readonly address: string },
): Promise<void> {
  await db.query(
    `update places p set identity = $2, address = $3 where id = $1
       and not exists (select from places o where o.connection = p.connection and o.identity = $2 and o.id <> $1)`,
    [id, place.id, place.address],
  );
}

/**
 * Makes the place of a run the current one, when what it plans may be carried out: the baselines change keys with those
 * of the place that was current, or stay, when that one was moved here. `service`: whose leads are there from now on.
 */
export async function enterPlace(db: pg.PoolClient, run: Run, { baseUrl, account }: Service): Promise<Run> {
  if (run.place === null) return run;
  const connection = connectionOf(run.connection);
  const current = await currentPlace(db, connection);
  let entered = run;
  if (current === null) {
    await db.query(`update places set is_current = true where id = $1`, [run.place]);
  } else if (current.id !== run.place) {
    const isMoved = run.connection === connection;
    if (isMoved) await movePlace(db, run.place, current.id);
    else await swapPlaces(db, connection, run.place, current.id);
    entered = await updateRun(db, run.id, { place: isMoved ? current.id : run.place, baseline: null });
  }
  await db.query(
    `update places set service = $2, account = $4, is_synced = is_synced or $3 where connection = $1 and is_current
       and (service is distinct from $2 or account is distinct from $4 or not is_synced)`,
    [connection, baseUrl, run.approval === null && run.undoOf === null, account],
  );
  return entered;
}

/** The place that was known is found elsewhere. */
async function movePlace(db: pg.PoolClient, seen: string, known: string): Promise<void> {
  const now = await oneOf<{ identity: string; address: string }>(
    db,
    `delete from places where id = $1 returning identity, address`,
    [seen],
  );
  await db.query(`update places set identity = $2, address = $3 where id = $1`, [
    known,
    now.identity,
    now.address,
  ]);
}

async function swapPlaces(
  db: pg.PoolClient,
  connection: string,
  entered: string,
  left: string,
): Promise<void> {
  for (const table of tablesOfPlaces) {
    // What people decide and request stays with the connection.
    const isOfPlace = table === 'held' ? ` and kind not in ('decision', 'edit', 'calendar')` : '';
    const change = `update ${table} set connection = $2 where connection = $1${isOfPlace}`;
    await db.query(change, [connection, `${connection}#${left}`]);
    await db.query(change, [`${connection}#${entered}`, connection]);
  }
  await db.query(`update places set is_current = false, switched_at = now() where id = $1`, [left]);
  await db.query(`update places set is_current = true, switched_at = now() where id = $1`, [entered]);
}

/** The service whose leads the baselines under a key are; null: not known. */
export function knownService(db: Queryable, key: string): Promise<string | null> {
  return valueOf(
    db,
    `select coalesce(
       (select service from places where connection = $2
          and $1 = case when is_current then connection else connection || '#' || id end),
       (select base_url from runs where connection = $1 and mode = 'sync' and status in ('succeeded', 'partial')
        order by id desc limit 1)) as url`,
    [key, connectionOf(key)],
  );
}

/** Another connection that keeps the same place in step, or did until a week ago; null: none. */
export function sharedWith(
  db: Queryable,
  { connection, identity }: Pick<KnownPlace, 'connection' | 'identity'>,
): Promise<string | null> {
  return valueOf(
    db,
    `select connection from places p where identity = $2 and connection <> $1 and is_current and exists (
       select from runs r where r.connection = p.connection and mode = 'sync' and finished_at > now() - interval '7 days')
     order by 1 limit 1`,
    [connection, identity],
  );
}

/** Forgets places, with all that is kept of them, that were left longer ago than the retention. Returns how many. */
export async function forgetPlaces(
  pool: pg.Pool,
  connection: string,
  retentionDays: number,
  stop: AbortSignal,
): Promise<number> {
  const old = `select id from places p where connection = $1 and not is_current
    and greatest(switched_at, seen_at) < now() - greatest($2, ${leastDays}) * interval '1 day'
    and not exists (select from runs where place = p.id and finished_at is null)`;
  let forgotten = 0;
  for (const id of await columnOf<string>(pool, old, [connection, retentionDays])) {
    for (const table of tablesOfPlaces) {
      const chosen = `select t.ctid from ${table} t where connection = $1`;
      await deleteInBatches(pool, { table, key: 'ctid', old: chosen }, [`${connection}#${id}`], stop);
    }
    if (stop.aborted) break;
    await pool.query(`delete from places where id = $1 and not is_current`, [id]);
    forgotten += 1;
  }
  return forgotten;
}
