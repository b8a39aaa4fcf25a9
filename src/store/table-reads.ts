import { absencesThatProve } from '../core/merge/policy.ts';
import type { Aside } from '../core/lead/aside.ts';
import type { LeftRow } from '../core/merge/shown-rows.ts';
import type { Problem } from '../lib/errors.ts';
import type { ContentTag } from '../ports/target.ts';
import { firstOf, isoMs, type Queryable } from './database.ts';
import { movesOf } from './load-baselines.ts';
import { connectionOf } from './places.ts';

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
