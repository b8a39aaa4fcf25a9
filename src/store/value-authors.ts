import type { ShownCell, Author } from '../core/lead/author.ts';
import { type Queryable, rowsOf } from './database.ts';
import { heldAgain } from './decisions.ts';
import type { RoundRef, RunRef } from './runs.ts';

/** SQL: whether two values are the same as they are compared. */
const isSameValue = (one: string, other: string): string =>
  `value_hash(${one} #>> '{}') = value_hash((${other}) #>> '{}')`;

/** SQL for the author of a value of the row, an expression; null: not known. */
export const authorOf = (of: string, value: string): string =>
  `(select nullif(v.author, 'null') from held v where v.kind = 'author' and v.connection = ${of}.connection
    and v.lead_id = ${of}.lead_id and v.field = ${of}.field and ${isSameValue('v.row_value', value)})`;

/**
 * The cells of the table in the conflicts of this round whose author was not looked up since they arose, at most `limit`: what
 * is held, and with `isDecided` what a policy decides where both sides were edited.
 */
export function cellsWithoutAuthor(
  db: Queryable,
  run: RunRef & RoundRef,
  { limit, isDecided }: { readonly limit: number; readonly isDecided: boolean },
): Promise<readonly ShownCell[]> {
  return rowsOf(
    db,
    `select h.lead_id as "leadId", h.field, h.row_number as row, coalesce(h.row_value, 'null') as shown from held h
     where h.kind = 'conflict' and h.connection = $1 and h.last_run = $2 and h.last_round = $3 and h.lead_id <> '' and h.field <> ''
       and h.row_number is not null and not exists (
         select from held v where v.kind = 'author' and v.connection = $1 and v.lead_id = h.lead_id and v.field = h.field
           and ${isSameValue('v.row_value', 'h.row_value')} and v.since >= h.since)
     union all
     select a.lead_id, c.key, a.row_number, c.value::jsonb->(case a.kind when 'update-row' then 'from' else 'to' end)
     from actions a, json_each(a.changes) c
     where $5 and a.run_id = $2 and a.round = $3 and a.state = 'planned' and a.kind in ('update-row', 'update-lead') and a.row_number is not null
       and c.value->>'rule' in ('leads-win', 'target-wins') and c.value->'base' is not null
     limit $4`,
    [run.connection, run.id, run.round, limit, isDecided],
  );
}

/** Remembers what a place said of cells, as many authors as cells; null: it does not know. */
export async function storeAuthors(
  db: Queryable,
  { connection }: Pick<RunRef, 'connection'>,
  cells: readonly ShownCell[],
  authors: readonly (Author | null)[],
): Promise<void> {
  await db.query(
    `insert into held (kind, connection, lead_id, field, row_value, author)
     select distinct on ("leadId", field) 'author', $1, "leadId", field, shown::jsonb, author::jsonb
     from json_to_recordset($2::json) as t ("leadId" text, field text, shown text, author text)
     ${heldAgain} row_value = excluded.row_value, author = excluded.author, since = excluded.since`,
    [
      connection,
      JSON.stringify(
        cells.map(({ leadId, field, shown }, nth) => {
          return {
            leadId,
            field,
            shown: JSON.stringify(shown),
            author: JSON.stringify(authors[nth] ?? null),
          };
        }),
      ),
    ],
  );
}

/** Forgets the authors of cells that could not be looked up this time. */
export async function forgetAuthors(
  db: Queryable,
  { connection }: Pick<RunRef, 'connection'>,
  cells: readonly ShownCell[],
): Promise<void> {
  await db.query(
    `delete from held where kind = 'author' and connection = $1
       and (lead_id, field) in (select * from unnest($2::text[], $3::text[]))`,
    [connection, cells.map(({ leadId }) => leadId), cells.map(({ field }) => field)],
  );
}
