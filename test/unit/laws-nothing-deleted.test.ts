import { describe, expect, test } from 'vitest';
import { sameCell } from '../../src/core/lead/value.ts';
import type { PlannedAction } from '../../src/core/merge/action.ts';
import { planPair } from '../../src/core/merge/plan.ts';
import { isAskedFor } from '../../src/core/merge/difference.ts';
import { law, writes } from './laws.ts';

describe('promise 4: nothing is deleted on a doubt', () => {
  const deletes = (actions: readonly PlannedAction[]) =>
    actions.filter(({ kind }) => ['delete-lead', 'remove-row', 'mark-row', 'forget'].includes(kind));

  test('only after two scans without it', () => {
    law((state, choices) => {
      for (const answer of ['deleted', 'restore', null] as const)
        for (const { kind } of deletes(planPair({ ...state, answer }, choices))) {
          if (kind !== 'delete-lead') expect(state.leadAbsences).toBeGreaterThanOrEqual(2);
          if (kind === 'delete-lead' || kind === 'forget')
            expect(state.rowAbsences).toBeGreaterThanOrEqual(2);
        }
    });
  });

  test('an edit beats a delete', () => {
    law((state, choices) => {
      const left = state.lead ?? state.row?.cells;
      if (left === undefined) return;
      const edited = Object.entries(left).some(
        ([field, cell]) => !sameCell(cell, state.base?.[field] ?? null),
      );
      if (edited) expect(deletes(planPair(state, choices))).toEqual([]);
    });
  });

  test('nothing is said of a deletion of which the service was not asked', () => {
    law((state, choices) => {
      const said = planPair({ ...state, unasked: 'it is down' }, choices).map(({ reason }) => reason);
      expect(said).not.toContain('conflict.edit-meets-delete');
      expect(said).not.toContain('row.orphan');
      const isOpen = state.lead === null && state.row !== null;
      const isAsked =
        isOpen &&
        isAskedFor(
          { ...state, leadAbsences: state.leadAbsences - 1, isStray: false, cells: state.row?.cells ?? {} },
          false,
          choices,
        );
      expect(said.includes('lead.unasked')).toBe(isAsked);
    });
  });

  test('ask: nothing is written of what is gone before a person has answered', () => {
    law((state, choices) => {
      const isRowGone = state.base !== null && state.row === null && state.lead !== null;
      const isLeadGone = state.base !== null && state.lead === null && state.row !== null;
      if (!isRowGone && !isLeadGone) return;
      const policy = { ...choices, direction: 'two-way', onRowDeleted: 'ask', onLeadDeleted: 'ask' } as const;
      expect(planPair(state, policy).filter(writes)).toEqual([]);
    });
  });

  test('what is there on both sides is never deleted', () => {
    law((state, choices) => {
      if (state.lead !== null && state.row !== null) expect(deletes(planPair(state, choices))).toEqual([]);
    });
  });
});
