import { batchesBySize } from '../core/lead/text-size.ts';
import type { Cells } from '../core/lead/value.ts';
import type { HeldField, Sight } from '../core/merge/difference.ts';
import type { UnknownLead } from '../core/merge/match-lost-creates.ts';
import { type LiveScan, type PairFacts, sightOf } from '../core/merge/live-scan.ts';
import type { BaselineRow } from '../core/merge/shifted-rows.ts';
import { connectionOf, isSameForAll, keysOfLead, type Service } from './places.ts';
import { columnOf, epochMs, mapOf, type Queryable } from './database.ts';
import { basesOf } from './pairs.ts';
import type { RunRef } from './runs.ts';
import type { Home, OtherTable } from '../core/merge/row-elsewhere.ts';

/** Leads looked up together. */
const lookedUpTogether = 500;

/** What a scan shows of some leads (default: of all that may need a decision), with what is stored of each. */
export async function* sightsOf(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  leadIds: readonly string[] = scan.differing(),
): AsyncGenerator<Sight, void> {
  const isAnyHeld = leadIds.length > 0 && (await heldOf(db, run, null)).size > 0;
  const sizeOf = (leadId: string): number => scan.length(leadId);
  for (const some of batchesBySize(leadIds, () => lookedUpTogether, sizeOf)) {
    const facts = await factsOf(db, run, scan, some);
    const held = isAnyHeld ? await heldOf(db, run, some) : new Map<string, readonly HeldField[]>();
    for (const leadId of some) yield sightOf(scan, leadId, facts.get(leadId), held.get(leadId) ?? []);
  }
}

/** What is stored of those of some leads that are pairs. */
async function factsOf(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, PairFacts>> {
  const pairs = leadIds.filter((leadId) => scan.isPair(leadId));
  if (pairs.length === 0) return new Map();
  return mapOf(
    db,
    `select lead_id, json_build_object('base', base, 'leadAbsences', lead_absences, 'rowAbsences', row_absences,
       'isCounted', absence_run is not distinct from $3, 'absentSince', ${epochMs('absent_since')}, 'deletionDone', lead_deleted_at is not null)
     from pairs where connection = $1 and lead_id = any($2)`,
    [run.connection, pairs, run.id],
  );
}

/** What is held of some leads; null: of one that anything is held of. */
function heldOf(
  db: Queryable,
  { connection }: RunRef,
  leadIds: readonly string[] | null,
): Promise<ReadonlyMap<string, readonly HeldField[]>> {
  return mapOf(
    db,
    `select lead_id, json_agg(json_build_object('field', field, 'code', code, 'resolution', resolution, 'lead', lead_value, 'row', row_value,
       'records', case when field = '' then base end) order by id)
     from held where kind = 'conflict' and connection = $1 and ($2::text[] is null or lead_id = any($2)) group by 1 ${leadIds === null ? 'limit 1' : ''}`,
    [connection, leadIds],
  );
}

/** All rows with a baseline, where they are `now` or were `before`: what they show of some fields, and had. */
export async function* rowsInPlace(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  fields: readonly string[],
  when: 'now' | 'before',
): AsyncGenerator<BaselineRow, void> {
  const places: { readonly leadId: string; readonly place: number; readonly row: number }[] = [];
  for (let n = 0; n < scan.base.size; n++) {
    const leadId = scan.base.leadId(n);
    const before = scan.base.row(n);
    const row = scan.row(leadId)?.row ?? before;
    const place = when === 'now' ? row : before;
    if (place === null || row === null || (when === 'now' && scan.missed(leadId).row)) continue;
    places.push({ leadId, place, row });
  }
  const of = (cells: Cells): Cells =>
    Object.fromEntries(fields.flatMap((field) => (field in cells ? [[field, cells[field] ?? null]] : [])));
  for (const some of batchesBySize(
    places.toSorted((a, b) => a.place - b.place),
    () => lookedUpTogether,
    ({ leadId }) => scan.length(leadId),
  )) {
    const facts = await factsOf(
      db,
      run,
      scan,
      some.map(({ leadId }) => leadId),
    );
    for (const { leadId, place, row } of some) {
      const { base = null, rowAbsences = 0, isCounted = false } = facts.get(leadId) ?? {};
      const isMissed = scan.missed(leadId).row;
      // A row that was gone before this scan has the number of another one.
      if (base === null || (isMissed && rowAbsences > Number(isCounted))) continue;
      const cells = isMissed || scan.isPaused(leadId) ? null : of(scan.row(leadId)?.cells ?? base);
      yield { place, row, base: of(base) as BaselineRow['base'], cells };
    }
  }
}

/** The keys of rows without an id of which a person wants leads. */
export async function wantedRows(db: Queryable, connection: string): Promise<ReadonlySet<string>> {
  const text = `select content_hash from held where kind = 'conflict' and connection = $1 and lead_id = '' and field = '' and resolution is not null`;
  return new Set(await columnOf<string>(db, text, [connection]));
}

/** What rows showed that gave up their ids in the last sync, so that leads are made of them, wherever they stand. */
export function releasedRows(db: Queryable, connection: string): Promise<readonly Cells[]> {
  return columnOf(
    db,
    `select expect from actions where kind = 'unlink' and reason in ('older-copy', 'lead-restored') and state = 'done'
       and run_id in (select id from runs where connection = $1 and mode = 'sync' order by id desc limit 2)`,
    [connection],
  );
}

/** Leads of the scan that no earlier run saw: a lost create may have made them. */
export async function unknownLeads(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  service: Service,
): Promise<readonly UnknownLead[]> {
  const keys = keysOfLead('o.lead_id', { connection: '$2', baseUrl: '$3', account: '$4' });
  const ids = [...scan.leads()].filter((leadId) => !scan.isPair(leadId)).toSorted();
  const knownSince = await mapOf<number>(
    db,
    `select o.lead_id, min(${epochMs('o.first_seen_at')}) from pairs o
     where o.lead_id = any($1) and o.connection in ${keys} group by 1`,
    [ids, run.connection, service.baseUrl, service.account],
  );
  return ids.map((id) => ({ id, cells: scan.lead(id) ?? {}, knownSince: knownSince.get(id) ?? null }));
}

export async function scannedLeadCells(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, Cells>> {
  const listed = leadIds.filter((leadId) => scan.hasLead(leadId));
  const bases = await basesOf(
    db,
    run.connection,
    listed.filter((leadId) => scan.lead(leadId) === null),
  );
  return new Map(
    listed.flatMap((leadId) => {
      const cells = scan.lead(leadId) ?? bases.get(leadId);
      return cells === undefined ? [] : [[leadId, cells]];
    }),
  );
}

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
