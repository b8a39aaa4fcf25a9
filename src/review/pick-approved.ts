import type pg from 'pg';
import { coveredBy } from '../core/merge/fingerprint.ts';
import type { NewAction } from '../store/actions.ts';
import { type ApprovedLine, intentsOfRun, openLines } from '../store/approvals.ts';
import { connectionOf } from '../store/places.ts';
import type { Run } from '../store/runs.ts';

export interface Review {
  /** The action, as far as an approved line covers it; the rest is `left-out`. Each line is used once. */
  pick(action: NewAction): readonly NewAction[];
}

export async function openReview(
  db: pg.PoolClient,
  { id, round, connection, approval }: Run,
): Promise<Review | null> {
  if (approval === null) return null;
  const begun = await intentsOfRun(db, id);
  const approved = { id, round, connection: connectionOf(connection), approval };
  const lines = Map.groupBy(await openLines(db, approved), keyOf);
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
        const covered = { ...action, ...part.covered, planId: line.planId, planLine: line.id };
        return part.rest === null ? [covered] : [covered, { ...action, ...part.rest, state: 'left-out' }];
      }
      return [{ ...action, state: 'left-out' }];
    },
  };
}

function keyOf({ kind, leadId }: Pick<ApprovedLine, 'kind' | 'leadId'>): string {
  return `${kind} ${leadId ?? ''}`;
}
