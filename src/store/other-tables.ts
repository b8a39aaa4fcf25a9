import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Home, OtherTable } from '../core/merge/row-elsewhere.ts';
import { mapOf, type Queryable } from './database.ts';
import { connectionOf, isSameForAll, type Service } from './places.ts';
import type { RunRef } from './runs.ts';

/**
 * The other connections of a service with their last complete sync, $1: its address, $2: this connection, $3: its account.
 * What belongs to tables that were left has another key.
 */
const others = `others as (
  select r.connection, max(r.id) as last_run, max(r.finished_at) as last_at,
    (select account from places where connection = r.connection and is_current limit 1) = $3 as is_own_account,
    (select address from places where connection = r.connection and is_current limit 1) as address
  from runs r
  where r.connection <> $2 and r.mode = 'sync' and r.status in ('succeeded', 'partial')
    and coalesce((select service from places where connection = r.connection and is_current limit 1), r.base_url) = $1
  group by r.connection)`;

const values = (run: RunRef, service: Service, leadIds: readonly string[]): unknown[] => [
  service.baseUrl,
  connectionOf(run.connection),
  service.account,
  leadIds,
];

/** Listed leads whose rows the scan lacks. */
const withoutRow = (scan: LiveScan): readonly string[] =>
  [...scan.absent()].flatMap(({ leadId, lead, row }) => (row && !lead ? [leadId] : []));

/**
 * Leads whose row this scan lacks and another table has, where it is held for its list lacks the lead: also of another account,
 * which has a row of this id from somewhere. Nothing is deleted in a doubt.
 */
export function rowsInOtherTables(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  service: Service,
): Promise<ReadonlyMap<string, OtherTable>> {
  return mapOf(
    db,
    `with ${others}
     select c.lead_id as id, json_build_object('connection', o.connection, 'address', o.address, 'row', c.row_number) as value
     from others o join held c on c.kind = 'conflict' and c.connection = o.connection and c.code in ('row.orphan', 'row.moved') and c.row_number is not null
     join pairs p on p.connection = $5 and p.lead_id = c.lead_id and p.base is not null
     where c.lead_id = any($4)
     order by o.connection desc`,
    [...values(run, service, withoutRow(scan)), run.connection],
  );
}

/** Rows of this scan whose lead the list lacks and another connection keeps. */
export function rowsOfOtherTables(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  service: Service,
): Promise<ReadonlyMap<string, Home>> {
  const unlisted = new Set(
    [...scan.absent()].flatMap(({ leadId, lead, row }) => (lead && !row ? [leadId] : [])),
  );
  for (const leadId of scan.rows.ids()) if (!scan.hasLead(leadId)) unlisted.add(leadId);
  return mapOf(
    db,
    `with ${others}
     select l.lead_id as id, json_build_object('connection', o.connection, 'address', o.address, 'row', p.row_number,
       'isThere', p.row_absences = 0 and not exists (select from held where kind = 'conflict' and connection = o.connection
         and lead_id = l.lead_id and code = 'row.moved' and row_number is null)) as value
     from unnest($4::text[]) l (lead_id) cross join others o
     join pairs p on p.connection = o.connection and p.lead_id = l.lead_id and p.base is not null and p.row_number is not null
       and p.lead_deleted_at is null and p.lead_absences = 0
     where o.is_own_account or ${isSameForAll('l.lead_id')}
     order by o.connection desc`,
    values(run, service, [...unlisted]),
  );
}

/**
 * Leads whose row this scan and one before it lack, while another table that may have it was not read in between. Tables
 * that were not synced for a week are not waited for.
 */
export async function unreadElsewhere(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  service: Service,
): Promise<ReadonlySet<string>> {
  const found = await mapOf(
    db,
    `with ${others}
     select p.lead_id as id, true as value from others o
     join pairs p on p.connection = $5 and p.lead_id = any($4) and p.row_absences > 0 and p.absence_run > o.last_run
     where o.last_at > now() - interval '7 days' and not exists (
       select from pairs q where q.connection = o.connection and q.lead_id = p.lead_id and q.base is not null
         and q.row_absences = 0 and q.row_number is not null)`,
    [...values(run, service, withoutRow(scan)), run.connection],
  );
  return new Set(found.keys());
}
