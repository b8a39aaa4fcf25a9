import { randomBytes } from 'node:crypto';
import type { KnownMark, KnownMarks } from '../core/merge/judge-mark.ts';
import { firstOf, oneOf, type Queryable, valueOf } from './database.ts';
import type { RunRef } from './runs.ts';

const mostMarks = 50;

/** The identity of this state: a UUID, created with the first call. */
export async function keeperOf(db: Queryable): Promise<string> {
  await db.query('insert into keeper default values on conflict do nothing');
  return (await oneOf<{ id: string }>(db, 'select id from keeper')).id;
}

/** The nonce with which a run marks the table: the same one at each call. */
export async function intendMark(db: Queryable, run: RunRef): Promise<string> {
  const text = 'select nonce from marks where connection = $1 and run_id = $2';
  const known = await valueOf<string>(db, text, [run.connection, run.id]);
  if (known !== null) return known;
  const nonce = randomBytes(8).toString('hex');
  await rememberMark(db, run, nonce, false);
  return nonce;
}

/** Accepts the mark found in the table: the run's own writes come after it. */
export async function acceptMark(db: Queryable, run: RunRef, nonce: string): Promise<void> {
  await rememberMark(db, { ...run, id: run.id - 1 }, nonce, true);
}

/** Stores a mark, and deletes outdated ones. */
async function rememberMark(db: Queryable, run: RunRef, nonce: string, written: boolean): Promise<void> {
  await db.query(
    `insert into marks (connection, run_id, nonce, written) values ($1, $2, $3, $4)
     on conflict (connection, nonce) do update set run_id = excluded.run_id, written = excluded.written`,
    [run.connection, run.id, nonce, written],
  );
  await db.query(
    `delete from marks where connection = $1 and nonce not in
       (select nonce from marks where connection = $1 order by run_id desc limit $2)`,
    [run.connection, mostMarks],
  );
}

/** The mark has arrived: what shows an earlier one from now on is an older copy. */
export async function confirmMark(db: Queryable, connection: string, nonce: string): Promise<void> {
  await db.query('update marks set written = true where connection = $1 and nonce = $2 and not written', [
    connection,
    nonce,
  ]);
}

/** What is remembered of a mark that was found in the table of a connection. */
export async function knownMarks(
  db: Queryable,
  connection: string,
  nonce: string | null,
): Promise<KnownMarks> {
  const found = await firstOf<KnownMark>(
    db,
    `select connection, run_id as "runId", nonce, written from marks where nonce = $2
     order by connection = $1 desc limit 1`,
    [connection, nonce],
  );
  const ends = await oneOf<Pick<KnownMarks, 'lastWritten' | 'oldest' | 'backedUpAt'>>(
    db,
    `select max(run_id) filter (where written) as "lastWritten", min(run_id) as oldest,
       (select backed_up_at from place_notes where connection = $1) as "backedUpAt"
     from marks where connection = $1`,
    [connection],
  );
  return { keeper: await keeperOf(db), found, ...ends };
}
