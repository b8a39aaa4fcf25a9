import { history } from '../../src/store/history.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { fixedIds } from './crash-scenes.ts';
import type { CrashWorld } from './crash-world.ts';

/**
 * Everything that is to be the same in the end, whether a process died or not. Left out or brought into one form is what
 * may differ:
 * - ids of leads that were made: the lead's name stands for them
 * - the history of such leads: a create that had to be found again shows in its action, not by lines of the history
 * - the order of leads, rows, events and problems, and the day of a mark
 * - how many runs, rounds and requests it took, and with them how often a record was missed above the two times that
 *   prove it, and when a pair is forgotten that is gone on both sides
 * - creates that were begun and found not to have happened
 */
export async function endState(world: CrashWorld): Promise<Readonly<Record<string, unknown>>> {
  const { pool, sandbox, sheet } = world;
  const select = async (sql: string): Promise<unknown[]> => (await pool.query(sql)).rows;
  const runs = await pool.query<{ report: SyncReport }>('select report from runs order by id');
  const reports = runs.rows.map(({ report }) => report);
  const last = reports.at(-1);
  const total = (kind: 'created' | 'updated' | 'deleted', side: 'leads' | 'rows'): number =>
    reports.reduce((sum, report) => sum + report[kind][side], 0);
  const state = {
    files: world.files(),
    leads: sandbox.leads.list(),
    rows: sheet.rows(),
    headings: sheet.grid()[0]?.join(),
    pairs: await select(
      `select lead_id, base, least(lead_absences, 2) as missing, least(row_absences, 2) as row_missing,
         lead_deleted_at is not null as deleted from pairs
       where lead_absences = 0 or row_absences = 0`,
    ),
    held: await select(
      "select lead_id, content_hash, field, row_number, code, message, base, lead_value, row_value, resolution from held where kind = 'conflict'",
    ),
    history: await select(
      `select lead_id, field, side, base, before, after, rule from ${history} h where starts_with(lead_id, '${fixedIds}')`,
    ),
    creates: await select(
      `select intent as state, lead_id, changes from actions where intent <> 'abandoned'`,
    ),
    done: {
      created: { leads: total('created', 'leads'), rows: total('created', 'rows') },
      updated: { leads: total('updated', 'leads'), rows: total('updated', 'rows') },
      deleted: { leads: total('deleted', 'leads'), rows: total('deleted', 'rows') },
    },
    last: last && {
      status: last.status,
      pulled: last.pulled,
      targetRows: last.targetRows,
      // Each world is a copy that was moved to a folder of its own, which the run that reads it first says.
      problems: sorted(last.problems.filter(({ code }) => code !== 'place.moved')),
      receipt: last.receipt,
    },
    failed: reports.filter(({ status }) => status === 'failed' || status === 'stopped'),
    leftovers: await select(
      `select 'open run' as what from runs where finished_at is null
       union all select 'lease' from leases
       union all select 'staged' from actions where body is not null and state = 'planned'
       union all select 'staged' from run_sights`,
    ),
  };
  return Object.fromEntries(Object.entries(named(state, world)).map(([key, value]) => [key, sorted(value)]));
}

/** Ids of made leads and the day become words. */
function named(state: object, { sandbox }: CrashWorld): Record<string, unknown> {
  let text = JSON.stringify(state).replaceAll(/deleted \d{4}-\d\d-\d\d/g, 'deleted today');
  for (const { id, companyName } of sandbox.leads.list()) {
    const name = JSON.stringify(`the id of ${companyName}`).slice(1, -1);
    if (!id.startsWith(fixedIds)) text = text.replaceAll(id, name);
  }
  return JSON.parse(text) as Record<string, unknown>;
}

function sorted(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value
    .map((one) => JSON.stringify(one))
    .toSorted()
    .map((text): unknown => JSON.parse(text));
}
