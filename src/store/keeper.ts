import { createHash, randomBytes } from 'node:crypto';
import { epochMs, firstOf, mapOf, oneOf, type Queryable, transaction, valueOf } from './database.ts';
import type pg from 'pg';
import { LeadsyncError } from '../lib/errors.ts';

async function makeKeeper(db: Queryable): Promise<void> {
  await db.query('insert into keeper default values on conflict do nothing');
}

/** The identity of this state: a UUID, created with the first call. */
export async function keeperOf(db: Queryable): Promise<string> {
  await makeKeeper(db);
  return (await oneOf<{ id: string }>(db, 'select id from keeper')).id;
}

/** The key with which this state makes the links in mails: 32 random bytes, made with the first call. */
export async function linkKey(db: Queryable): Promise<Buffer> {
  await makeKeeper(db);
  return (await oneOf<{ key: Buffer }>(db, 'select link_key as key from keeper')).key;
}

/** Makes another one: the links of all mails so far lead nowhere from now on. */
export async function replaceLinkKey(db: Queryable): Promise<void> {
  await db.query(
    'insert into keeper default values on conflict (is_one) do update set link_key = excluded.link_key',
  );
}

/** Writes a row. Rejects when the database answers but takes no writes: a replica, a server set read-only, a full disk. */
export async function probeWrite(db: Queryable): Promise<void> {
  await db.query(
    `insert into keeper (written_at) values (now()) on conflict (is_one) do update set written_at = excluded.written_at`,
  );
}

/** When (epoch ms) that was last done; null: never. */
export function lastWriteAt(db: Queryable): Promise<number | null> {
  return valueOf(db, `select floor(${epochMs('written_at')}) from keeper`);
}

/** Notes that somebody has logged out of the status page; forgets logins that have ended by themselves. `endsAt`: epoch s. */
export async function noteLogout(db: Queryable, id: string, endsAt: number): Promise<void> {
  await makeKeeper(db);
  await db.query(
    `update keeper set ended_logins = jsonb_build_object($1::text, $2::bigint) || (
       select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(ended_logins)
       where value::bigint > extract(epoch from now()))`,
    [id, endsAt],
  );
}

export async function isLoggedOut(db: Queryable, id: string): Promise<boolean> {
  return (await valueOf<boolean>(db, 'select ended_logins ? $1 from keeper', [id])) === true;
}

const newToken = (): string => randomBytes(32).toString('base64url');

/** The secret part of each recipient's feed address. Addresses in lower case. */
export function feedTokens(
  db: Queryable,
  recipients: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return mapOf(db, 'select key, value from keeper, jsonb_each_text(feeds) where key = any($1)', [recipients]);
}

/** Gives a token to those who have none. */
export async function beginFeeds(db: Queryable, recipients: readonly string[]): Promise<void> {
  await makeKeeper(db);
  const tokens = Object.fromEntries(recipients.map((recipient) => [recipient, newToken()]));
  await db.query('update keeper set feeds = $1::jsonb || feeds', [JSON.stringify(tokens)]);
}

/** Gives a recipient a new token: the former address leads nowhere from now on. */
export async function replaceFeedToken(db: Queryable, recipient: string): Promise<void> {
  await makeKeeper(db);
  await db.query('update keeper set feeds = feeds || jsonb_build_object($1::text, $2::text)', [
    recipient,
    newToken(),
  ]);
}

/**
 * The recipient whose feed a token opens, or null. Compared by hash: the time of the answer would otherwise reveal existing
 * tokens.
 */
export function recipientOfFeed(
  db: Queryable,
  token: string,
): Promise<{ readonly recipient: string } | null> {
  return firstOf(
    db,
    `select key as recipient from keeper, jsonb_each_text(feeds) where sha256(convert_to(value, 'UTF8')) = $1`,
    [createHash('sha256').update(token).digest()],
  );
}

/** What a worker says of itself to others that find the same database. */
export interface Installation {
  readonly machine: string;
  /** Where its jobs are; null: in this database. */
  readonly jobs: string | null;
  readonly connections: readonly string[];
  /** Hashes of what each connection is by, so that a changed key or place alone makes no other installation. */
  readonly traits: readonly string[];
  /** Hashes of the name and the service of each connection, without the key. */
  readonly services: readonly string[];
}

export interface Claim extends Installation {
  /** An ISO instant. */
  readonly since: string;
}

/** A worker that has not renewed its claim for so long (ms) is gone. */
export const claimMs = 60_000;

/**
 * Whether two workers are of one installation, as two versions of it are during a deploy. `sharesJobs`: their jobs are known
 * to be in one place, whatever each calls it.
 */
export function isSameInstallation(one: Installation, other: Installation, sharesJobs: boolean): boolean {
  return (sharesJobs || one.jobs === other.jobs) && one.traits.some((trait) => other.traits.includes(trait));
}

/**
 * Claims the database for an installation, or renews its claim. Returns the claim of another one that lives in it, else since when it is
 * claimed. `since`: of the claim in which the worker had its part last: whoever has renewed that one is of its installation, though a
 * Redis that was emptied no longer says so.
 */
export function claimDatabase(
  pool: pg.Pool,
  own: Installation,
  sharesJobs: boolean,
  since: string | null,
): Promise<{ readonly other: Claim } | { readonly since: string }> {
  return transaction(
    pool,
    async (client) => {
      await keeperOf(client);
      const claim = await claimIn(client, 'for update');
      if (claim !== null && !isSameInstallation(own, claim, sharesJobs || claim.since === since))
        return { other: claim };
      const begun = claim?.since ?? new Date().toISOString();
      await client.query('update keeper set claim = $1, claimed_at = now()', [{ ...own, since: begun }]);
      return { since: begun };
    },
    'repeatable',
  );
}

/** The claim of another installation that lives in the database, else null. A command may be the first with a corrected key. */
export async function otherInDatabase(
  pool: pg.Pool,
  own: Installation,
  sharesJobs: boolean,
): Promise<Claim | null> {
  const claim = await claimIn(pool);
  if (claim === null || isSameInstallation(own, claim, sharesJobs)) return null;
  return own.services.some((service) => claim.services.includes(service)) ? null : claim;
}

function claimIn(db: Queryable, lock = ''): Promise<Claim | null> {
  const text = `select case when claimed_at > now() - $1 * interval '1 ms' then claim end from keeper ${lock}`;
  return valueOf<Claim>(db, text, [claimMs]);
}

/** When (epoch ms) a worker last reached the database and its queue; null: it was stopped, or there was none. */
export function claimedAt(db: Queryable): Promise<number | null> {
  return valueOf(db, `select floor(${epochMs('claimed_at')}) from keeper`);
}

/** Other workers of the installation, if there are any, claim it again. */
export async function releaseDatabase(pool: pg.Pool): Promise<void> {
  await pool.query('update keeper set claim = null, claimed_at = null');
}

/** This state in this database: a copy of the database is another owner. */
export async function ownerOf(pool: pg.Pool): Promise<string> {
  const text = 'select oid::text as oid from pg_database where datname = current_database()';
  const { oid } = await oneOf<{ oid: string }>(pool, text);
  return `${await keeperOf(pool)}/${oid}`;
}

interface Move {
  /** An ISO instant, by which the file is known. */
  readonly at: string;
  readonly file: string;
  readonly machine: string;
}

/** Null: the state of this database has not moved. */
const movedAway = (db: Queryable): Promise<Move | null> => valueOf(db, 'select moved from keeper');

/** Within the transaction that nobody can work beside: the state is in this file from now on. */
export async function noteMove(db: Queryable, move: Move): Promise<void> {
  await keeperOf(db);
  await db.query('update keeper set moved = $1', [move]);
}

/** The state goes on in this database after all. False: it had not moved. */
export async function endMove(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query('update keeper set moved = null where moved is not null');
  return rowCount === 1;
}

/** When (ISO instant) the state of this database moved away; null: it has not. Throws `usage.moved-from-here` when it was into the file of this moment. */
export async function movedBefore(db: Queryable, fileOf: string): Promise<string | null> {
  const moved = await movedAway(db);
  if (moved?.at !== fileOf) return moved?.at ?? null;
  throw new LeadsyncError(
    'usage.moved-from-here',
    'The state in this file is still in this database, as it was when it moved away. Nothing was changed',
    {
      help: 'If the file was restored nowhere: leadsync resume, for all connections, goes on here; then delete the file. Otherwise leadsync backup FILE --move there, and leadsync restore FILE --replace here, bring back what was done there.',
    },
  );
}

/** Throws `state.moved` when the state goes on in another database. */
export async function assertNotMoved(db: Queryable): Promise<void> {
  const moved = await movedAway(db);
  if (moved === null) return;
  const { at, file, machine } = moved;
  throw new LeadsyncError(
    'state.moved',
    `The state of this database has moved away, at ${at} into the file ${file} on ${machine}. Nothing was done here: mails would go twice`,
    {
      help: 'Set DATABASE_URL to the database into which leadsync restore has put it. If that is done nowhere: leadsync resume, for all connections, goes on here; then delete the file.',
    },
  );
}
