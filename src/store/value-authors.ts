import type { ShownCell, Author } from '../core/lead/author.ts';
import { winners } from '../core/merge/policy.ts';
import { type Queryable, rowsOf } from './database.ts';
import type { RoundRef, RunRef } from './runs.ts';

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
       and h.row_number is not null and h.author is null
     union all
     select a.lead_id, c.key, a.row_number, c.value::jsonb->(case a.kind when 'update-row' then 'from' else 'to' end)
     from actions a, json_each(a.changes) c
     where $5 and a.run_id = $2 and a.round = $3 and a.state = 'planned' and a.kind in ('update-row', 'update-lead') and a.row_number is not null
       and c.value->>'rule' = any($6) and c.value->'base' is not null
       and a.authors->c.key is null
     limit $4`,
    [run.connection, run.id, run.round, limit, isDecided, winners],
  );
}

/** Remembers what a place said of cells, as many authors as cells; null: it does not know. */
export async function storeAuthors(
  db: Queryable,
  run: RunRef & RoundRef,
  cells: readonly ShownCell[],
  authors: readonly (Author | null)[],
): Promise<void> {
  await db.query(
    `with known as materialized (
       select distinct on ("leadId", field) "leadId" as lead_id, field, author::jsonb
       from json_to_recordset($4::json) as t ("leadId" text, field text, author text)),
     held_ones as (
       update held h set author = k.author from known k
       where h.kind = 'conflict' and h.connection = $1 and h.lead_id = k.lead_id and h.field = k.field)
     update actions a set authors = coalesce(authors, '{}') || said.by_field from (
       select a.id, jsonb_object_agg(k.field, k.author) as by_field from known k join actions a on a.lead_id = k.lead_id
       where a.run_id = $2 and a.round = $3 and a.kind in ('update-row', 'update-lead') and a.changes->k.field is not null group by 1) said
     where a.id = said.id`,
    [
      run.connection,
      run.id,
      run.round,
      JSON.stringify(
        cells.map(({ leadId, field }, nth) => {
          return { leadId, field, author: JSON.stringify(authors[nth] ?? null) };
        }),
      ),
    ],
  );
}

/** What this round's plan writes at the end of a conflict names the author whom the conflict had. */
export async function handOnAuthors(db: Queryable, run: RunRef & RoundRef): Promise<void> {
  await db.query(
    `update actions a set authors = said.by_field from (
       select a.id, jsonb_object_agg(h.field, h.author) as by_field
       from held h join actions a on a.lead_id = h.lead_id cross join lateral (select a.changes->h.field as change) c
       where h.kind = 'conflict' and h.connection = $1 and h.author is not null and a.run_id = $2 and a.round = $3 and a.kind <> 'hold'
         and c.change->>'rule' = any($4)
         and h.row_value = (c.change->case a.kind when 'update-lead' then 'to' else 'from' end)::jsonb group by 1) said
     where a.id = said.id`,
    [run.connection, run.id, run.round, ['resolved', ...winners]],
  );
}
