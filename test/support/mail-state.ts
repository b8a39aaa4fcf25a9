import type pg from 'pg';
import type { MailTable } from '../../src/store/sending.ts';

/** Sets what became of a mail, whatever it was before. */
export async function setMailState(
  pool: pg.Pool,
  table: MailTable,
  id: number | undefined,
  state: string,
  note: string | null = null,
): Promise<void> {
  await pool.query(`update ${table} set state = $2, note = $3, updated_at = now() where id = $1`, [
    id,
    state,
    note,
  ]);
}
