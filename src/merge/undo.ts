import {
  type Cell,
  type Cells,
  isUnreadable,
  sameButSpelling,
  sameCell,
  showCell,
  type Values,
} from '../lead/value.ts';
import type { Change, PlannedAction } from './action.ts';

/** What a run did to one lead and its row, as the history has it. */
export interface Deeds {
  readonly leadId: string;
  /** What was written over: for each side and field the value before the run's first and after its last write. */
  readonly written: readonly {
    readonly side: 'lead' | 'row';
    readonly field: string;
    readonly before: Cell;
    readonly after: Cell;
  }[];
  /** What the lead was made of. */
  readonly leadMade: Values | null;
  /** What the new row was given. */
  readonly rowMade: Cells | null;
  /** What the row showed when it was taken away. */
  readonly rowRemoved: Cells | null;
  readonly rowMarked: boolean;
  readonly leadDeleted: Cells | null;
}

/** What both sides show now. */
export interface Present {
  readonly lead: Cells | null;
  readonly row: { readonly row: number; readonly cells: Cells } | null;
}

/**
 * The way back from what a run did to one lead and its row: one action for each thing that still is as the run left it.
 * Whatever was edited since stays as it is and is reported. Pure.
 */
export function planUndo(deeds: Deeds, present: Present): readonly PlannedAction[] {
  return [
    ...undoLeadDeleted(deeds),
    ...undoLeadMade(deeds, present),
    ...undoRowMade(deeds, present),
    ...undoRowRemoved(deeds, present),
    ...undoRowMarked(deeds, present),
    ...undoWritten(deeds, present),
  ];
}

function undoLeadDeleted({ leadId, leadDeleted }: Deeds): readonly PlannedAction[] {
  if (leadDeleted === null) return [];
  const values = Object.entries(leadDeleted).map(([field, cell]) => `${field} ${showCell(cell)}`);
  return [
    report(
      leadId,
      'undo.lead-deleted',
      `the lead was deleted in the service and cannot come back under its id. It had ${values.join(', ')}. A row with these and without an id becomes a new lead at the next sync`,
    ),
  ];
}

function undoLeadMade({ leadId, leadMade, written }: Deeds, { lead }: Present): readonly PlannedAction[] {
  if (leadMade === null) return [];
  if (lead === null) return [gone(leadId, 'lead')];
  // What the service filled in by itself is known from what the row was told of it.
  const left = { ...lastWritten(written, 'row'), ...leadMade, ...lastWritten(written, 'lead') };
  const edited = fieldsThatDiffer(lead, left, sameButSpelling);
  if (edited.length > 0) return [editedSince(leadId, 'lead', edited, 'it was not deleted')];
  return [action('delete-lead', leadId, null, {}, lead)];
}

function undoRowMade({ leadId, rowMade, written }: Deeds, { row }: Present): readonly PlannedAction[] {
  if (rowMade === null) return [];
  if (row === null) return [gone(leadId, 'row')];
  const left = { ...rowMade, ...lastWritten(written, 'row') };
  const edited = fieldsThatDiffer(row.cells, left, sameCell);
  if (edited.length > 0) return [editedSince(leadId, 'row', edited, 'it was not taken away')];
  return [action('remove-row', leadId, row.row, {}, row.cells)];
}

function undoRowRemoved({ leadId, rowRemoved }: Deeds, { row }: Present): readonly PlannedAction[] {
  if (rowRemoved === null) return [];
  if (row !== null)
    return [
      report(leadId, 'undo.row-exists', `row ${row.row} carries this id again; no second one was added`),
    ];
  const readable = Object.entries(rowRemoved).filter(
    ([, cell]) => !isUnreadable(cell) && !sameCell(cell, null),
  );
  const changes = Object.fromEntries(
    readable.map(([field, to]) => [field, { from: null, to, rule: 'undone' as const }]),
  );
  return [action('create-row', leadId, null, changes, {})];
}

function undoRowMarked({ leadId, rowMarked }: Deeds, { row }: Present): readonly PlannedAction[] {
  return rowMarked && row !== null ? [action('mark-row', leadId, row.row, {}, row.cells)] : [];
}

function undoWritten(deeds: Deeds, present: Present): readonly PlannedAction[] {
  const { leadId, written } = deeds;
  // What was made or taken away as a whole is put back as a whole.
  const wholeLead = deeds.leadMade !== null || deeds.leadDeleted !== null;
  const wholeRow = deeds.rowMade !== null || deeds.rowRemoved !== null;
  const onLead = wholeLead ? [] : written.filter(({ side }) => side === 'lead');
  // Where a run wrote both, the row was only given what the lead had made of the row's value.
  const onRow = written.filter(
    ({ side, field }) => side === 'row' && !wholeRow && onLead.every((one) => one.field !== field),
  );
  return [
    ...undoSide(leadId, 'lead', onLead, present.lead, null),
    ...undoSide(leadId, 'row', onRow, present.row?.cells ?? null, present.row?.row ?? null),
  ];
}

function undoSide(
  leadId: string,
  side: 'lead' | 'row',
  written: Deeds['written'],
  cells: Cells | null,
  row: number | null,
): readonly PlannedAction[] {
  if (written.length === 0) return [];
  if (cells === null) return [gone(leadId, side)];
  const changes: Record<string, Change> = {};
  const edited: string[] = [];
  const reports: PlannedAction[] = [];
  for (const { field, before, after } of written) {
    const now = cells[field] ?? null;
    if (sameCell(now, before)) continue;
    if (!sameCell(now, after)) edited.push(field);
    else if (isUnreadable(before)) {
      reports.push(
        report(
          leadId,
          'undo.not-writable',
          `${field} of the ${side} was ${showCell(before)}, which is no value that can be written: type it again if you want it`,
        ),
      );
    } else changes[field] = { from: now, to: before, rule: 'undone' };
  }
  if (edited.length > 0) reports.push(editedSince(leadId, side, edited, 'the edit was left alone'));
  if (Object.keys(changes).length === 0) return reports;
  const expect = Object.fromEntries(Object.entries(changes).map(([field, { from }]) => [field, from]));
  return [action(side === 'lead' ? 'update-lead' : 'update-row', leadId, row, changes, expect), ...reports];
}

/** The fields of either record that are not the same in the other; one that a record does not have is empty there. */
function fieldsThatDiffer(now: Cells, left: Cells, same: (a: Cell, b: Cell) => boolean): readonly string[] {
  const fields = new Set([...Object.keys(left), ...Object.keys(now)]);
  return [...fields].filter((field) => !same(now[field] ?? null, left[field] ?? null));
}

function lastWritten(written: Deeds['written'], side: 'lead' | 'row'): Cells {
  return Object.fromEntries(
    written.filter((one) => one.side === side).map(({ field, after }) => [field, after]),
  );
}

function action(
  kind: PlannedAction['kind'],
  leadId: string,
  row: number | null,
  changes: PlannedAction['changes'],
  expect: Cells,
): PlannedAction {
  return { kind, leadId, row, rowKey: '', changes, expect, reason: 'undone' };
}

function editedSince(
  leadId: string,
  side: 'lead' | 'row',
  fields: readonly string[],
  then: string,
): PlannedAction {
  return report(
    leadId,
    'undo.edited-since',
    `${fields.join(', ')} of the ${side} was edited after the run; ${then}`,
  );
}

function gone(leadId: string, side: 'lead' | 'row'): PlannedAction {
  return report(leadId, 'undo.gone', `the ${side} is not there any more; there is nothing to put back`);
}

function report(leadId: string, reason: string, message: string): PlannedAction {
  return { kind: 'report', leadId, row: null, rowKey: '', changes: {}, expect: {}, reason, message };
}
