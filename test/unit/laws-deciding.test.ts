import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PlannedAction, rowKinds } from '../../src/core/merge/action.ts';
import { planPair } from '../../src/core/merge/plan.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { lawRuns } from '../support/law-runs.ts';
import { anyCell, anyPolicy, anyValue, recordOf } from './any-pair.ts';
import { fieldsOf, law, leadKinds } from './laws.ts';
import { pair } from './pair-state.ts';

describe('deciding', () => {
  test('same input, same plan; and the input stays as it was', () => {
    law((state, choices) => {
      const before = structuredClone({ state, choices });
      const plan = planPair(state, choices);
      expect(planPair(before.state, before.choices)).toEqual(plan);
      expect({ state, choices }).toEqual(before);
    });
  });

  test('the order of the mapping does not matter', () => {
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
});

describe('swapping', () => {
  const pairs = [
    ['update-lead', 'update-row'],
    ['lead-edited', 'row-edited'],
    ['leads-win', 'target-wins'],
    ['to-leads', 'to-target'],
  ] as const;
  const mirror = new Map<string, string>(
    pairs.flatMap(([one, other]) => [
      [one, other],
      [other, one],
    ]),
  );
  const mirrored = <T extends string>(code: T): T => (mirror.get(code) ?? code) as T;
  const turned = (choices: Policy): Policy => ({
    ...choices,
    direction: mirrored(choices.direction),
    onConflict: mirrored(choices.onConflict),
    onFirstSync: mirrored(choices.onFirstSync),
    fields: choices.fields.map((mapping) => ({ ...mapping, direction: mirrored(mapping.direction) })),
  });

  /** What is done to which field; a hold without its side, and an agreement without the form it is shown in. */
  const deeds = (actions: readonly PlannedAction[], name: (code: string) => string) =>
    new Set(
      actions.flatMap(({ kind, reason, changes }) =>
        Object.entries(changes).map(([field, { from, to, rule }]) => {
          if (kind === 'agree') return JSON.stringify([kind, field]);
          if (kind !== 'hold') return JSON.stringify([name(kind), name(rule ?? ''), field, from, to]);
          const both = [from, to].map((cell) => JSON.stringify(cell)).toSorted();
          return JSON.stringify([
            kind,
            reason.replace(/^(lead|row)\.unreadable$/, 'unreadable'),
            field,
            both,
          ]);
        }),
      ),
    );

  test('the two sides, and the policy with them, swaps the plan', () => {
    const cells = recordOf(anyCell, false);
    fc.assert(
      fc.property(
        fc.option(recordOf(anyValue, true)),
        cells,
        cells,
        anyPolicy,
        (base, one, other, choices) => {
          // The name alone has a rule for one side: it is never emptied in the service.
          const policy = {
            ...choices,
            fields: choices.fields.filter(({ field }) => field !== 'companyName'),
          };
          const here = planPair(pair({ base, lead: one, row: { row: 7, cells: other } }), policy);
          const there = planPair(pair({ base, lead: other, row: { row: 7, cells: one } }), turned(policy));
          expect(deeds(there, mirrored)).toEqual(deeds(here, String));
        },
      ),
      { numRuns: lawRuns(5000) },
    );
  });
});

/** The same data with its keys in one order, so that it can be compared as text. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .map(([key, inner]) => [key, sorted(inner)] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
