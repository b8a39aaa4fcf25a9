import type pg from 'pg';
import { oneOf, rowsOf } from './database.ts';

/** One connection's unverified writes, for the process that follows one that died. */
export function createWriteJournal(pool: pg.Pool, connection: string) {
  return {
    async keep(note: Uint8Array): Promise<number> {
      const text = `insert into unsettled_writes (connection, note) values ($1, $2) returning id`;
      return (await oneOf<{ id: number }>(pool, text, [connection, note])).id;
    },
    async kept(): Promise<readonly { readonly id: number; readonly note: Uint8Array }[]> {
      const text = `select id, note from unsettled_writes where connection = $1 order by id`;
      return rowsOf<{ id: number; note: Buffer }>(pool, text, [connection]);
    },
    async over(id: number): Promise<void> {
      await pool.query(`delete from unsettled_writes where id = $1`, [id]);
    },
  };
}
