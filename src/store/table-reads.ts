import type { Aside } from '../core/lead/aside.ts';
import type { LeftRow } from '../core/merge/shown-rows.ts';
import type { Problem } from '../lib/errors.ts';
import { type Queryable, valueOf } from './database.ts';
import { movesOf } from './load-baselines.ts';

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

const kept = `on conflict (connection) do update set read_tag = excluded.read_tag, read_moves = excluded.read_moves,
  read_shown = excluded.read_shown`;

/** Remembers it until the table is another one (`contentTag` says that it is not), or pairs have moved again. */
export async function keepTableRead(
  db: Queryable,
  connection: string,
  contentTag: string,
  moves: number,
  read: TableRead,
): Promise<void> {
  await db.query(
    `insert into place_notes (connection, read_tag, read_moves, read_shown) values ($1, $2, $3, $4) ${kept}`,
    [connection, contentTag, moves, JSON.stringify(read)],
  );
}

/** What a table shows that is as it was when it was read last, while all pairs are as they were; null: something is not. */
export function repeatTableRead(
  db: Queryable,
  connection: string,
  contentTag: string,
  moves: number,
): Promise<TableRead | null> {
  return valueOf(
    db,
    `select read_shown from place_notes where connection = $1 and read_tag = $2 and read_moves = $3`,
    [connection, contentTag, moves],
  );
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
    `insert into place_notes (connection, read_tag, read_moves, read_shown)
     select $1, $2, ${movesOf('$1')}, $4 from pairs where connection = $1
     having count(*) = $5 and bool_and(base ?& $3::text[] and row_number is not null and lead_deleted_at is null
       and lead_absences = 0 and row_absences = 0) ${kept}`,
    [connection, contentTag, fields, JSON.stringify(read), read.rows],
  );
}
