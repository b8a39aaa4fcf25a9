import type { Cells } from '../core/lead/value.ts';
import { batchesBySize } from '../core/lead/text-size.ts';
import type { LeadCheckpoint, LiveScan } from '../core/merge/live-scan.ts';
import { inStep } from '../core/merge/row-status.ts';
import { isEqual, placeOf } from '../core/merge/sight-of.ts';
import { mapOf, oneOf, type Queryable, rowsOf } from './database.ts';
import type { RunRef } from './runs.ts';

/** Adds a checkpoint to the log of a scan. */
export async function logLeads(
  db: Queryable,
  runId: number,
  { asBase, cursors, leads, asked }: LeadCheckpoint,
): Promise<void> {
  await db.query(
    `insert into run_sights (run_id, as_base, cursors, listed, asked) values ($1, $2, $3, $4, $5)`,
    [runId, asBase.flat(), cursors, leads, JSON.stringify(asked)],
  );
}

/** Takes up the scan of the leads where an earlier process left it. */
export async function takeUpLeads(db: Queryable, runId: number, scan: LiveScan): Promise<void> {
  const lines = await rowsOf<Pick<LeadCheckpoint, 'cursors' | 'asked'> & { id: number; asBase: string[] }>(
    db,
    `select id, as_base as "asBase", cursors, asked from run_sights where run_id = $1 and cursors is not null order by id`,
    [runId],
  );
  const checkpoints = lines.map(({ asBase, ...line }) => ({
    ...line,
    asBase: asBase.flatMap((id, nth) =>
      nth % 2 === 0 ? [[Number(id), Number(asBase[nth + 1])] as const] : [],
    ),
  }));
  scan.takeUpLeads(checkpoints);
  for (const { id } of lines)
    scan.takeUpOthers(await oneOf(db, `select listed as leads from run_sights where id = $1`, [id]));
}

/**
 * Stores what a scan found that differs, when it is planned: at its end the run compares it with what it did. Without what both
 * sides show, and new leads of which nothing else is known.
 */
export async function storeSights(db: Queryable, runId: number, scan: LiveScan): Promise<void> {
  const leads = function* () {
    for (const leadId of scan.differing()) {
      if (scan.isPaused(leadId)) continue;
      const [lead, row] = [scan.lead(leadId), scan.row(leadId)];
      if (isEqual(scan, lead, row)) continue;
      const isMissed = { isLeadMissed: !scan.hasLead(leadId), isRowMissed: !scan.hasRow(leadId) };
      yield { leadId, row: placeOf(scan, leadId), lead, cells: row?.cells ?? null, ...isMissed };
    }
  };
  await insert(
    db,
    runId,
    `insert into run_sights (run_id, leads, first_lead, last_lead)
     select $1, $2, min(one->>'leadId' collate "C"), max(one->>'leadId' collate "C") from json_array_elements($2) one`,
    leads(),
  );
  await insert(db, runId, 'insert into run_sights (run_id, rows) values ($1, $2)', scan.rows.loose());
}

/**
 * Stores the rows whose status cells may need a change, when they are planned: those that do not show their baselines with the usual
 * text, and those of leads that the list lacks. Of paused rows no status is shown, so that none is written.
 */
export async function storeStatuses(db: Queryable, runId: number, scan: LiveScan): Promise<void> {
  const lines = function* () {
    for (const leadId of scan.rows.ids()) {
      const { hash: _hash, status, paused, ...row } = scan.row(leadId) ?? { status: null };
      const shown = paused === true ? null : status;
      yield { ...row, shown, leadId, isCopy: false, isListed: scan.hasLead(leadId) };
    }
    for (const { ordinal, row, cells, status, isPaused, leadId } of scan.rows.loose()) {
      const shown = isPaused === true ? null : status;
      const isCopy = leadId !== null;
      yield { ordinal, row, cells, shown, leadId, isCopy, isListed: isCopy && scan.hasLead(leadId) };
    }
    for (const { leadId, lead, row } of scan.absent()) {
      if (!lead || row || scan.row(leadId) !== null) continue;
      const place = placeOf(scan, leadId);
      yield { ordinal: place, row: place, shown: inStep, leadId, isCopy: false, isListed: false };
    }
  };
  await insert(db, runId, 'insert into run_sights (run_id, statuses) values ($1, $2)', lines());
}

const storedTogether = 500;

/** `text`: of a run ($1) and of many of these records ($2). */
async function insert(db: Queryable, runId: number, text: string, all: Iterable<object>): Promise<void> {
  for (const some of batchesBySize(all, () => storedTogether))
    await db.query(text, [runId, JSON.stringify(some)]);
}

/** SQL: which of `run_sights s` may have one of these leads (an array, SQL as well): only those are taken apart. */
export const mayHaveOf = (leadIds: string): string =>
  `exists (select from unnest(${leadIds}) w (id) where w.id between s.first_lead and s.last_lead)`;

/** What some leads showed in the scan of a run, once it is planned; of those that showed their baselines, what these are now. */
export function sightedLeads(
  db: Queryable,
  run: RunRef,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, Cells>> {
  return mapOf(
    db,
    `with sighted as materialized (
       select l.* from run_sights s
       cross join lateral json_to_recordset(s.leads) as l ("leadId" text, lead jsonb, "isLeadMissed" boolean)
       where s.run_id = $1 and ${mayHaveOf('$3::text[]')} and l."leadId" = any($3))
     select w.id, coalesce(s.lead, p.base) from unnest($3::text[]) w (id)
     left join sighted s on s."leadId" = w.id left join pairs p on p.connection = $2 and p.lead_id = w.id
     where s."isLeadMissed" is not true and coalesce(s.lead, p.base) is not null`,
    [run.id, run.connection, leadIds],
  );
}
