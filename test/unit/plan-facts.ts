import type { PlannedAction } from '../../src/core/merge/action.ts';
import { noMatches } from '../../src/core/merge/match-likeness.ts';
import { type LooseRow, LooseRows, type Sight } from '../../src/core/merge/difference.ts';
import { type FoundRows, foundRows } from '../../src/core/merge/lost-rows.ts';
import { bringForward, type CopyFound, OlderCopies } from '../../src/core/merge/older-copy.ts';
import { type PlanFacts, Planner } from '../../src/core/merge/planner.ts';
import { RefusedCreates, sentContent, sentKey } from '../../src/core/merge/refused-create.ts';
import { UndoneRecords } from '../../src/core/merge/undo.ts';
import { fields, policy } from './pair-state.ts';
import { looseRow, sight } from './sight.ts';

export const found: FoundRows = foundRows([], [], fields, policy(), { fresh: 0, newOrphans: 0 });

/** A scan of which nothing is known but its records. */
export const plain: PlanFacts = {
  policy: policy(),
  creates: { leadIds: new Set(), rows: new Set() },
  moved: new Set(),
  found,
  older: new OlderCopies([], [], []),
  isProof: { leads: true, rows: true, answers: false, rowsAlone: true, at: 0, proveAfter: 0 },
  matches: noMatches,
  undone: new UndoneRecords([], fields),
  refused: new RefusedCreates(new Map()),
  loose: new LooseRows(new Set(), new Set()),
  elsewhere: new Map(),
  homes: new Map(),
  unread: new Set(),
  first: null,
  names: null,
};

/** What keeps count while a plan is made is new for each. */
export const plannerOf = (facts: Partial<PlanFacts> = {}): Planner =>
  new Planner({
    ...plain,
    undone: new UndoneRecords([], fields),
    refused: new RefusedCreates(new Map()),
    loose: new LooseRows(new Set(), new Set()),
    ...facts,
  });

export const told = (actions: readonly PlannedAction[]): string[] =>
  actions.map(({ kind, reason }) => `${kind} ${reason}`);

export const edited: Sight = { ...sight, row: { companyName: 'Acme', stage: 'won' } };
export const isNew: Sight = {
  ...sight,
  isKnown: false,
  base: null,
  lead: { companyName: 'Acme', stage: 'new' },
};
export const rowMissed: Sight = { ...sight, rowAbsences: 1, missed: { lead: false, row: true } };
export const bothMissed: Sight = { ...rowMissed, leadAbsences: 1, missed: { lead: true, row: true } };
export const leadMissed: Sight = {
  ...sight,
  row: sight.base,
  leadAbsences: 1,
  missed: { lead: true, row: false },
};
export const other = { connection: 'b', address: null, row: null };
export const held = { kind: 'hold', reason: 'match.proposed' } as PlannedAction;

export const unproven: Sight = { ...rowMissed, rowAbsences: 0 };
export const unprovenFacts = {
  policy: policy({ onRowDeleted: 'delete-lead' }),
  isProof: { ...plain.isProof, rows: false },
};

export const acme: LooseRow = { ...looseRow, cells: { companyName: 'Acme', stage: 'new' } };
export const cells = { companyName: 'Acme', stage: 'new' };
export const missing = (lead: boolean, row: boolean, rest: Partial<Sight> = {}): Sight => ({
  ...sight,
  missed: { lead, row },
  ...rest,
});
export const rowFound: Partial<PlanFacts> = {
  found: { ...found, rowOf: new Map([['a', { row: 5, cells }]]) },
};
export const matched = (lead: string): Partial<PlanFacts> => ({
  matches: { ...plain.matches, rowOf: new Map([[lead, { row: 6, cells, message: 'the same name' }]]) },
});
export const undone = (leadId: string): Partial<PlanFacts> => ({
  undone: new UndoneRecords([{ leadId, contentHash: 'h', cells }], fields),
});
export const mayBeOthers: Partial<PlanFacts> = { found: { ...found, mayBe: new Map([[2, ['b']]]) } };
export const movedRow: Partial<PlanFacts> = { found: { ...found, moved: new Map([[2, ['b']]]) } };
export const noLead: Sight = missing(true, false, { isKnown: false, base: null, row: cells });
/** A copy of a side that a person brings forward. */
export const forward = (copy: Partial<CopyFound>): Partial<PlanFacts> => {
  const verdict = { kind: 'none' } as const;
  const one: CopyFound = {
    side: 'row',
    verdict,
    cells: new Map(),
    missing: new Set(),
    refusal: null,
    ...copy,
  };
  return { older: new OlderCopies([one], [], [bringForward]) };
};
export const noStage: Partial<PlanFacts> = {
  policy: policy({ fields: fields.slice(0, 1), unseen: fields.slice(1, 2) }),
};

/** Where it is done, and how much of its message tells why. */
export const toldWhole = (actions: readonly PlannedAction[]): string[] =>
  actions.map(({ kind, reason, row, message }) =>
    [kind, reason, row === null ? '' : `row ${row}`, message ?? ''].filter((part) => part !== '').join(', '),
  );

export const key = sentKey(sentContent(acme.cells, policy()));
export const refused = () =>
  new RefusedCreates(new Map([[key, { code: 'lead.create-refused', why: 'bad' }]]));
export const wanted = () => ({ loose: new LooseRows(new Set(['h']), new Set()) });
