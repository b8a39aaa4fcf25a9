import type { LooseRow, Sight } from '../../src/core/merge/difference.ts';

/** A pair whose two sides are as in the baseline. */
export const sight: Sight = {
  leadId: 'a',
  isKnown: true,
  base: { companyName: 'Acme', stage: 'new' },
  isSame: false,
  lead: null,
  row: null,
  rowNumber: 2,
  missed: { lead: false, row: false },
  leadAbsences: 0,
  rowAbsences: 0,
  isCounted: false,
  absentSince: null,
  deletionDone: false,
  merged: null,
  asked: null,
  held: [],
  isCopied: false,
};

/** A row that no lead id names. */
export const looseRow: LooseRow = {
  row: 2,
  leadId: null,
  unreadableId: null,
  idClosed: null,
  isApart: false,
  cells: {},
  contentHash: 'h',
};
