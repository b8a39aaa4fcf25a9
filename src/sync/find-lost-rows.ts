import type pg from 'pg';
import type { FieldMapping } from '../core/lead/mapping.ts';
import {
  type FoundRows,
  foundRows,
  goneLead,
  looseStray,
  lostMarks,
  type LostLead,
  orphanRow,
  renamedLead,
  type Stray,
  strayMarks,
  unheardLead,
} from '../core/merge/lost-rows.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Home } from '../core/merge/row-elsewhere.ts';
import type { Policy } from '../core/merge/policy.ts';
import { sights } from '../store/differences.ts';
import { begunRows } from '../store/new-rows.ts';
import type { Run } from '../store/runs.ts';
import type { SettledCreates } from '../core/merge/settle-creates.ts';

/** Up to this number, all leads without a row are kept in memory; above it, only those that a stray row may belong to. */
const mostGone = 20_000;

/** The most leads with renamed rows that are looked at: more are a matter of the guard. */
const mostRenamed = 5_000;

/**
 * Finds the rows of leads that lost theirs; skips rows and leads of `creates`, except leads whose row was not found, and rows
 * of leads in `homes`: it is known whose they are.
 */
export async function findRows(
  db: pg.PoolClient,
  run: Run,
  scan: LiveScan,
  fields: readonly FieldMapping[],
  policy: Policy,
  creates: Pick<SettledCreates, 'rows' | 'leadIds' | 'rowless'>,
  homes: ReadonlyMap<string, Home>,
): Promise<FoundRows> {
  const begun = await begunRows(db, run.connection);
  const [rowless, gone, renamed] = [[...creates.rowless], [] as LostLead[], [] as LostLead[]];
  let [fresh, newOrphans] = [0, 0];
  const taken = new Set([...creates.leadIds, ...rowless.map(({ leadId }) => leadId)]);
  if (begun.size > 0 || scan.inStep() > 0)
    for await (const sight of sights(db, run, scan, begun.size === 0)) {
      if (taken.has(sight.leadId)) continue;
      const unheard = unheardLead(sight, begun);
      if (unheard !== null) {
        rowless.push(unheard);
        taken.add(sight.leadId);
      }
      const lost = goneLead(sight);
      if (lost?.isFresh === true) fresh += 1;
      if (lost !== null && gone.length <= mostGone) gone.push(lost);
      const other = run.allow.includes('rows-shuffled') ? null : renamedLead(sight, fields);
      if (other !== null && renamed.length < mostRenamed) renamed.push(other);
    }
  const isAnyLost = rowless.length + gone.length + renamed.length > 0;
  if (!isAnyLost && !scan.rows.hasUnreadableIds)
    return foundRows([], [], fields, policy, { fresh, newOrphans });
  const areMany = gone.length > mostGone;
  if (areMany) gone.length = 0;
  gone.unshift(...rowless);
  const marksOf = (lead: LostLead): readonly string[] => lostMarks(lead, fields, policy.fields);
  const marks = new Set([...gone, ...renamed].flatMap(marksOf));
  const strays: Stray[] = [];
  const seeStray = (stray: Stray): void => {
    if (areMany || stray.isUnreadable || strayMarks(stray).some((mark) => marks.has(mark)))
      strays.push(stray);
  };
  for await (const sight of sights(db, run, scan, true)) {
    const orphan = homes.has(sight.leadId) ? null : orphanRow(sight, fields, rowless.length > 0);
    if (orphan === null) continue;
    if (orphan.isNew) newOrphans += 1;
    seeStray(orphan.stray);
  }
  for (const loose of scan.rows.loose())
    if (loose.leadId === null ? !creates.rows.has(loose.row) : !homes.has(loose.leadId))
      seeStray(looseStray(loose));
  if (areMany) {
    const ofStrays = new Set(strays.flatMap(strayMarks));
    for await (const sight of sights(db, run, scan, true)) {
      const lost = taken.has(sight.leadId) ? null : goneLead(sight);
      if (lost !== null && marksOf(lost).some((mark) => ofStrays.has(mark))) gone.push(lost);
    }
  }
  return foundRows(strays, [...gone, ...renamed], fields, policy, { fresh, newOrphans });
}
