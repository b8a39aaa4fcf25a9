import type { Cell, Cells, Values } from '../../src/core/lead/value.ts';
import { type RunChanges, type FieldChange, planUndo, type Present } from '../../src/core/merge/undo.ts';
import { told } from './pair-state.ts';

export const soon: Cell = { unreadable: 'soon' };
export const acme: Values = { companyName: 'Acme', stage: 'new', nextFollowUpAt: null };
/** The row of these tests. */
export const row = (cells: Cells) => ({ row: 7, cells });
/** One write of the run that is put back: of a plain edit, unless told otherwise. */
export const wrote = (
  side: 'lead' | 'row',
  field: string,
  before: Cell,
  after: Cell,
  more: Partial<FieldChange> = {},
): FieldChange => ({
  side,
  field,
  before,
  after,
  rule: `${side === 'row' ? 'lead' : 'row'}-edited`,
  later: null,
  ...more,
});

/** What is put back of made of which nothing is known but what is given. */
export function undo(made: Partial<RunChanges>, present: Partial<Present> = {}) {
  const nothing = {
    leadId: 'lead-1',
    written: [],
    leadMade: null,
    rowLinked: null,
    rowMatched: null,
    later: null,
    rowMade: null,
    rowRemoved: null,
    rowMarked: false,
    leadDeleted: null,
  };
  return planUndo({ ...nothing, ...made }, { lead: null, row: null, headings: [], ...present });
}

/** As `undo`, each action as one short text. */
export const undone = (made: Partial<RunChanges>, present: Partial<Present> = {}) =>
  undo(made, present).map(told);
