import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Value } from '../../src/core/lead/value.ts';
import { planPair } from '../../src/core/merge/plan.ts';
import { lawRuns } from '../support/law-runs.ts';
import { afterPlan } from './after-plan.ts';
import { anyPolicy, recordOf } from './any-pair.ts';
import { law } from './laws.ts';
import { pair } from './pair-state.ts';

describe('promise 2: converges', () => {
  test('after a plan was carried out, the next one writes nothing and moves nothing', () => {
    law((state, choices) => {
      const after = afterPlan(state, planPair(state, choices));
      const again = planPair(after.state, choices);
      expect(again.filter(({ kind }) => kind !== 'hold' && kind !== 'report')).toEqual([]);
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

  test('nothing to do is an empty plan', () => {
    // Values that are the same in another form.
    const forms = fc.constantFrom<readonly Value[]>(
      [null, ''],
      ['a'],
      ['e\u0301\r\n', '\u00e9\n', '\u00e9\r'],
    );
    const three = forms.chain((same) => fc.array(fc.constantFrom(...same), { minLength: 3, maxLength: 3 }));
    fc.assert(
      fc.property(recordOf(three, false), anyPolicy, (values, choices) => {
        const [base, lead, cells] = [0, 1, 2].map((at) =>
          Object.fromEntries(Object.entries(values).map(([field, same]) => [field, same[at] ?? null])),
        );
        const state = pair({ base: base ?? null, lead: lead ?? null, row: { row: 7, cells: cells ?? {} } });
        expect(planPair(state, choices)).toEqual([]);
      }),
      { numRuns: lawRuns(2000) },
    );
  });
});
