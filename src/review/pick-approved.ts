import type pg from 'pg';
import { coveredBy } from '../core/merge/action.ts';
import type { NewAction } from '../store/actions.ts';
import { approvalOf, intentsOfRun, linesDoneBefore, linesOfRun } from '../store/approvals.ts';
import type { ApprovedLine, Run } from '../store/runs.ts';

export interface Review {
  /** The action, as far as an approved line covers it; the rest is `left-out`. Each line is used once. */
  pick(action: NewAction): readonly NewAction[];
}

/** Without the lines that another run, or an earlier round of this one, carried out or, for a create, began. */
export async function openReview(db: pg.PoolClient, run: Run): Promise<Review | null> {
  const approval = await approvalOf(db, run);
  if (approval === null) return null;
  const { planId } = approval;
  const begun = new Set(await intentsOfRun(db, run.id));
  const own = (await linesOfRun(db, run.id)).filter(({ round, isBegun }) => round < run.round && isBegun);
  const over = new Set(own.map(({ line }) => line));
  const before = await linesDoneBefore(db, run, approval);
  const open = approval.lines.filter(({ id }) => !over.has(id) && !before.has(id));
  const lines = Map.groupBy(open, keyOf);
  return {
    pick(action) {
      if (action.kind === 'hold' || action.kind === 'report') return [action];
      // The link finishes a create that was approved and begun.
      if (action.kind === 'link' && action.intentId !== undefined && begun.has(action.intentId))
        return [action];
      const candidates = lines.get(keyOf(action)) ?? [];
      for (const [index, line] of candidates.entries()) {
        const part = coveredBy(action, line);
        if (part === null) continue;
        candidates.splice(index, 1);
        const covered = { ...action, ...part.covered, planId, planLine: line.id };
        return part.rest === null ? [covered] : [covered, { ...action, ...part.rest, state: 'left-out' }];
      }
      return [{ ...action, state: 'left-out' }];
    },
  };
}

function keyOf({ kind, leadId }: Pick<ApprovedLine, 'kind' | 'leadId'>): string {
  return `${kind} ${leadId ?? ''}`;
}
