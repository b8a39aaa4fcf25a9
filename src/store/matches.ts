import type pg from 'pg';
import type { Cells, Values } from '../core/lead/value.ts';
import { type Queryable, rowsOf, valueOf } from './database.ts';
import { type Decided, decidedOn, heldAgain } from './decisions.ts';
import { streamRows } from './stream-rows.ts';

/** `undone`: an undo took them apart, so they are proposed again, never linked without a decision. */
export const matchStates = ['proposed', 'ambiguous', 'accepted', 'rejected', 'undone'] as const;
export type MatchState = (typeof matchStates)[number];

/** A lead and a row that may be one, with what both show. */
export interface Match {
  readonly kind: 'match';
  readonly id: number;
  readonly connection: string;
  readonly leadId: string;
  readonly row: number | null;
  readonly lead: Cells;
  readonly cells: Cells;
  /** 0 to 1. */
  readonly score: number;
  readonly why: string;
  readonly state: MatchState;
  /** Who accepted or rejected it; null: undecided, or not on record. */
  readonly decided: Decided | null;
}

/** How the lead and the row of a match are known again; see the migration. */
export interface MatchMarks {
  readonly leadId: string;
  readonly contentHash: string;
  readonly leadMark: string | null;
  readonly rowMark: string;
}

export type MatchLine = MatchMarks & Omit<Match, 'kind' | 'id' | 'connection' | 'decided'>;

/** The baselines of all pairs in some fields, and their rows; null: it has none, or none is known. */
export async function* pairedValues(
  pool: pg.Pool,
  connection: string,
  fields: readonly string[],
): AsyncIterable<{ readonly leadId: string; readonly row: number | null; readonly values: Values }> {
  yield* streamRows(
    pool,
    `select lead_id as "leadId", row_number as row, (select jsonb_object_agg(f, base->f) from unnest($2::text[]) f) as "values" from pairs
     where connection = $1 and base is not null and lead_deleted_at is null`,
    [connection, fields],
  );
}

/** What earlier runs and people left of matches. */
export function knownMatches(
  db: Queryable,
  connection: string,
): Promise<readonly (MatchMarks & { readonly state: MatchState })[]> {
  return rowsOf(
    db,
    `select lead_id as "leadId", content_hash as "contentHash", lead_mark as "leadMark", row_mark as "rowMark", state
     from held where kind = 'match' and connection = $1 order by id`,
    [connection],
  );
}

/**
 * Stores the matches that a sync found, with people's decisions on them. Of earlier matches the rejected and undone ones stay;
 * after an incomplete scan (`isIncomplete`) all stay.
 */
export async function storeMatches(
  db: Queryable,
  connection: string,
  lines: readonly MatchLine[],
  isIncomplete: boolean,
): Promise<void> {
  if (!isIncomplete) {
    await db.query(`update held set current = false where kind = 'match' and connection = $1`, [connection]);
  }
  if (lines.length > 0)
    await db.query(
      `insert into held (kind, connection, current, lead_id, content_hash, lead_mark, row_mark, row_number, lead_value, row_value, score, message, state)
       select distinct on ("leadId", "contentHash") 'match', $1, true, "leadId", "contentHash", "leadMark", "rowMark", "row", lead, cells, score, why, state
       from json_to_recordset($2::json) as m ("leadId" text, "contentHash" text, "leadMark" text, "rowMark" text, "row" bigint,
         lead jsonb, cells jsonb, score double precision, why text, state text) order by "leadId", "contentHash", "row"
       ${heldAgain} current = true, since = now(), lead_mark = excluded.lead_mark, row_mark = excluded.row_mark,
         row_number = excluded.row_number, lead_value = excluded.lead_value, row_value = excluded.row_value,
         score = excluded.score, message = excluded.message, state = excluded.state`,
      [connection, JSON.stringify(lines)],
    );
  if (!isIncomplete)
    await db.query(
      `delete from held where kind = 'match' and connection = $1 and not current and state not in ('rejected', 'undone')`,
      [connection],
    );
}

/** These leads have a row now. */
export async function forgetMatches(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<void> {
  if (leadIds.length === 0) return;
  await db.query(`delete from held where kind = 'match' and connection = $1 and lead_id = any($2)`, [
    connection,
    leadIds,
  ]);
}

const columns = `kind, id, connection, lead_id as "leadId", row_number as row, lead_value as lead, row_value as cells, score, message as why, state,
  ${decidedOn(`state in ('accepted', 'rejected')`)} as decided`;

/** Those of these numbers that the last sync or plan found. */
export function matchesOf(db: Queryable, ids: readonly number[]): Promise<readonly Match[]> {
  return rowsOf(db, `select ${columns} from held where id = any($1) and kind = 'match' and current`, [ids]);
}

/** What undecided matches show. */
export function openMatches(
  db: Queryable,
  connection: string,
): Promise<readonly Pick<Match, 'lead' | 'cells'>[]> {
  return rowsOf(
    db,
    `select lead_value as lead, row_value as cells from held
     where connection = $1 and kind = 'match' and current and state in ('proposed', 'ambiguous')`,
    [connection],
  );
}

/** The number of another accepted match of the same lead or row; null: none. */
export function acceptedBeside(db: Queryable, id: number): Promise<number | null> {
  return valueOf(
    db,
    `select o.id from held m join held o on o.kind = 'match' and o.connection = m.connection and o.id <> m.id
       and (o.lead_id = m.lead_id or o.row_number = m.row_number)
     where m.id = $1 and o.state = 'accepted' and o.current order by o.id limit 1`,
    [id],
  );
}

/** Remembers a person's decision, and `by` whom. False, and nothing is remembered, when it shows something else by now. */
export async function decideMatch(
  db: Queryable,
  { id, lead, cells }: Pick<Match, 'id' | 'lead' | 'cells'>,
  state: 'accepted' | 'rejected',
  by: string,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `with decided as (
       update held set state = $2, decided_by = $3, decided_at = now()
       where id = $1 and kind = 'match' and current and lead_value = $4::jsonb and row_value = $5::jsonb returning *)
     insert into held (kind, connection, lead_id, resolution, decided_by, decided_at)
     select 'decision', connection, lead_id, state, decided_by, decided_at from decided`,
    [id, state, by, JSON.stringify(lead), JSON.stringify(cells)],
  );
  return rowCount === 1;
}
