import { withoutStop } from '../../lib/errors.ts';
import { idKey } from '../../core/lead/lead.ts';
import type { Columns } from '../shared/columns.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';
import type { Refused } from './bisect.ts';
import { cellName } from '../shared/cell-name.ts';
import { GoogleFault } from './google-fault.ts';
import { heldAs, type RefusedValues } from './refused-values.ts';
import type { Settled } from './unsettled-write.ts';
import { fieldAt, type PlannedRow } from './write-plan.ts';

export function rememberRefused(
  { item, error }: Refused<PlannedRow>,
  changes: readonly RowChange[],
  columns: Columns,
  memory: RefusedValues,
): void {
  const message = refusedMessage(item, error);
  for (const [change, field] of concerned(item, changes, columns)) memory.remember(change, field, message);
}

/** Astray rows are put off, refused ones held; `rest`: refused as a group, of which some may be fine. */
export function outcomesOf(
  changes: readonly RowChange[],
  planned: readonly RowOutcome[],
  rest: readonly Refused<PlannedRow>[],
  settled: Settled,
  columns: Columns,
  memory: RefusedValues,
): readonly RowOutcome[] {
  const byLead = Map.groupBy(changes, ({ leadId }) => idKey(leadId ?? ''));
  const heldWithOthers = new Map<RowChange, string>();
  for (const { item, error } of rest) {
    for (const [change] of concerned(item, byLead.get(idKey(item.leadId)) ?? [], columns))
      heldWithOthers.set(change, refusedMessage(item, error, true));
  }
  return changes.map((change, index): RowOutcome => {
    const outcome = planned[index];
    if (outcome === undefined) throw new Error('a change without outcome');
    if (outcome.status !== 'done') return outcome;
    const held = memory.heldBy(change);
    if (held !== null) return held;
    const message = heldWithOthers.get(change);
    if (message !== undefined) return heldAs(change, message);
    const lead = idKey(change.leadId ?? '');
    // A lost status does not matter: the next run writes it again.
    const isAstray = change.kind !== 'status' && settled.astray.has(lead);
    return isAstray || settled.notPutBack.has(lead) ? defer(change, settled) : outcome;
  });
}

function concerned(
  item: PlannedRow,
  changes: readonly RowChange[],
  columns: Columns,
): [change: RowChange, field: string | null][] {
  const field = item.isWhole || item.cells.size > 1 ? null : onlyField(item, columns);
  const isStatus = !item.isWhole && columns.status !== null && item.cells.has(columns.status);
  return changes.flatMap((change): [RowChange, string | null][] => {
    if (idKey(change.leadId ?? '') !== idKey(item.leadId)) return [];
    if (isStatus) {
      const text = item.cells.get(columns.status);
      return 'text' in change && change.text === text ? [[change, null]] : [];
    }
    if (change.kind === 'status') return [];
    if (field === null) return [[change, null]];
    return 'values' in change && field in change.values ? [[change, field]] : [];
  });
}

function onlyField({ cells }: PlannedRow, columns: Columns): string | null {
  const [column] = cells.keys();
  return column === undefined ? null : fieldAt(columns, column);
}

function refusedMessage({ row, cells, isNew }: PlannedRow, error: Error, isWithOthers = false): string {
  const words = error instanceof GoogleFault && error.words !== null ? `: ${withoutStop(error.words)}.` : '.';
  const names = [...cells.keys()].map((column) => cellName(row, column)).join(', ');
  const others = isWithOthers
    ? ' in a group too large to identify every refused value (those found first are named)'
    : '';
  return isNew
    ? `Google Sheets refused the new row${others}${words} It was not added.`
    : `Google Sheets refused the new values of ${names}${others}${words} The cells were not changed.`;
}

function defer({ key, leadId }: RowChange, { putBack, notPutBack }: Settled): RowOutcome {
  const lead = idKey(leadId ?? '');
  const [back, lost] = [putBack.get(lead) ?? [], notPutBack.get(lead) ?? []];
  const messages = [
    'The row does not show what was written: somebody edited or moved it at that moment. The next run tries again.',
    ...(back.length > 0 ? [`Other cells that the write hit were restored: ${back.join(', ')}.`] : []),
    ...(lost.length > 0
      ? [`Other cells that the write hit could not be restored; they showed: ${lost.join(', ')}.`]
      : []),
  ];
  return { key, status: 'deferred', code: 'row.changed', message: messages.join(' ') };
}
