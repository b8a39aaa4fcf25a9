import type pg from 'pg';
import { absencesThatProve } from '../core/merge/policy.ts';
import type { ContentTag } from '../ports/target.ts';
import { connectionOf } from './places.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { clearFields } from './baselines.ts';
import { firstOf, isoMs, type Queryable, valueOf } from './database.ts';
import { randomBytes } from 'node:crypto';
import type { KnownMark, KnownMarks } from '../core/merge/judge-mark.ts';
import { keeperOf } from './keeper.ts';
import type { RunRef } from './runs.ts';
import type { Aside } from '../core/lead/aside.ts';
import type { LeftRow } from '../core/merge/shown-rows.ts';
import type { Problem } from '../lib/errors.ts';
import { movesOf } from './load-baselines.ts';

type Columns = readonly Pick<FieldMapping, 'field' | 'column'>[];

/** By field the column in which it was kept at the last sync. */
async function knownColumns(db: Queryable, connection: string): Promise<ReadonlyMap<string, string>> {
  const text = 'select columns from place_notes where connection = $1';
  return new Map(Object.entries((await valueOf<Record<string, string>>(db, text, [connection])) ?? {}));
}

/** The fields that were kept in another column when the connection was last synced: what was agreed on was that one's. */
export async function movedFields(
  db: Queryable,
  connection: string,
  columns: Columns,
): Promise<ReadonlySet<string>> {
  const known = await knownColumns(db, connection);
  const moved = columns.filter(({ field, column }) => (known.get(field) ?? column) !== column);
  return new Set(moved.map(({ field }) => field));
}

/** The fields that were not mapped yet when the connection was last synced; none before its first sync. */
export async function newFields(
  db: pg.Pool,
  connection: string,
  columns: Columns,
): Promise<readonly string[]> {
  const known = await knownColumns(db, connection);
  return known.size === 0 ? [] : columns.map(({ field }) => field).filter((field) => !known.has(field));
}

/** Stores the columns, also missing ones, and clears the baselines of fields that moved to another column. */
export async function rememberColumns(
  db: pg.PoolClient,
  connection: string,
  columns: Columns,
  moved: ReadonlySet<string>,
): Promise<void> {
  if (moved.size > 0) await clearFields(db, connection, [...moved]);
  const now = Object.fromEntries(columns.map(({ field, column }) => [field, column]));
  const next = `excluded.columns || (coalesce(known.columns, '{}') - $3::text[])`;
  await db.query(
    `insert into place_notes as known (connection, columns) values ($1, $2) on conflict (connection)
     do update set columns = ${next} where known.columns is distinct from ${next}`,
    [connection, JSON.stringify(now), [...moved]],
  );
}

/** The contents of the rows below the range of a table that the last sync took for notes. */
export async function notesBelow(db: Queryable, connection: string): Promise<ReadonlySet<string>> {
  const text = 'select below from place_notes where connection = $1';
  return new Set(await valueOf<readonly string[]>(db, text, [connection]));
}

export async function keepNotesBelow(
  db: Queryable,
  connection: string,
  hashes: readonly string[],
): Promise<void> {
  await db.query(
    `insert into place_notes (connection, below) values ($1, $2) on conflict (connection)
     do update set below = excluded.below where place_notes.below is distinct from excluded.below`,
    [connection, hashes],
  );
}

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

/** What a table showed when it was read as a whole. */
export interface TableRead {
  readonly rows: number;
  readonly problems: readonly Problem[];
  /** As `Run.mark`. */
  readonly mark: string | null;
  /** The rows that do not show their baselines where they stood, in their order. */
  readonly left: readonly LeftRow[];
  /** The leads of pairs without a row. */
  readonly rowless: readonly string[];
  /** What other cells show of rows. */
  readonly asides: readonly Aside[];
}

/** `readAt` (ISO instant): when it was read. */
export type RepeatedRead = TableRead & { readonly readAt: string };

type Tag = Pick<ContentTag, 'contentTag' | 'from'>;

const kept = `on conflict (connection) do update set read_tag = excluded.read_tag, read_moves = excluded.read_moves,
  read_shown = excluded.read_shown, read_at = excluded.read_at`;

/**
 * Remembers it until the table is another one (`contentTag` says that it is not), or pairs have moved again. By the word of a server
 * only when no scan has to prove any more that a row is gone.
 */
export async function keepTableRead(
  db: Queryable,
  connection: string,
  { contentTag, from }: Tag,
  moves: number,
  read: TableRead,
): Promise<void> {
  await db.query(
    `insert into place_notes (connection, read_tag, read_moves, read_shown, read_at) select $1, $2, $3, $4, now()
     where $5 or not exists (select from pairs where connection = $1 and lead_id = any($6) and row_absences < ${absencesThatProve}) ${kept}`,
    [connection, contentTag, moves, JSON.stringify(read), from === 'content', read.rowless],
  );
}

/**
 * What a table shows that is as it was when it was read last, while all pairs are as they were; null: something may not be. The word of a
 * server is believed for a day, less what a run may begin late; one that comes late only while the next run is near.
 */
export async function repeatTableRead(
  db: Queryable,
  connection: string,
  { contentTag, from }: Tag,
  moves: number,
): Promise<RepeatedRead | null> {
  const found = await firstOf<{ read: TableRead; readAt: string }>(
    db,
    `select read_shown as read, ${isoMs('read_at')} as "readAt" from place_notes
     where connection = $1 and read_tag = $2 and read_moves = $3
       and ($4 = 'content' or read_at between now() - interval '23 hours' and now())
       and ($4 <> 'late' or exists (select from runs where connection = $5 and mode = 'sync' and finished_at > now() - interval '1 hour'))`,
    [connection, contentTag, moves, from, connectionOf(connection)],
  );
  return found && { ...found.read, readAt: found.readAt };
}

/**
 * Remembers a table that shows all pairs as they are: when there are so many, each with a row, a baseline in all fields and nothing
 * else to be decided. Does nothing when that is not so.
 */
export async function keepWrittenTable(
  db: Queryable,
  connection: string,
  contentTag: string,
  fields: readonly string[],
  read: TableRead,
): Promise<void> {
  await db.query(
    `insert into place_notes (connection, read_tag, read_moves, read_shown, read_at)
     select $1, $2, ${movesOf('$1')}, $4, now() from pairs where connection = $1
     having count(*) = $5 and bool_and(base ?& $3::text[] and row_number is not null and lead_deleted_at is null
       and lead_absences = 0 and row_absences = 0) ${kept}`,
    [connection, contentTag, fields, JSON.stringify(read), read.rows],
  );
}
