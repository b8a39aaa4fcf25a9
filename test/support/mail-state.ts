import type pg from 'pg';

/** Sets what became of a mail, whatever it was before. */
export async function setMailState(
  pool: pg.Pool,
  id: number | undefined,
  state: string,
  note: string | null = null,
): Promise<void> {
  await pool.query(`update mails set state = $2, note = $3, updated_at = now() where id = $1`, [
    id,
    state,
    note,
  ]);
}
