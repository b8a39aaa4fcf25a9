import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isImplausible } from '../../src/core/lead/follow-up.ts';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import type { Value } from '../../src/core/lead/value.ts';
import { mergeField } from '../../src/core/merge/merge-field.ts';
import { planNewRow } from '../../src/core/merge/plan-rows.ts';
import { dueMoment } from '../../src/reminders/plan/plan-reminders.ts';
import { fields, policy } from './pair-state.ts';

const due = '2026-11-21T08:30:00.000Z';
const mapping: FieldMapping = {
  field: 'nextFollowUpAt',
  column: 'Next',
  type: 'instant',
  direction: 'two-way',
};

test.each<[Value, boolean]>([
  ['0026-11-21T00:00:00.000Z', true],
  ['1969-12-31T23:59:59.999Z', true],
  ['1970-01-01T00:00:00.000Z', false],
  ['2026-11-21T08:30:00.000Z', false],
  ['2200-12-31T23:59:59.999Z', false],
  ['2201-01-01T00:00:00.000Z', true],
  ['9999-12-31T00:00:00.000Z', true],
  ['+012345-01-02T03:04:05.006Z', true],
  ['-000044-03-15T12:00:00.000Z', true],
  ['0000-01-01T00:00:00.000Z', true],
  [null, false],
])('a follow-up of %s: held %s', (value, isHeld) => {
  expect(isImplausible(value, mapping)).toBe(isHeld);
  const decision = mergeField({ base: due, lead: due, row: value }, mapping, policy());
  if (isHeld) expect(decision).toEqual({ kind: 'hold', code: 'row.unreadable' });
  else expect(decision.kind).toBe(value === due ? 'same' : 'to-lead');
  // What the service has is shown in the row.
  if (value !== due)
    expect(mergeField({ base: due, lead: value, row: due }, mapping, policy()).kind).toBe('to-row');
  expect(dueMoment({ nextFollowUpAt: value })).toBe(isHeld || value === null ? null : Date.parse(value));
  const [first] = planNewRow(2, { companyName: 'Acme', nextFollowUpAt: value }, null, policy());
  expect(first?.reason).toBe(isHeld ? 'row.unreadable' : 'new-row');
});

test('another date, such as when a company was founded, is of any year', () => {
  const founded = { ...mapping, field: 'foundedAt' };
  const value = '1898-05-04T00:00:00.000Z';
  expect(mergeField({ base: due, lead: due, row: value }, founded, policy()).kind).toBe('to-lead');
  expect(fields.some(({ field }) => field === 'foundedAt')).toBe(false);
});

test('law: no row sends a follow-up about which nobody would be mailed', () => {
  const cell = fc.option(fc.date({ noInvalidDate: true }).map((date) => date.toISOString()));
  fc.assert(
    fc.property(cell, cell, cell, (base, lead, row) => {
      const decision = mergeField({ base, lead, row }, mapping, policy());
      if (decision.kind === 'to-lead' && decision.value !== null)
        expect(dueMoment({ nextFollowUpAt: decision.value })).not.toBeNull();
    }),
  );
});
