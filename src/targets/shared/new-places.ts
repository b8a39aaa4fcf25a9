import type { RowDecisions } from './row-changes.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';

/** Adds the position of each new row to its outcome; `rowOf` maps the index among the added rows to it. */
export function withPlaces(
  { outcomes, appends }: Pick<RowDecisions<unknown>, 'outcomes' | 'appends'>,
  changes: readonly RowChange[],
  rowOf: (index: number) => number | undefined,
): readonly RowOutcome[] {
  const rows = new Map(appends.map(({ leadId }, index) => [leadId.trim(), rowOf(index)]));
  return outcomes.map((outcome, index) => {
    const row = rows.get(changes[index]?.leadId?.trim() ?? '');
    return outcome.status === 'done' && row !== undefined ? { ...outcome, row } : outcome;
  });
}
