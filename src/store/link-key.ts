import type pg from 'pg';
import { oneOf } from './database.ts';

const known = new WeakMap<pg.Pool, Buffer>();

/** The key with which this state makes the links in mails: 32 random bytes, made with the first call and then kept in memory. */
export async function linkKey(pool: pg.Pool): Promise<Buffer> {
  const kept = known.get(pool);
  if (kept !== undefined) return kept;
  await pool.query('insert into keeper default values on conflict do nothing');
  const { key } = await oneOf<{ key: Buffer }>(pool, 'select link_key as key from keeper');
  known.set(pool, key);
  return key;
}
