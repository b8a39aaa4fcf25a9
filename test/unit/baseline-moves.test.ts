import { describe, expect, test } from 'vitest';
import { type ActionKind, plannedAction } from '../../src/core/merge/action.ts';
import { type Had, hadBefore, movesAfter } from '../../src/core/merge/baseline-moves.ts';

const none: Had = { lead: [], row: [] };

describe('which side showed what the baseline moves to before the write', () => {
  const cases: readonly (readonly [
    name: string,
    kind: ActionKind,
    reason: string,
    shown: readonly [from: string | null, to: string | null],
    moves: string | null | undefined,
    had: Had,
  ])[] = [
    ['the row was edited', 'update-lead', 'row-edited', ['a', 'b'], 'b', { lead: [], row: ['f'] }],
    ['the lead was edited', 'update-row', 'lead-edited', ['a', 'b'], 'b', { lead: ['f'], row: [] }],
    ['the service stored it otherwise', 'update-lead', 'row-edited', ['a', 'b '], 'b', none],
    [
      'the service keeps what it had',
      'update-row',
      'stored-otherwise',
      ['b ', 'b'],
      'b',
      { lead: ['f'], row: [] },
    ],
    ['a row was made again', 'create-row', 'restore', [null, 'b'], 'b', { lead: ['f'], row: [] }],
    [
      'an empty value in a row that was made',
      'create-row',
      'restore',
      [null, null],
      null,
      { lead: ['f'], row: [] },
    ],
    ['a lead was made', 'create-lead', 'new-row', [null, 'b'], 'b', { lead: [], row: ['f'] }],
    ['a row got its id', 'link', 'found-row', ['a', 'b'], 'b', { lead: ['f'], row: [] }],
    [
      'the service keeps what the lead had',
      'update-lead',
      'row-edited',
      ['b', 'c'],
      'b',
      { lead: ['f'], row: [] },
    ],
    ['an undo, beside a side of which nothing is known', 'update-row', 'undone', ['a', 'b'], 'b', none],
    ['an undo opens a decision on the lead again', 'update-lead', 'undone', ['x', 'y'], 'b', none],
    [
      'an undo, where the row shows it already',
      'update-row',
      'undone',
      ['b', 'y'],
      'b',
      { lead: [], row: ['f'] },
    ],
    ['an undo of what was never in step', 'update-row', 'undone', [null, null], undefined, none],
  ];
  test.each(cases)('%s', (_name, kind, reason, [from, to], moves, had) => {
    expect(hadBefore({ kind, reason, changes: { f: { from, to } } }, { f: moves })).toEqual(had);
  });
});

test('the moves of an edit say which side had it, and those of an undo', () => {
  const changes = { stage: { from: 'new', to: 'won' } };
  const edit = plannedAction('update-lead', { leadId: 'a', reason: 'row-edited', changes });
  expect(movesAfter({ action: edit, leadId: 'a', agreed: { stage: 'won' } })).toEqual([
    { to: 'agreed', leadId: 'a', values: { stage: 'won' }, had: { lead: [], row: ['stage'] } },
  ]);
  const undo = plannedAction('update-row', {
    leadId: 'a',
    reason: 'undone',
    changes: { stage: { from: 'new', to: 'won', rule: 'reopened', base: 'open' } },
  });
  expect(movesAfter({ action: undo, leadId: 'a', agreed: {} })).toEqual([
    { to: 'reopened', leadId: 'a', values: { stage: 'open' }, had: none },
  ]);
});

describe('where the baseline moves after what was done, and after it was undone', () => {
  const changes = { stage: { from: 'new', to: 'won' } };
  const stage = { stage: 'won' };
  test.each<[ActionKind, done: string | null, undone: string | null]>([
    ['create-lead', 'agreed', null],
    ['create-row', 'agreed', null],
    ['link', 'agreed', null],
    ['update-lead', 'agreed', 'reopened'],
    ['update-row', 'agreed', 'reopened'],
    ['mark-row', 'lead-deleted', null],
    ['remove-row', 'lead-deleted', 'cleared'],
    ['delete-lead', null, 'cleared'],
    ['unlink', 'forgotten', 'forgotten'],
    ['hold', null, null],
  ])('%s', (kind, done, undone) => {
    const movesTo = (reason: string) =>
      movesAfter({
        action: plannedAction(kind, { leadId: 'a', reason, changes }),
        leadId: 'a',
        agreed: stage,
      });
    expect(movesTo('row-edited').map(({ leadId, to }) => [leadId, to])).toEqual(
      done === null ? [] : [['a', done]],
    );
    expect(movesTo('undone').map(({ leadId, to }) => [leadId, to])).toEqual(
      undone === null ? [] : [['a', undone]],
    );
    for (const move of movesTo('row-edited')) if (move.to === 'agreed') expect(move.values).toEqual(stage);
  });

  test('an edit of the lead moves nothing when its row is linked in the same round, or nothing was confirmed', () => {
    const edit = (contentHash: string, agreed: object, kind: ActionKind = 'update-lead') =>
      movesAfter({
        action: plannedAction(kind, { leadId: 'a', reason: 'row-edited', contentHash, changes }),
        leadId: 'a',
        agreed: { ...agreed },
      });
    expect(edit('hash', stage)).toEqual([]);
    expect(edit('', {})).toEqual([]);
    expect(edit('', stage)).toHaveLength(1);
    expect(edit('hash', stage, 'update-row')).toHaveLength(1);
  });

  test('what an undo could not put back stays decided', () => {
    const reopened = { from: 'new', to: 'won', rule: 'reopened', base: 'open' } as const;
    const action = plannedAction('update-lead', {
      leadId: 'a',
      reason: 'undone',
      changes: { stage: reopened, city: reopened },
    });
    expect(movesAfter({ action, leadId: 'a', agreed: {}, refused: ['city'] })).toMatchObject([
      { to: 'reopened', values: { stage: 'open' } },
    ]);
    expect(movesAfter({ action, leadId: 'a', agreed: {}, refused: ['city'] })[0]).not.toHaveProperty(
      'values.city',
    );
  });
});
