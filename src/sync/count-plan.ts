import type pg from 'pg';
import type { PlanCounts } from '../core/merge/guard.ts';
import { countActions, countChangedFields, countEmptiedFields } from '../store/actions.ts';
import { countKnownPairs } from '../store/pairs.ts';
import { knownService } from '../store/places.ts';
import type { Run } from '../store/runs.ts';
import type { StepContext } from './context.ts';
import type { OlderCopies } from './find-older-copy.ts';
import { otherPlace, type Placement } from './which-place.ts';

/** The reasons to write a row again. */
const goneRow: ReadonlySet<string> = new Set(['row-deleted', 'row-deleted-but-lead-edited']);

/** The guard's numbers of a plan, as far as the database has them. */
export async function countPlan(
  context: StepContext,
  db: pg.PoolClient,
  run: Run,
  { isBroughtForward }: OlderCopies,
  placement: Placement | null,
): Promise<Omit<PlanCounts, 'strangers' | 'permuted' | 'idsUnknown' | 'mark'>> {
  const service = await knownService(db, run.connection);
  const byKind: Record<string, number> = {};
  let rewritten = 0;
  for (const { kind, reason, round, state, count } of await countActions(db, run.id)) {
    if (round !== run.round || state === 'left-out') continue;
    // An update that only fills empty cells, such as a new column, overwrites nothing.
    if (kind === 'update-row' && reason === 'fills-empty') continue;
    // A person chose to bring the older copy forward.
    if (isBroughtForward && (reason === 'older-copy' || goneRow.has(reason))) continue;
    byKind[kind] = (byKind[kind] ?? 0) + count;
    if (kind === 'create-row' && goneRow.has(reason)) rewritten += count;
  }
  return {
    knownPairs: await countKnownPairs(db, run.connection),
    leads: run.pulled,
    otherService: service === context.connection.leads.baseUrl ? null : service,
    byKind,
    otherPlace: await otherPlace(db, run, placement),
    rows: run.targetRows,
    rewritten,
    byField: await countChangedFields(db, run),
    emptied: await countEmptiedFields(db, run),
  };
}
