import { withoutStop } from '../../errors.ts';
import type { Columns } from '../columns.ts';
import type { RowChange, RowOutcome } from '../target.ts';
import type { Refused } from './bisect.ts';
import { cellName } from './a1.ts';
import { GoogleFault } from './google-fault.ts';
import type { RefusedValues } from './refused-values.ts';
import { fieldAt, type PlannedRow } from './write-plan.ts';

/**
 * The outcomes of a plan by what became of it: rows of `astray` are put off, what was refused is held and remembered.
 */
export function outcomesOf(
  changes: readonly RowChange[],
  planned: readonly RowOutcome[],
  refused: readonly Refused<PlannedRow>[],
  astray: ReadonlySet<string>,
  columns: Columns,
  memory: RefusedValues,
): readonly RowOutcome[] {
  for (const { item, error } of refused) {
    const message = refusedMessage(item, error);
    const field = item.isWhole || item.cells.size > 1 ? null : onlyField(item, columns);
    const isStatus = !item.isWhole && columns.status !== null && item.cells.has(columns.status);
    for (const change of changes) {
      if ((change.leadId ?? '').trim() !== item.leadId) continue;
      if (isStatus) {
        const text = item.cells.get(columns.status);
        if ('text' in change && change.text === text) memory.remember(change, null, message);
      } else if (change.kind === 'status') continue;
      else if (field === null) memory.remember(change, null, message);
      else if ('values' in change && field in change.values) memory.remember(change, field, message);
    }
  }
  return changes.map((change, index): RowOutcome => {
    const outcome = planned[index];
    if (outcome === undefined) throw new Error('a change without outcome');
    if (outcome.status !== 'done') return outcome;
    const held = memory.heldBy(change);
    if (held !== null) return held;
    // What a row is told of itself is of no consequence: the next run tells it again.
    const isAstray = change.kind !== 'status' && astray.has(change.leadId.trim());
    return isAstray ? putOff(change) : outcome;
  });
}

function onlyField({ cells }: PlannedRow, columns: Columns): string | null {
  const [column] = cells.keys();
  return column === undefined ? null : fieldAt(columns, column);
}

function refusedMessage({ row, cells, isNew }: PlannedRow, error: Error): string {
  const words = error instanceof GoogleFault && error.words !== null ? `: ${withoutStop(error.words)}.` : '.';
  const names = [...cells.keys()].map((column) => cellName(row, column)).join(', ');
  return isNew
    ? `Google Sheets refused the new row${words} It was not added.`
    : `Google Sheets refused what was to be written into ${names}${words} That was left as it is.`;
}

function putOff({ key }: RowChange): RowOutcome {
  const message =
    'The row does not show what was written: somebody worked in it or moved it at that moment. The next run looks again.';
  return { key, status: 'put-off', code: 'row.changed', message };
}
