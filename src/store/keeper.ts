import { createHash, randomBytes } from 'node:crypto';
import { epochMs, firstOf, mapOf, oneOf, type Queryable, valueOf } from './database.ts';

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
