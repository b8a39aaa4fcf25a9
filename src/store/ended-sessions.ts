import { firstOf, type Queryable } from './database.ts';

/** Notes that somebody has logged out of the status page; forgets logins that have ended by themselves. `endsAt`: epoch s. */
export async function noteLogout(db: Queryable, id: string, endsAt: number): Promise<void> {
  await db.query('delete from ended_sessions where ends_at < now()');
  await db.query(
    'insert into ended_sessions (id, ends_at) values ($1, to_timestamp($2)) on conflict do nothing',
    [id, endsAt],
  );
}

export async function isLoggedOut(db: Queryable, id: string): Promise<boolean> {
  return (await firstOf(db, 'select 1 from ended_sessions where id = $1', [id])) !== null;
}
