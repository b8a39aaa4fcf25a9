import { describe, expect, test } from 'vitest';
import type { RunChanges, Present } from '../../src/core/merge/undo.ts';
import { acme, row, soon, undo, undone, wrote } from './run-changes.ts';
import { told } from './pair-state.ts';

test('a run that did nothing has nothing to be undone', () => {
  expect(undone({}, { lead: acme, row: row(acme) })).toEqual([]);
});

describe('what a run wrote over', () => {
  const both = { lead: { ...acme, stage: 'won' }, row: row({ ...acme, stage: 'won' }) };

  test.each<[string, RunChanges['written'], Partial<Present>, readonly string[]]>([
    ['in the lead', [wrote('lead', 'stage', 'new', 'won')], both, ['update-lead (undone); stage: won > new']],
    ['in the row', [wrote('row', 'stage', 'new', 'won')], both, ['update-row (undone); stage: won > new']],
    ['an empty one', [wrote('row', 'stage', null, 'won')], both, ['update-row (undone); stage: won > -']],
    [
      'one field of each',
      [wrote('lead', 'stage', 'new', 'won'), wrote('row', 'companyName', 'Acne', 'Acme')],
      both,
      ['update-lead (undone); stage: won > new', 'update-row (undone); companyName: Acme > Acne'],
    ],
    [
      'one field of both: the lead alone, the row only had what became of it there',
      [wrote('lead', 'stage', 'new', 'won'), wrote('row', 'stage', 'won ', 'won')],
      both,
      ['update-lead (undone); stage: won > new'],
    ],
    [
      'one field of both, of which the row got another form',
      [wrote('lead', 'stage', 'new', 'won'), wrote('row', 'stage', 'new', 'won.')],
      { lead: both.lead, row: row({ ...acme, stage: 'won.' }) },
      ['update-lead (undone); stage: won > new'],
    ],
    [
      'in the lead, where the row still has what the lead was to get',
      [wrote('lead', 'stage', 'new', 'wo', { wanted: 'won' })],
      { lead: { ...acme, stage: 'wo' }, row: both.row ?? null },
      ['update-lead (undone); stage: wo > new'],
    ],
    [
      'in the lead alone, whose row has not followed so far',
      [wrote('lead', 'stage', 'new', 'won', { rule: 'requested' })],
      { lead: { ...acme, stage: 'won' }, row: row(acme) },
      ['update-lead (undone); stage: won > new'],
    ],
    [
      'in the lead of what the row had, which shows something earlier',
      [wrote('lead', 'stage', 'new', 'won')],
      { lead: { ...acme, stage: 'won' }, row: row(acme) },
      ['report (undo.edited-since)'],
    ],
    [
      'in the lead, and the row was edited since',
      [wrote('lead', 'stage', 'new', 'won')],
      { lead: { ...acme, stage: 'won' }, row: row({ ...acme, stage: 'lost' }) },
      ['report (undo.edited-since)'],
    ],
    [
      'in the row, and the lead was edited since',
      [wrote('row', 'stage', 'new', 'won')],
      { lead: { ...acme, stage: 'lost' }, row: row({ ...acme, stage: 'won' }) },
      ['report (undo.edited-since)'],
    ],
    [
      'in the lead, which has no row',
      [wrote('lead', 'stage', 'new', 'won')],
      { lead: { ...acme, stage: 'won' } },
      ['update-lead (undone); stage: won > new'],
    ],
    [
      'written by a later run too',
      [wrote('lead', 'stage', 'new', 'won', { later: 8 }), wrote('lead', 'companyName', 'Acne', 'Acme')],
      both,
      ['update-lead (undone); companyName: Acme > Acne', 'report (undo.written-since)'],
    ],
    [
      'put back by an undo, which is undone',
      [wrote('lead', 'stage', 'won', 'new', { rule: 'undone' })],
      { lead: { ...acme, stage: 'new' }, row: row({ ...acme, stage: 'won' }) },
      ['update-lead (undone); stage: new > won'],
    ],
    ['as it was before, by a later run', [wrote('lead', 'stage', 'won', 'lost', { later: 8 })], both, []],
    ['as it was before, by hand', [wrote('lead', 'stage', 'won', 'lost')], both, []],
    ['edited since', [wrote('lead', 'stage', 'new', 'lost')], both, ['report (undo.edited-since)']],
    [
      'emptied since',
      [wrote('row', 'nextFollowUpAt', 'a', 'b')],
      { row: row({ companyName: 'Acme' }) },
      ['report (undo.edited-since)'],
    ],
    [
      'one edited since, one not',
      [wrote('row', 'stage', 'new', 'lost'), wrote('row', 'companyName', 'Acne', 'Acme')],
      both,
      ['update-row (undone); companyName: Acme > Acne', 'report (undo.edited-since)'],
    ],
    ['what could not be read', [wrote('row', 'stage', soon, 'won')], both, ['report (undo.not-writable)']],
    ['the lead is gone', [wrote('lead', 'stage', 'new', 'won')], { row: both.row }, ['report (undo.gone)']],
    ['the row is gone', [wrote('row', 'stage', 'new', 'won')], { lead: both.lead }, ['report (undo.gone)']],
  ])('%s', (_, written, present, expected) => {
    expect(undone({ written }, present)).toEqual(expected);
  });

  test('is put back only while it still is what the run left', () => {
    const written = [wrote('row', 'stage', 'new', 'won'), wrote('row', 'companyName', 'Acne', 'Acme')];
    expect(undo({ written }, both)).toEqual([
      {
        kind: 'update-row',
        leadId: 'lead-1',
        row: 7,
        contentHash: '',
        changes: {
          stage: { from: 'won', to: 'new', rule: 'undone' },
          companyName: { from: 'Acme', to: 'Acne', rule: 'undone' },
        },
        expect: { stage: 'won', companyName: 'Acme' },
        reason: 'undone',
      },
    ]);
    expect(undo({ written: [wrote('lead', 'stage', 'new', 'won')] }, both)[0]?.row).toBeNull();
  });

  test.each(['row-edited', 'lead-edited', 'undone', 'reopened'])(
    'after %s it is an edit like any other: the baseline stays',
    (rule) => {
      const deed = wrote('lead', 'stage', 'new', 'won', { rule, base: 'new' });
      const [action] = undo({ written: [deed] }, { lead: both.lead ?? null });
      expect(action?.changes).toEqual({ stage: { from: 'won', to: 'new', rule: 'undone' } });
    },
  );

  test.each(['leads-win', 'target-wins', 'resolved', 'fills-empty', 'one-way'])(
    'after %s the baseline goes back, so that what was decided is open again',
    (rule) => {
      const change = { from: 'won', to: 'new', rule: 'reopened' };
      const stage = (base: object) => {
        const [action] = undo({ written: [wrote('row', 'stage', 'new', 'won', { rule, ...base })] }, both);
        return action?.changes['stage'];
      };
      expect(stage({ base: 'old' })).toStrictEqual({ ...change, base: 'old' });
      expect(stage({ base: null })).toStrictEqual({ ...change, base: null });
      expect(stage({})).toStrictEqual(change);
    },
  );

  test('nothing is put back once a later run made, marked or took away the record', () => {
    const written = [wrote('lead', 'stage', 'new', 'won')];
    expect(undo({ written, later: 9 }, both)).toMatchObject([
      { kind: 'report', message: 'run 9 wrote stage since; stage of the lead was left alone' },
    ]);
    expect(undone({ rowMade: acme, later: 9 }, { row: row(acme) })).toEqual(['report (undo.written-since)']);
    expect(undone({ leadMade: acme, later: 9 }, { lead: acme })).toEqual(['report (undo.written-since)']);
    expect(undone({ rowRemoved: acme, later: 9 })).toEqual(['report (undo.written-since)']);
    expect(undone({ rowMarked: true, later: 9 }, { row: row(acme) })).toEqual([
      'report (undo.written-since)',
    ]);
  });
});

describe('what a run took away', () => {
  test('a row comes back, with what it showed', () => {
    const [action, ...others] = undo({ rowRemoved: acme, written: [wrote('row', 'stage', 'new', null)] });
    expect(others).toEqual([]);
    expect(action).toMatchObject({ kind: 'create-row', leadId: 'lead-1', row: null, expect: {} });
    expect(action?.changes).toEqual({
      companyName: { from: null, to: 'Acme', rule: 'undone' },
      stage: { from: null, to: 'new', rule: 'undone' },
    });
  });

  test('what could not be read in it does not', () => {
    expect(undone({ rowRemoved: { companyName: 'Acme', stage: soon } })).toEqual([
      'create-row (undone); companyName: - > Acme',
      'report (undo.not-writable)',
    ]);
  });

  test('there is no second row when one carries the id again', () => {
    expect(undone({ rowRemoved: acme }, { row: row(acme) })).toEqual(['report (undo.row-exists)']);
  });

  test.each<[string, Partial<Present>, readonly string[]]>([
    ['there', { row: row(acme) }, ['mark-row (undone)']],
    ['gone', {}, []],
  ])('the mark of a row is taken away: %s', (_, present, expected) => {
    const actions = undo({ rowMarked: true }, present);
    expect(actions.map(told)).toEqual(expected);
    if (expected.length > 0) expect(actions[0]).toMatchObject({ row: 7, expect: acme });
  });

  test('a lead cannot come back under its id: what it had is told', () => {
    const [action, ...others] = undo({ leadDeleted: acme, written: [wrote('lead', 'stage', 'new', null)] });
    expect(others).toEqual([]);
    expect(action).toMatchObject({ kind: 'report', reason: 'undo.lead-deleted', changes: {}, expect: {} });
    expect(action?.message).toContain('It had companyName "Acme", stage "new", nextFollowUpAt (empty).');
  });
});

test.each<[string, Partial<RunChanges>, Partial<Present>, string]>([
  [
    'two edited fields',
    { written: [wrote('lead', 'stage', 'a', 'b'), wrote('lead', 'companyName', 'a', 'b')] },
    { lead: acme },
    'stage, companyName of the lead was edited after the run; the edit was left alone',
  ],
  [
    'an edited lead',
    { leadMade: { stage: 'won' } },
    { lead: { stage: 'new' } },
    'stage of the lead was edited after the run; it was not deleted',
  ],
  [
    'an edited row',
    { rowMade: { stage: 'won' } },
    { row: row({ stage: 'new' }) },
    'stage of the row was edited after the run; it was not removed',
  ],
  ['a lead that is gone', { leadMade: acme }, {}, 'the lead is gone; nothing can be put back'],
  ['a row that is gone', { rowMade: acme }, {}, 'the row is gone; nothing can be put back'],
  [
    'a second row',
    { rowRemoved: acme },
    { row: row(acme) },
    'row 7 carries this id again; no second one was added',
  ],
  [
    'a field that a later run wrote',
    { written: [wrote('lead', 'stage', 'a', 'b', { later: 8 })], later: 9 },
    { lead: acme },
    'run 9 wrote stage since; stage of the lead was left alone',
  ],
  [
    'the other side of an edited field',
    { written: [wrote('lead', 'stage', 'a', 'new')] },
    { lead: acme, row: row({ ...acme, stage: 'won' }) },
    'stage of the row was edited after the run; the lead was left alone',
  ],
  [
    'a lead that a later run wrote',
    { leadMade: acme, later: 9 },
    { lead: acme },
    'run 9 created, marked or removed the lead or its row since; the lead was not deleted',
  ],
  [
    'a lead whose row was edited',
    { leadMade: acme, rowLinked: acme },
    { lead: acme, row: row({ ...acme, stage: 'won' }) },
    'stage of the row was edited after the run; its lead was not deleted',
  ],
  [
    'a row that a later run wrote',
    { rowMade: acme, later: 9 },
    { row: row(acme) },
    'run 9 created, marked or removed the lead or its row since; the row was not removed',
  ],
  [
    'a row that a later run brought back',
    { rowRemoved: acme, later: 9 },
    {},
    'run 9 created, marked or removed the lead or its row since; the row was not brought back',
  ],
  [
    'a mark that a later run set',
    { rowMarked: true, later: 9 },
    { row: row(acme) },
    'run 9 created, marked or removed the lead or its row since; the mark was left',
  ],
  [
    'a row that was matched and edited',
    { rowMatched: acme },
    { row: row({ ...acme, stage: 'won' }) },
    'stage of the row was edited after the run; it keeps its id',
  ],
  [
    'a row that was matched, and that a later run wrote',
    { rowMatched: acme, later: 9 },
    { row: row(acme) },
    'run 9 created, marked or removed the lead or its row since; the row keeps its id',
  ],
  [
    'a lead that was deleted',
    { leadDeleted: acme },
    {},
    'the lead was deleted in the service and cannot come back under its id. It had companyName "Acme", stage "new", nextFollowUpAt (empty). To create a new lead, type them into a new row without an id',
  ],
  [
    'all of a paused row',
    { leadMade: acme, written: [wrote('row', 'stage', 'a', 'new')] },
    { lead: acme, row: row(acme), isPaused: true },
    'its row is paused; neither side was put back',
  ],
  [
    'what cannot be written',
    { written: [wrote('row', 'stage', soon, 'new')] },
    { row: row(acme) },
    'stage of the row was "soon", which cannot be written: type it again if you need it',
  ],
])('a person is told why something stays: %s', (_, made, present, message) => {
  expect(undo(made, present)).toEqual([
    {
      kind: 'report',
      leadId: 'lead-1',
      row: null,
      contentHash: '',
      changes: {},
      expect: {},
      reason: expect.stringMatching(/^undo\./) as string,
      message,
    },
  ]);
});
