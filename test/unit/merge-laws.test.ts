import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cell, isUnreadable, sameCell } from '../../src/lead/value.ts';
import type { ActionKind, PlannedAction } from '../../src/merge/action.ts';
import { type PairState, planNewRow, planPair } from '../../src/merge/plan.ts';
import type { Policy } from '../../src/merge/policy.ts';
import { lawRuns } from '../support/law-runs.ts';
import { afterPlan } from './after-plan.ts';
import { anyCell, anyPolicy, anyState, anyValue, names, recordOf } from './any-pair.ts';
import { fields, pair, policy } from './pair-state.ts';

const leadKinds: readonly ActionKind[] = ['update-lead', 'create-lead', 'delete-lead'];
const rowKinds: readonly ActionKind[] = ['create-row', 'update-row', 'link', 'mark-row', 'remove-row'];

function law(check: (state: PairState, policy: Policy) => void): void {
  fc.assert(fc.property(anyState, anyPolicy, check), { numRuns: lawRuns(5000) });
}

const writes = (action: PlannedAction) => [...leadKinds, ...rowKinds].includes(action.kind);
const fieldsOf = (actions: readonly PlannedAction[], kinds: readonly string[]) =>
  actions.filter(({ kind }) => kinds.includes(kind)).flatMap(({ changes }) => Object.keys(changes));

describe('deciding', () => {
  test('is pure: the same input gives the same plan, and the input stays as it was', () => {
    law((state, choices) => {
      const before = structuredClone({ state, choices });
      const plan = planPair(state, choices);
      expect(planPair(before.state, before.choices)).toEqual(plan);
      expect({ state, choices }).toEqual(before);
    });
  });

  test('does not depend on the order of the mapping', () => {
    const byKind = (actions: readonly PlannedAction[]) =>
      actions
        .map((action) => ({ ...action, reason: action.reason.split('+').toSorted().join('+') }))
        .toSorted((a, b) => JSON.stringify(sorted(a)).localeCompare(JSON.stringify(sorted(b))));
    law((state, choices) => {
      const turned = { ...choices, fields: choices.fields.toReversed() };
      expect(byKind(planPair(state, turned))).toEqual(byKind(planPair(state, choices)));
    });
  });

  test('handles each field by itself: what happens to it does not depend on the others', () => {
    law((state, choices) => {
      if (state.lead === null || state.row === null) return;
      const alone = choices.fields.flatMap((mapping) => planPair(state, { ...choices, fields: [mapping] }));
      const flat = (actions: readonly PlannedAction[]) =>
        actions.flatMap(({ kind, changes }) => Object.entries(changes).map((change) => [kind, change]));
      expect(new Set(flat(alone).map((one) => JSON.stringify(one)))).toEqual(
        new Set(flat(planPair(state, choices)).map((one) => JSON.stringify(one))),
      );
    });
  });
});

describe('promise 1: no edit is lost', () => {
  test('every value of either side is afterwards on a side, held, or in the history', () => {
    law((state, choices) => {
      const actions = planPair(state, choices);
      const after = afterPlan(state, actions);
      for (const field of names) {
        const kept: Cell[] = [
          after.state.lead?.[field] ?? null,
          after.state.row?.cells[field] ?? null,
          ...after.held.filter((one) => one.field === field).flatMap(({ lead, row }) => [lead, row]),
          ...after.history.filter((one) => one.field === field).map(({ before }) => before),
        ];
        for (const value of [state.lead?.[field] ?? null, state.row?.cells[field] ?? null]) {
          if (sameCell(value, null)) continue;
          expect(kept.some((one) => sameCell(one, value))).toBe(true);
        }
      }
    });
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
      for (const { kind, expect: expected, changes } of planPair(state, choices)) {
        const seen = leadKinds.includes(kind) ? state.lead : (state.row?.cells ?? {});
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

describe('promise 2: converges', () => {
  test('after a plan was carried out, the next one writes nothing and moves nothing', () => {
    law((state, choices) => {
      const after = afterPlan(state, planPair(state, choices));
      const again = planPair(after.state, choices);
      expect(again.filter(({ kind }) => kind !== 'hold')).toEqual([]);
    });
  });

  test('what is held stays held, and nothing else is, until somebody acts', () => {
    law((state, choices) => {
      const once = afterPlan(state, planPair(state, choices));
      const twice = afterPlan(once.state, planPair(once.state, choices));
      expect(twice.state).toEqual(once.state);
      expect(planPair(twice.state, choices)).toEqual(planPair(once.state, choices));
    });
  });

  test('two equal sides in step need nothing', () => {
    fc.assert(
      fc.property(recordOf(anyValue, false), anyPolicy, (cells, choices) => {
        const state = pair({ base: cells, lead: cells, row: { row: 7, cells } });
        expect(planPair(state, choices)).toEqual([]);
      }),
    );
  });
});

describe('promise 4: nothing is deleted on a doubt', () => {
  const deletes = (actions: readonly PlannedAction[]) =>
    actions.filter(({ kind }) => ['delete-lead', 'remove-row', 'mark-row', 'forget'].includes(kind));

  test('only after two scans without it', () => {
    law((state, choices) => {
      for (const { kind } of deletes(planPair(state, choices))) {
        if (kind !== 'delete-lead') expect(state.leadAbsences).toBeGreaterThanOrEqual(2);
        if (kind === 'delete-lead' || kind === 'forget') expect(state.rowAbsences).toBeGreaterThanOrEqual(2);
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

  test('what is there on both sides is never deleted', () => {
    law((state, choices) => {
      if (state.lead !== null && state.row !== null) expect(deletes(planPair(state, choices))).toEqual([]);
    });
  });
});

describe('directions', () => {
  const resolved = (rule: string | undefined) => rule === 'resolved';

  test('to-target never writes to a lead', () => {
    law((state, choices) => {
      const actions = planPair(state, choices);
      for (const { field, direction } of choices.fields) {
        if (direction === 'to-target') expect(fieldsOf(actions, ['update-lead'])).not.toContain(field);
      }
      if (choices.direction !== 'to-target') return;
      expect(actions.filter(({ kind }) => leadKinds.includes(kind))).toEqual([]);
    });
  });

  test('to-leads never writes to a row, unless a person decided so', () => {
    law((state, choices) => {
      for (const { kind, changes } of planPair(state, choices)) {
        if (!rowKinds.includes(kind)) continue;
        if (choices.direction === 'to-leads') expect(kind).toBe('update-row');
        for (const { field, direction } of choices.fields) {
          const change = changes[field];
          if (kind === 'update-row' && direction === 'to-leads' && change) {
            expect(resolved(change.rule)).toBe(true);
          }
        }
      }
    });
  });

  test('swapping the two sides under a policy that prefers none swaps the plan', () => {
    const swapped: Readonly<Record<string, string>> = {
      'update-lead': 'update-row',
      'update-row': 'update-lead',
      'lead-edited': 'row-edited',
      'row-edited': 'lead-edited',
    };
    const text = fields.filter(({ field }) => field !== 'companyName');
    const even = { ...policy(), fields: text };
    fc.assert(
      fc.property(
        fc.option(recordOf(anyValue, true)),
        recordOf(anyValue, false),
        recordOf(anyValue, false),
        (base, one, other) => {
          const here = pair({ base, lead: one, row: { row: 7, cells: other } });
          const there = pair({ base, lead: other, row: { row: 7, cells: one } });
          const flat = (actions: readonly PlannedAction[], turn: boolean) =>
            new Set(
              actions.flatMap(({ kind, reason, changes }) =>
                Object.entries(changes).map(([field, { from, to, rule }]) => {
                  const held = kind === 'hold' && turn;
                  const [was, will] = held ? [to, from] : [from, to];
                  const name = (code: string) => (turn ? (swapped[code] ?? code) : code);
                  // What both agree on is told in the lead's form; only that it is the same value counts.
                  if (kind === 'agree') return JSON.stringify([kind, field]);
                  return JSON.stringify([
                    name(kind),
                    kind === 'hold' ? reason : name(rule ?? ''),
                    field,
                    was,
                    will,
                  ]);
                }),
              ),
            );
          expect(flat(planPair(there, even), true)).toEqual(flat(planPair(here, even), false));
        },
      ),
      { numRuns: lawRuns(2000) },
    );
  });
});

test('promise 3: nothing is made of a row without a name, and what is sent is what the row shows', () => {
  fc.assert(
    fc.property(recordOf(anyCell, true), anyPolicy, (cells, choices) => {
      const action = planNewRow(7, cells, null, choices);
      expect(action.expect).toEqual(cells);
      if (action.kind !== 'create-lead') return;
      expect(Object.keys(action.changes)).toContain('companyName');
      for (const [field, { from, to }] of Object.entries(action.changes)) {
        expect(from).toBeNull();
        expect(to).toBe(cells[field]);
        expect(sameCell(to, null)).toBe(false);
      }
    }),
    { numRuns: lawRuns(2000) },
  );
});

/** The same data with its keys in one order, so that it can be compared as text. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([key, inner]) => [key, sorted(inner)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
