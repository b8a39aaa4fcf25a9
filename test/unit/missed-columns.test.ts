import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planMissed, planNewRow } from '../../src/core/merge/plan-rows.ts';
import { planPair } from '../../src/core/merge/plan.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { anyCell, anyPolicy, anyState, names, recordOf } from './any-pair.ts';
import { fields, pair, policy, told } from './pair-state.ts';
import { lawRuns } from '../support/law-runs.ts';

/** A policy in a run that cannot see some columns. */
const without = (choices: Policy, missing: readonly string[]): Policy => ({
  ...choices,
  fields: choices.fields.filter(({ field }) => !missing.includes(field)),
  unseen: choices.fields.filter(({ field }) => missing.includes(field)),
});
const shown = (cells: object, missing: readonly string[]) =>
  Object.fromEntries(Object.entries(cells).filter(([field]) => !missing.includes(field)));
const anyMissing = fc.subarray([...names], { minLength: 1 });

describe('while a mapped column is missing', () => {
  test('nothing is created on either side, unless the column only travels to the target', () => {
    fc.assert(
      fc.property(anyState, recordOf(anyCell, true), anyPolicy, anyMissing, (state, cells, all, missing) => {
        const choices = without(all, missing);
        const row = state.row && { ...state.row, cells: shown(state.row.cells, missing) };
        const actions = [
          ...planPair({ ...state, row }, choices),
          ...planNewRow(9, shown(cells, missing), null, choices),
        ];
        const mayCreate = choices.unseen.every(({ direction }) => direction === 'to-target');
        const created = actions.filter(({ kind }) => kind === 'create-lead' || kind === 'create-row');
        if (!mayCreate) expect(created).toEqual([]);
        for (const { changes } of actions)
          for (const field of missing) expect(changes).not.toHaveProperty(field);
      }),
      { numRuns: lawRuns(5000) },
    );
  });

  test('what is planned for both sides of a known pair is what would be planned without that field', () => {
    fc.assert(
      fc.property(anyState, anyPolicy, anyMissing, (state, all, missing) => {
        fc.pre(state.lead !== null && state.row !== null);
        const choices = without(all, missing);
        const row = state.row && { ...state.row, cells: shown(state.row.cells, missing) };
        expect(planPair({ ...state, row }, choices)).toEqual(
          planPair({ ...state, row }, { ...choices, unseen: [] }),
        );
      }),
      { numRuns: lawRuns(2000) },
    );
  });

  const noName = without(policy(), ['companyName']);
  test.each<[string, Policy, string]>([
    ['the name', noName, 'hold (row.column-missing)'],
    ['another field', without(policy(), ['stage']), 'hold (row.column-missing)'],
    [
      'a field that only the table decides',
      {
        ...without(policy(), ['stage']),
        unseen: [{ field: 'stage', column: 'Stage', type: 'text', direction: 'to-leads' }],
      },
      'hold (row.column-missing)',
    ],
    [
      'a field that only travels to the target',
      {
        ...without(policy(), ['stage']),
        unseen: [{ field: 'stage', column: 'Stage', type: 'text', direction: 'to-target' }],
      },
      'create-lead (new-row); companyName: - > Acme',
    ],
    [
      'a field, where names only travel to the target',
      without(
        policy({
          fields: fields.map((one) =>
            one.field === 'companyName' ? { ...one, direction: 'to-target' } : one,
          ),
        }),
        ['stage'],
      ),
      'report (row.without-id)',
    ],
    ['every field, to-target', without(policy({ direction: 'to-target' }), names), 'report (row.without-id)'],
  ])('a new row without %s', (_, choices, expected) => {
    const actions = planNewRow(9, { companyName: 'Acme' }, null, choices);
    expect(actions.map(told).join()).toBe(expected);
    for (const { row } of actions) expect(row).toBe(9);
  });

  test('an edit of the lead that the run cannot compare with a cell keeps the lead, too', () => {
    const base = { companyName: 'Acme', stage: 'new', nextFollowUpAt: null };
    const gone = pair({ base, lead: { ...base, stage: 'won' }, rowAbsences: 2 });
    const choices = without(policy({ onRowDeleted: 'delete-lead' }), ['stage']);
    expect(planPair(gone, choices).map(told)).toEqual(['hold (row.column-missing)']);
    expect(planPair({ ...gone, lead: base }, choices).map(told)).toEqual(['delete-lead (row-deleted)']);
  });

  test('a person is told once how many records wait, for which column, and what helps', () => {
    const { message } = planMissed({ leads: 1, rows: 30 }, noName);
    expect(message).toBe(
      'the table has no column, or two, headed "Company", so no lead of 30 new rows and no row of 1 lead was made: each would lack it. Edits of known leads go on. Put the heading right, or name the column in the configuration (fields: companyName), then run leadsync sync',
    );
    expect(fields).toContainEqual(expect.objectContaining({ field: 'companyName', column: 'Company' }));
  });
});
