import { describe, expect, test } from 'vitest';
import { plannedAction } from '../../src/core/merge/action.ts';
import { deleteQuestions, HeldConflicts } from '../../src/core/merge/holds.ts';

const hold = (given: Partial<Parameters<typeof plannedAction>[1]> = {}) =>
  plannedAction('hold', { leadId: null, row: 2, contentHash: 'k', reason: 'row.orphan', ...given });
const city = { from: 'Ulm', to: 'Jena' };

describe('a hold', () => {
  test('of a whole record has no field and no values', () => {
    const [one, ...others] = new HeldConflicts().of(hold({ leadId: 'a', contentHash: '' }));
    expect(others).toEqual([]);
    expect(one).toEqual({
      leadId: 'a',
      contentHash: '',
      row: 2,
      code: 'row.orphan',
      message: 'row.orphan',
      cells: { companyName: null },
    });
  });

  test('of fields is one for each, with the value of the lead and of the row', () => {
    const changes = { city: { ...city, base: 'Hof' }, stage: { from: null, to: { unreadable: '?' } } };
    const held = new HeldConflicts().of(hold({ leadId: 'a', changes, message: 'both were edited' }));
    expect(held).toMatchObject([
      { field: 'city', base: 'Hof', lead: 'Ulm', rowValue: 'Jena', message: 'both were edited' },
      { field: 'stage', base: undefined, lead: null, rowValue: { unreadable: '?' } },
    ]);
  });

  test('of a delete has the record that is left, and what both sides agreed on', () => {
    const [shown, was] = [{ companyName: 'Acme' }, { companyName: 'ACME' }];
    const of = (reason: string) =>
      new HeldConflicts().of(hold({ leadId: 'a', reason, expect: shown }), [], was);
    expect(of(deleteQuestions.row)).toMatchObject([{ leadId: 'a', records: { lead: shown, row: was } }]);
    expect(of(deleteQuestions.lead)).toMatchObject([{ leadId: 'a', records: { lead: was, row: shown } }]);
  });

  test.each([
    ['what the action expects', 'Acme', ['Acme Ltd', 'ACME'], 'Acme'],
    ['what the lead shows', null, ['Acme Ltd', 'ACME'], 'Acme Ltd'],
    ['what the row shows, where the lead cannot be read', null, [{ unreadable: '?' }, 'ACME'], 'ACME'],
    ['nothing, where nothing can be read', { unreadable: '?' }, [null, null], null],
  ])('is called by %s', (_, expected, names, companyName) => {
    const held = new HeldConflicts().of(hold({ expect: { companyName: expected } }), names);
    expect(held).toMatchObject([{ cells: { companyName } }]);
  });

  test('of rows without id that are alike has a key of its own; another content or field is another key, a lead needs none', () => {
    const held = new HeldConflicts();
    const keys = (given: Parameters<typeof hold>[0]) =>
      held.of(hold(given)).map(({ contentHash, field }) => [contentHash, field]);
    expect([keys({ row: 2 }), keys({ row: 3 }), keys({ row: 4 })].flat()).toEqual([
      ['k', undefined],
      ['k#2', undefined],
      ['k#3', undefined],
    ]);
    expect(keys({ contentHash: 'other' })).toEqual([['other', undefined]]);
    expect(keys({ leadId: 'a' })).toEqual([['k', undefined]]);
    expect(keys({ leadId: 'a' })).toEqual([['k', undefined]]);
    expect(keys({ changes: { city } })).toEqual([['k', 'city']]);
    expect(keys({ changes: { city } })).toEqual([['k#2', 'city']]);
  });
});
