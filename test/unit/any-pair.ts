import fc from 'fast-check';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import type { Cell, Value } from '../../src/core/lead/value.ts';
import type { PairState } from '../../src/core/merge/plan.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { directions, policyValues } from '../docs/every-policy.ts';
import { fields, pair } from './pair-state.ts';

export const names = fields.map(({ field }) => field);

/** Few values, so that sides are often equal, and some that are equal in another form. */
export const anyValue: fc.Arbitrary<Value> = fc.constantFrom(
  null,
  '',
  'a',
  'b',
  'c',
  'e\u0301\r\n',
  '\u00e9\n',
);
export const anyCell: fc.Arbitrary<Cell> = fc.oneof(
  { weight: 12, arbitrary: anyValue },
  { weight: 1, arbitrary: fc.constantFrom({ unreadable: 'a' }, { unreadable: 'soon' }) },
);

/** A value for each field, or only for some of them. */
export function recordOf<T>(value: fc.Arbitrary<T>, partly: boolean): fc.Arbitrary<Record<string, T>> {
  const model = Object.fromEntries(names.map((name) => [name, value]));
  return fc.record(model, partly ? { requiredKeys: [] } : {}) as fc.Arbitrary<Record<string, T>>;
}

const anyMemo = fc.record(
  { resolution: fc.constantFrom('lead', 'target', null), refused: fc.boolean() },
  { requiredKeys: [] },
);

/** What may be known of one lead id. */
export const anyState: fc.Arbitrary<PairState> = fc
  .record({
    base: fc.option(recordOf(anyValue, true), { freq: 3 }),
    lead: fc.option(recordOf(anyCell, false), { freq: 3 }),
    row: fc.option(
      recordOf(anyCell, true).map((cells) => ({ row: 7, cells })),
      { freq: 3 },
    ),
    memo: recordOf(anyMemo, true),
    leadAbsences: fc.nat(3),
    rowAbsences: fc.nat(3),
    deletionDone: fc.boolean(),
  })
  .map((state) =>
    pair({
      ...state,
      leadAbsences: state.lead === null ? state.leadAbsences : 0,
      rowAbsences: state.row === null ? state.rowAbsences : 0,
      deletionDone: state.lead === null && state.deletionDone,
      // Only a field that both sides have can be decided on or be refused.
      memo: state.lead === null || state.row === null ? {} : state.memo,
    }),
  );

/** Policies as the configuration allows them: a field's own direction may only narrow the connection's. */
export const anyPolicy: fc.Arbitrary<Policy> = fc
  .record({
    direction: fc.constantFrom(...directions),
    onConflict: fc.constantFrom(...policyValues.onConflict),
    onFirstSync: fc.constantFrom(...policyValues.onFirstSync),
    onLeadDeleted: fc.constantFrom(...policyValues.onLeadDeleted),
    onRowDeleted: fc.constantFrom(...policyValues.onRowDeleted),
    own: fc.tuple(...fields.map(() => fc.constantFrom(...directions))),
  })
  .map(({ own, ...choices }) => ({
    ...choices,
    unseen: [],
    fields: fields.map((mapping, index): FieldMapping => {
      const narrowed = choices.direction === 'two-way' ? own[index] : choices.direction;
      return { ...mapping, direction: narrowed ?? 'two-way' };
    }),
  }));
