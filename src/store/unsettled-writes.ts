import type pg from 'pg';

/** The notes of one connection's writes, for the process that comes after one that died. */
export function createWriteJournal(pool: pg.Pool, connection: string) {
  return {
    async keep(note: Uint8Array): Promise<number> {
      const { rows } = await pool.query<{ id: number }>(
        `insert into unsettled_writes (connection, note) values ($1, $2) returning id`,
        [connection, note],
      );
      const [row] = rows;
      if (row === undefined) throw new Error('insert returned no row');
      return row.id;
    },
    async kept(): Promise<readonly { readonly id: number; readonly note: Uint8Array }[]> {
      const { rows } = await pool.query<{ id: number; note: Buffer }>(
        `select id, note from unsettled_writes where connection = $1 order by id`,
        [connection],
      );
      return rows;
    },
    async over(id: number): Promise<void> {
      await pool.query(`delete from unsettled_writes where id = $1`, [id]);
    },
  };
}
