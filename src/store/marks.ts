import { randomBytes } from 'node:crypto';
import type { KnownMark, KnownMarks } from '../core/merge/judge-mark.ts';
import { firstOf, type Queryable, valueOf } from './database.ts';
import { keeperOf } from './keeper.ts';
import type { RunRef } from './runs.ts';

const mostMarks = 50;

type Mark = Omit<KnownMark, 'connection'>;

async function marksOf(db: Queryable, connection: string): Promise<readonly Mark[]> {
  const text = 'select marks from place_notes where connection = $1';
  return (await valueOf<readonly Mark[]>(db, text, [connection])) ?? [];
}

async function storeMarks(db: Queryable, connection: string, marks: readonly Mark[]): Promise<void> {
  await db.query(
    `insert into place_notes (connection, marks) values ($1, $2)
     on conflict (connection) do update set marks = excluded.marks`,
    [connection, JSON.stringify(marks)],
  );
}

/** The nonce with which a run marks the table: the same one at each call. */
export async function intendMark(db: Queryable, run: RunRef): Promise<string> {
  const known = (await marksOf(db, run.connection)).find(({ runId }) => runId === run.id);
  if (known !== undefined) return known.nonce;
  const nonce = randomBytes(8).toString('hex');
  await rememberMark(db, run.connection, { runId: run.id, nonce, written: false });
  return nonce;
}

/** Accepts the mark found in the table: the run's own writes come after it. */
export async function acceptMark(db: Queryable, run: RunRef, nonce: string): Promise<void> {
  await rememberMark(db, run.connection, { runId: run.id - 1, nonce, written: true });
}

async function rememberMark(db: Queryable, connection: string, mark: Mark): Promise<void> {
  const others = (await marksOf(db, connection)).filter(({ nonce }) => nonce !== mark.nonce);
  const marks = [mark, ...others].toSorted((one, other) => other.runId - one.runId);
  await storeMarks(db, connection, marks.slice(0, mostMarks));
}

/** The mark has arrived: what shows an earlier one from now on is an older copy. */
export async function confirmMark(db: Queryable, connection: string, nonce: string): Promise<void> {
  const marks = await marksOf(db, connection);
  const arrived = (mark: Mark): boolean => mark.nonce === nonce && !mark.written;
  if (!marks.some(arrived)) return;
  await storeMarks(
    db,
    connection,
    marks.map((mark) => (arrived(mark) ? { ...mark, written: true } : mark)),
  );
}

/** What is remembered of a mark that was found in the table of a connection. */
export async function knownMarks(
  db: Queryable,
  connection: string,
  nonce: string | null,
): Promise<KnownMarks> {
  const found = await firstOf<KnownMark>(
    db,
    `select connection, m.* from place_notes cross join jsonb_to_recordset(marks) as m ("runId" bigint, nonce text, written boolean)
     where nonce = $2 order by connection = $1 desc limit 1`,
    [connection, nonce],
  );
  const notes = await firstOf<{ readonly marks: readonly Mark[]; readonly backedUpAt: Date | null }>(
    db,
    'select marks, backed_up_at as "backedUpAt" from place_notes where connection = $1',
    [connection],
  );
  const { marks, backedUpAt } = notes ?? { marks: [], backedUpAt: null };
  return {
    keeper: await keeperOf(db),
    found,
    lastWritten: marks.find(({ written }) => written)?.runId ?? null,
    oldest: marks.at(-1)?.runId ?? null,
    backedUpAt,
  };
}
