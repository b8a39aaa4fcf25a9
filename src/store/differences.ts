import { batchesBySize } from '../core/lead/text-size.ts';
import type { Cells } from '../core/lead/value.ts';
import type { HeldField, Sight } from '../core/merge/difference.ts';
import type { UnknownLead } from '../core/merge/likeness.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { type PairFacts, sightOf } from '../core/merge/sight-of.ts';
import type { BaselineRow } from '../core/merge/shifted-rows.ts';
import { keysOfLead, type Service } from './places.ts';
import { columnOf, epochMs, mapOf, type Queryable } from './database.ts';
import { basesOf } from './pairs.ts';
import type { RunRef } from './runs.ts';

/** Leads looked up together. */
const lookedUpTogether = 500;

/** Every lead id that may need a decision, in the order of the ids; with `ofRows` those alone whose row may. */
export function sights(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  ofRows = false,
): AsyncGenerator<Sight, void> {
  return sightsOf(db, run, scan, scan.differing(ofRows));
}

/** What a scan shows of some leads, with what is stored of each. */
export async function* sightsOf(
  db: Queryable,
  run: RunRef,
  scan: LiveScan,
  leadIds: readonly string[],
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

/** What some leads show in the scan. */
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
