import type pg from 'pg';
import type { Cells } from '../core/lead/value.ts';
import type { ConflictFact, RowFacts } from '../core/merge/row-status.ts';
import { rowsOf } from './database.ts';
import { streamRows } from './stream-rows.ts';

/** A row as read, and its state after the round's writes. */
export interface RowStanding extends RowFacts {
  readonly leadId: string | null;
  readonly cells: Cells;
}

/**
 * Streams, in the target's order, the rows whose status cell may need a change: all except those that show `usual` and have
 * nothing to report. A row with an id reports its lead's conflicts and what the round deferred; a row without one the
 * round's last action on it (none: its lead is still being created). Rows that the round marked, removed, linked or gave
 * back are left out.
 */
export async function* rowStandings(
  pool: pg.Pool,
  run: {
    readonly id: number;
    readonly round: number;
    readonly connection: string;
    readonly scanIncomplete: boolean;
  },
  usual: string,
): AsyncIterable<RowStanding> {
  yield* streamRows<RowStanding>(
    pool,
    `with acts as (
       select id, kind, lead_id, row_number, content_hash, state, coalesce(outcome_code, reason) as code
       from actions where run_id = $1 and round = $2),
     known as (
       select lead_id, bool_or(kind in ('mark-row', 'remove-row', 'unlink') and state = 'done') as settled,
         (array_agg(code order by id) filter (where state not in ('done', 'held') and kind not in ('hold', 'report')))[1] as waiting
       from acts where lead_id is not null group by lead_id),
     made as (
       select distinct on (row_number) row_number, code, kind = 'link' and state = 'done' as settled,
         kind in ('hold', 'report') or state = 'held' as held
       from acts where row_number is not null and (lead_id is null or kind = 'link' or content_hash <> '')
       order by row_number, id desc),
     holds as (
       select lead_id, json_agg(json_build_object('field', field, 'code', code) order by id) as items
       from conflicts where connection = $3 and lead_id <> '' and content_hash = '' group by lead_id),
     -- Rows that are as in the baseline show \`usual\`: they are here when there is something to tell of them.
     scanned as (
       select s.lead_id, coalesce(s.cells, p.base) as cells, s.status, s.duplicate, s.row_number, s.ordinal from staged_rows s
       left join pairs p on p.connection = $3 and p.lead_id = s.lead_id
       where s.run_id = $1
       union all
       select p.lead_id, p.base, $4, false, p.row_number, p.row_number from pairs p
       where p.connection = $3 and p.lead_id in (
           select lead_id from holds union select lead_id from known where waiting is not null
           union select lead_id from absent_pairs where run_id = $1 and lead and not row)
         and not exists (select from staged_rows where run_id = $1 and lead_id = p.lead_id and not duplicate)
         and not exists (select from absent_pairs where run_id = $1 and lead_id = p.lead_id and row))
     select r.lead_id as "leadId", r.cells, r.status as shown, r.duplicate as "isCopy",
       case when r.lead_id is null and made.held then json_build_array(json_build_object('field', '', 'code', made.code))
         else coalesce(holds.items, '[]') end as conflicts,
       case when r.lead_id is not null then known.waiting
         when made.row_number is null then case when exists (select from acts where code = 'row.column-missing')
           then 'target.column-missing' else 'create.in-doubt' end
         when not made.held then made.code end as waiting,
       listed.yes as "isListed", p.outside_since is not null as "isOutside",
       case when not listed.yes then to_char(p.lead_deleted_at at time zone 'UTC', 'YYYY-MM-DD') end as "deletedOn"
     from scanned r
     left join pairs p on p.connection = $3 and p.lead_id = r.lead_id
     cross join lateral (select exists (select from scanned_leads where run_id = $1 and lead_id = r.lead_id) as yes) listed
     left join known on known.lead_id = r.lead_id and not r.duplicate
     left join holds on holds.lead_id = r.lead_id and not r.duplicate
     left join made on r.lead_id is null and made.row_number = r.row_number
     where r.status is not null
       and not coalesce(case when r.lead_id is null then made.settled else known.settled end, false)
       and (r.status <> $4 or r.duplicate or not listed.yes or p.outside_since is not null or holds.items is not null or known.waiting is not null)
       and not ($5 and r.lead_id is not null and not listed.yes and not r.duplicate and p.lead_deleted_at is null
         and holds.items is null and known.waiting is null)
     order by r.ordinal`,
    [run.id, run.round, run.connection, usual, run.scanIncomplete],
  );
}

/** What is held for some leads whose rows are about to be made or linked. */
export async function conflictsOfLeads(
  db: pg.Pool,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, readonly ConflictFact[]>> {
  const rows = await rowsOf<ConflictFact & { leadId: string }>(
    db,
    `select lead_id as "leadId", field, code from conflicts
     where connection = $1 and lead_id = any($2) and content_hash = '' order by id`,
    [connection, leadIds],
  );
  return Map.groupBy(rows, ({ leadId }) => leadId);
}
