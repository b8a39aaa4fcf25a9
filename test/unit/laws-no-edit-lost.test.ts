import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deleteQuestions } from '../../src/core/merge/holds.ts';
import { type Cell, isUnreadable, sameCell } from '../../src/core/lead/value.ts';
import type { PlannedAction } from '../../src/core/merge/action.ts';
import { type PairState, planLink, planPair } from '../../src/core/merge/plan.ts';
import { lawRuns } from '../support/law-runs.ts';
import { afterPlan } from './after-plan.ts';
import { anyCell, anyPolicy, anyValue, names, recordOf } from './any-pair.ts';
import { fieldsOf, law, leadKinds, writes } from './laws.ts';
import { pair } from './pair-state.ts';

describe('promise 1: no edit is lost', () => {
  /** What neither a side shows, nor is held, nor was written into the history, of all that both sides showed. */
  const vanished = (before: PairState, actions: readonly PlannedAction[]): readonly Cell[] => {
    const after = afterPlan(before, actions);
    return names.flatMap((field) => {
      const kept: Cell[] = [
        after.state.lead?.[field] ?? null,
        after.state.row?.cells[field] ?? null,
        ...after.held.filter((one) => one.field === field).flatMap(({ lead, row }) => [lead, row]),
        ...after.history.filter((one) => one.field === field).map((one) => one.before),
      ];
      const shown = [before.lead?.[field] ?? null, before.row?.cells[field] ?? null];
      return shown.filter((value) => !sameCell(value, null) && !kept.some((one) => sameCell(one, value)));
    });
  };

  test('every value of either side is afterwards on a side, held, or in the history', () => {
    law((state, choices) => {
      expect(vanished(state, planPair(state, choices))).toEqual([]);
    });
  });

  test('nor is one lost when a row gets the id of the lead that was made of it', () => {
    const cells = recordOf(anyCell, false);
    fc.assert(
      fc.property(recordOf(anyValue, true), cells, cells, anyPolicy, (content, lead, shown, choices) => {
        const row = { row: 7, cells: shown };
        const actions = planLink('lead-1', content, lead, row, choices);
        expect(vanished(pair({ base: content, lead, row }), actions)).toEqual([]);
        const all = fieldsOf(actions, ['link', 'update-lead', 'hold']);
        expect(new Set(all).size).toBe(all.length);
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  test('what cannot be read is only ever overwritten because a person said so', () => {
    law((state, choices) => {
      for (const { changes } of planPair(state, choices).filter(writes)) {
        for (const { from, to, rule } of Object.values(changes)) {
          expect(isUnreadable(to)).toBe(false);
          if (isUnreadable(from)) expect(rule).toBe('resolved');
        }
      }
    });
  });

  test('an action expects to find what the plan saw', () => {
    law((state, choices) => {
      for (const { kind, reason, expect: expected, changes } of planPair(state, choices)) {
        const isOfLead = leadKinds.includes(kind) || reason === deleteQuestions.row;
        const seen = isOfLead ? state.lead : (state.row?.cells ?? {});
        for (const [field, cell] of Object.entries(expected)) {
          expect(sameCell(seen?.[field] ?? null, cell)).toBe(true);
        }
        if (kind !== 'update-lead' && kind !== 'update-row') continue;
        expect(Object.keys(expected)).toEqual(Object.keys(changes));
      }
    });
  });

  test('the two directions never both write one field, and what is held is written by neither', () => {
    law((state, choices) => {
      const actions = planPair(state, choices);
      const all = fieldsOf(actions, ['update-lead', 'update-row', 'hold', 'agree']);
      expect(new Set(all).size).toBe(all.length);
    });
  });
});
