import { oneOf, type Queryable } from './database.ts';

/** The key with which this state makes the links in mails: 32 random bytes, made with the first call. */
export async function linkKey(db: Queryable): Promise<Buffer> {
  await db.query('insert into keeper default values on conflict do nothing');
  return (await oneOf<{ key: Buffer }>(db, 'select link_key as key from keeper')).key;
}

/** Makes another one: the links of all mails so far lead nowhere from now on. */
export async function replaceLinkKey(db: Queryable): Promise<void> {
  await db.query(
    'insert into keeper default values on conflict (is_one) do update set link_key = excluded.link_key',
  );
}
