import type pg from 'pg';
import { rowsOf, valueOf } from './database.ts';

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
