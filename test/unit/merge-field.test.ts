import { describe, expect, test } from 'vitest';
import type { Direction } from '../../src/core/lead/mapping.ts';
import type { Cell, Value } from '../../src/core/lead/value.ts';
import { type FieldMemo, mergeField } from '../../src/core/merge/merge-field.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { decided, policy } from './pair-state.ts';

type Win = Policy['onConflict'];
const wins: readonly Win[] = ['hold', 'leads-win', 'target-wins'];
const directions: readonly Direction[] = ['two-way', 'to-target', 'to-leads'];

interface Case {
  readonly base?: Value | undefined;
  readonly lead: Cell;
  readonly row: Cell;
  readonly field?: string;
  readonly memo?: FieldMemo;
  readonly direction?: Direction;
  readonly onConflict?: Win;
  readonly onFirstSync?: Win;
}

function decide({ base, lead, row, memo, field = 'stage', direction = 'two-way', ...choices }: Case): string {
  const mapping = { field, column: 'Any', type: 'text', direction } as const;
  return decided(mergeField({ base, lead, row, memo }, mapping, policy({ direction, ...choices })));
}

const soon = { unreadable: 'soon' };

describe('a field that was in step: the second table of docs/architecture.md 5', () => {
  // Rows 1 to 4 of the table: no policy has a say.
  test.each<[Value, Value, Value, Direction, string]>([
    // base, lead, row, direction, decision
    ['b', 'b', 'b', 'two-way', 'nothing'],
    ['b', 'b', 'b', 'to-target', 'nothing'],
    ['b', 'b', 'b', 'to-leads', 'nothing'],
    [null, null, null, 'two-way', 'nothing'],
    [null, null, null, 'to-target', 'nothing'],
    [null, null, null, 'to-leads', 'nothing'],

    ['b', 'l', 'b', 'two-way', 'row := l (lead-edited)'],
    ['b', 'l', 'b', 'to-target', 'row := l (lead-edited)'],
    ['b', 'l', 'b', 'to-leads', 'lead := b (one-way)'],
    ['b', null, 'b', 'two-way', 'row := - (lead-edited)'],
    ['b', null, 'b', 'to-target', 'row := - (lead-edited)'],
    ['b', null, 'b', 'to-leads', 'lead := b (one-way)'],
    [null, 'l', null, 'two-way', 'row := l (lead-edited)'],
    [null, 'l', null, 'to-target', 'row := l (lead-edited)'],
    [null, 'l', null, 'to-leads', 'lead := - (one-way)'],

    ['b', 'b', 'r', 'two-way', 'lead := r (row-edited)'],
    ['b', 'b', 'r', 'to-target', 'row := b (one-way)'],
    ['b', 'b', 'r', 'to-leads', 'lead := r (row-edited)'],
    ['b', 'b', null, 'two-way', 'lead := - (row-edited)'],
    ['b', 'b', null, 'to-target', 'row := b (one-way)'],
    ['b', 'b', null, 'to-leads', 'lead := - (row-edited)'],
    [null, null, 'r', 'two-way', 'lead := r (row-edited)'],
    [null, null, 'r', 'to-target', 'row := - (one-way)'],
    [null, null, 'r', 'to-leads', 'lead := r (row-edited)'],

    ['b', 'n', 'n', 'two-way', 'agree on n'],
    ['b', 'n', 'n', 'to-target', 'agree on n'],
    ['b', 'n', 'n', 'to-leads', 'agree on n'],
    ['b', null, null, 'two-way', 'agree on -'],
    ['b', null, null, 'to-target', 'agree on -'],
    ['b', null, null, 'to-leads', 'agree on -'],
  ])('base %j, lead %j, row %j, %s: %s', (base, lead, row, direction, expected) => {
    for (const onConflict of wins) {
      for (const onFirstSync of wins) {
        expect(decide({ base, lead, row, direction, onConflict, onFirstSync })).toBe(expected);
      }
    }
  });

  // Row 5: both changed, differently.
  test.each<[Value, Value, Direction, Win, string]>([
    ['l', 'r', 'two-way', 'hold', 'hold conflict.both-edited'],
    ['l', 'r', 'two-way', 'leads-win', 'row := l (leads-win)'],
    ['l', 'r', 'two-way', 'target-wins', 'lead := r (target-wins)'],
    ['l', 'r', 'to-target', 'hold', 'row := l (one-way)'],
    ['l', 'r', 'to-target', 'leads-win', 'row := l (one-way)'],
    ['l', 'r', 'to-target', 'target-wins', 'row := l (one-way)'],
    ['l', 'r', 'to-leads', 'hold', 'lead := r (one-way)'],
    ['l', 'r', 'to-leads', 'leads-win', 'lead := r (one-way)'],
    ['l', 'r', 'to-leads', 'target-wins', 'lead := r (one-way)'],
    // Emptied is an edit like any other.
    [null, 'r', 'two-way', 'hold', 'hold conflict.both-edited'],
    [null, 'r', 'two-way', 'leads-win', 'row := - (leads-win)'],
    ['l', null, 'two-way', 'hold', 'hold conflict.both-edited'],
    ['l', null, 'two-way', 'target-wins', 'lead := - (target-wins)'],
  ])('base "b", lead %j, row %j, %s, onConflict %s: %s', (lead, row, direction, onConflict, expected) => {
    for (const onFirstSync of wins) {
      expect(decide({ base: 'b', lead, row, direction, onConflict, onFirstSync })).toBe(expected);
    }
  });

  test.each<[string, Value, Value, Value]>([
    ['composed and decomposed', 'Jos\u00e9', 'Jose\u0301', 'Jos\u00e9'],
    ['line ends', 'a\nb', 'a\r\nb', 'a\rb'],
    ['empty text and none', null, '', null],
  ])('%s mean the same', (_, base, lead, row) => {
    expect(decide({ base, lead, row })).toBe('nothing');
  });

  test.each<[string, Value, Value]>([
    ['case', 'x', 'X'],
    ['spaces around', 'x', 'x '],
    ['a space and none', null, ' '],
    ['compatibility forms', 'ﬁ', 'fi'],
  ])('%s are an edit', (_, base, row) => {
    expect(decide({ base, lead: base, row })).toBe(`lead := ${row} (row-edited)`);
  });
});

describe('first sight of a field', () => {
  test.each<[Value, Value, Direction, Win, string]>([
    // lead, row, direction, onFirstSync, decision
    ['x', 'x', 'two-way', 'hold', 'agree on x'],
    ['x', 'x', 'to-target', 'leads-win', 'agree on x'],
    ['x', 'x', 'to-leads', 'target-wins', 'agree on x'],
    [null, null, 'two-way', 'hold', 'agree on -'],

    ['l', 'r', 'two-way', 'hold', 'hold conflict.first-sight'],
    ['l', 'r', 'two-way', 'leads-win', 'row := l (leads-win)'],
    ['l', 'r', 'two-way', 'target-wins', 'lead := r (target-wins)'],
    ['l', 'r', 'to-target', 'hold', 'hold conflict.first-sight'],
    ['l', 'r', 'to-target', 'leads-win', 'row := l (leads-win)'],
    ['l', 'r', 'to-target', 'target-wins', 'hold conflict.first-sight'],
    ['l', 'r', 'to-leads', 'hold', 'hold conflict.first-sight'],
    ['l', 'r', 'to-leads', 'leads-win', 'hold conflict.first-sight'],
    ['l', 'r', 'to-leads', 'target-wins', 'lead := r (target-wins)'],

    // An empty side takes the other's value, whatever the policy.
    ['l', null, 'two-way', 'hold', 'row := l (fills-empty)'],
    ['l', null, 'two-way', 'leads-win', 'row := l (fills-empty)'],
    ['l', null, 'two-way', 'target-wins', 'row := l (fills-empty)'],
    ['l', null, 'to-target', 'hold', 'row := l (fills-empty)'],
    ['l', null, 'to-target', 'leads-win', 'row := l (fills-empty)'],
    ['l', null, 'to-target', 'target-wins', 'row := l (fills-empty)'],
    [null, 'r', 'two-way', 'hold', 'lead := r (fills-empty)'],
    [null, 'r', 'two-way', 'leads-win', 'lead := r (fills-empty)'],
    [null, 'r', 'two-way', 'target-wins', 'lead := r (fills-empty)'],
    [null, 'r', 'to-leads', 'hold', 'lead := r (fills-empty)'],
    [null, 'r', 'to-leads', 'leads-win', 'lead := r (fills-empty)'],
    [null, 'r', 'to-leads', 'target-wins', 'lead := r (fills-empty)'],

    // Where the direction keeps the empty side empty, it does not empty the other one by default.
    ['l', null, 'to-leads', 'hold', 'hold conflict.first-sight'],
    ['l', null, 'to-leads', 'leads-win', 'hold conflict.first-sight'],
    ['l', null, 'to-leads', 'target-wins', 'hold conflict.first-sight'],
    [null, 'r', 'to-target', 'hold', 'hold conflict.first-sight'],
    [null, 'r', 'to-target', 'leads-win', 'hold conflict.first-sight'],
    [null, 'r', 'to-target', 'target-wins', 'hold conflict.first-sight'],
  ])('lead %j, row %j, %s, onFirstSync %s: %s', (lead, row, direction, onFirstSync, expected) => {
    for (const onConflict of wins) {
      expect(decide({ base: undefined, lead, row, direction, onConflict, onFirstSync })).toBe(expected);
    }
  });
});

describe('a cell that cannot be read', () => {
  const bases: readonly (Value | undefined)[] = [undefined, null, 'b'];

  test.each<[string, Cell, Cell, string]>([
    ['in the row', 'b', soon, 'hold row.unreadable'],
    ['in the row, lead empty', null, soon, 'hold row.unreadable'],
    ['in the lead', soon, 'b', 'hold lead.unreadable'],
    ['in the lead, row empty', soon, null, 'hold lead.unreadable'],
    ['on both sides', soon, soon, 'hold row.unreadable'],
  ])('%s is held under every policy and direction', (_, lead, row, expected) => {
    for (const base of bases) {
      for (const direction of directions) {
        for (const win of wins) {
          expect(decide({ base, lead, row, direction, onConflict: win, onFirstSync: win })).toBe(expected);
        }
      }
    }
  });

  test.each<[Cell, Cell, 'lead' | 'target', Direction, string]>([
    ['l', soon, 'lead', 'two-way', 'row := l (resolved)'],
    [null, soon, 'lead', 'two-way', 'row := - (resolved)'],
    ['l', soon, 'target', 'two-way', 'hold row.unreadable'],
    [soon, 'r', 'target', 'two-way', 'lead := r (resolved)'],
    [soon, 'r', 'target', 'to-leads', 'lead := r (resolved)'],
    [soon, 'r', 'target', 'to-target', 'hold lead.unreadable'],
    [soon, 'r', 'lead', 'two-way', 'hold lead.unreadable'],
    [soon, { unreadable: 'later' }, 'lead', 'two-way', 'hold row.unreadable'],
    [soon, { unreadable: 'later' }, 'target', 'two-way', 'hold row.unreadable'],
  ])('lead %j, row %j, resolved for the %s, %s: %s', (lead, row, resolution, direction, expected) => {
    expect(decide({ base: 'b', lead, row, memo: { resolution }, direction })).toBe(expected);
  });
});

describe('what an earlier run left', () => {
  test.each<[Value | undefined, 'lead' | 'target', Direction, string]>([
    ['b', 'lead', 'two-way', 'row := l (resolved)'],
    ['b', 'target', 'two-way', 'lead := r (resolved)'],
    [undefined, 'lead', 'two-way', 'row := l (resolved)'],
    [undefined, 'target', 'two-way', 'lead := r (resolved)'],
    [undefined, 'lead', 'to-target', 'row := l (resolved)'],
    [undefined, 'target', 'to-leads', 'lead := r (resolved)'],
    // A lead is not written in the direction to-target, not even by a decision.
    [undefined, 'target', 'to-target', 'hold conflict.first-sight'],
  ])(
    'a decision beats every policy: base %j, resolved for the %s, %s: %s',
    (base, resolution, direction, expected) => {
      for (const onConflict of wins) {
        const choices = { onConflict, direction, memo: { resolution } };
        expect(decide({ base, lead: 'l', row: 'r', ...choices })).toBe(expected);
      }
    },
  );

  test('a decision is no matter any more when the two sides are equal', () => {
    expect(decide({ base: 'b', lead: 'x', row: 'x', memo: { resolution: 'target' } })).toBe('agree on x');
  });

  test.each<[string, Value | undefined, Value, Value, FieldMemo, string]>([
    ['an edit', 'b', 'b', 'r', { refused: true }, 'hold lead.field-refused'],
    ['an edit that wins', 'b', 'l', 'r', { refused: true }, 'hold lead.field-refused'],
    ['a value for an empty side', undefined, null, 'r', { refused: true }, 'hold lead.field-refused'],
    [
      'a decision for the row',
      'b',
      'b',
      'r',
      { refused: true, resolution: 'target' },
      'hold lead.field-refused',
    ],
    ['a decision for the lead', 'b', 'b', 'r', { refused: true, resolution: 'lead' }, 'row := b (resolved)'],
    ['what a person wanted back in the lead', 'b', 'l', 'b', { refused: true }, 'hold lead.field-refused'],
    ['equal sides', 'b', 'r', 'r', { refused: true }, 'agree on r'],
    [
      'an edit that was not refused',
      'b',
      'b',
      'r',
      { refused: false, resolution: null },
      'lead := r (row-edited)',
    ],
  ])('a value that the service refused is not sent again: %s', (_, base, lead, row, memo, expected) => {
    expect(decide({ base, lead, row, memo, onConflict: 'target-wins' })).toBe(expected);
  });
});

describe('a side that shows again what it showed before', () => {
  test.each<[string, Case, string]>([
    [
      'the row, in step before',
      { base: 'b', lead: 'b', row: 'old', memo: { putBack: 'row' } },
      'hold row.put-back',
    ],
    ['the lead', { base: 'b', lead: 'old', row: 'b', memo: { putBack: 'lead' } }, 'hold lead.put-back'],
    [
      'a newer lead waits',
      { base: 'b', lead: 'l', row: 'old', memo: { putBack: 'row' } },
      'hold conflict.both-edited',
    ],
    [
      'a newer lead wins',
      { base: 'b', lead: 'l', row: 'old', memo: { putBack: 'row' }, onConflict: 'leads-win' },
      'row := l (leads-win)',
    ],
    [
      'the older row does not',
      { base: 'b', lead: 'l', row: 'old', memo: { putBack: 'row' }, onConflict: 'target-wins' },
      'hold row.put-back',
    ],
    [
      'brought forward: the row',
      { base: 'b', lead: 'b', row: 'old', memo: { putBack: 'row', forward: true } },
      'row := b (older-copy)',
    ],
    [
      'brought forward to a newer lead',
      { base: 'b', lead: 'l', row: 'old', memo: { putBack: 'row', forward: true } },
      'row := l (older-copy)',
    ],
    [
      'brought forward: the lead',
      { base: 'b', lead: 'old', row: 'b', memo: { putBack: 'lead', forward: true } },
      'lead := b (older-copy)',
    ],
    [
      'a person decided',
      { base: 'b', lead: 'b', row: 'old', memo: { putBack: 'row', resolution: 'target' } },
      'lead := old (resolved)',
    ],
    ['both show it', { base: 'b', lead: 'old', row: 'old', memo: { putBack: 'row' } }, 'agree on old'],
    [
      'one way to the table',
      { base: 'b', lead: 'b', row: 'old', direction: 'to-target', memo: { putBack: 'row' } },
      'row := b (one-way)',
    ],
  ])('%s', (_, state, expected) => {
    expect(decide(state)).toBe(expected);
  });
});

describe('a company name that was emptied in the row', () => {
  test.each<[string, Case, string]>([
    ['an edit', { base: 'b', lead: 'b', row: null }, 'hold row.company-name-empty'],
    ['empty text', { base: 'b', lead: 'b', row: '' }, 'hold row.company-name-empty'],
    ['one way', { base: 'b', lead: 'l', row: null, direction: 'to-leads' }, 'hold row.company-name-empty'],
    [
      'a conflict that it wins',
      { base: 'b', lead: 'l', row: null, onConflict: 'target-wins' },
      'hold row.company-name-empty',
    ],
    [
      'a decision for it',
      { base: 'b', lead: 'b', row: null, memo: { resolution: 'target' } },
      'hold row.company-name-empty',
    ],
    [
      'a decision against it',
      { base: 'b', lead: 'b', row: null, memo: { resolution: 'lead' } },
      'row := b (resolved)',
    ],
    [
      'in the direction to-target',
      { base: 'b', lead: 'b', row: null, direction: 'to-target' },
      'row := b (one-way)',
    ],
    ['first sight', { base: undefined, lead: 'l', row: null }, 'row := l (fills-empty)'],
    ['another field', { base: 'b', lead: 'b', row: null, field: 'city' }, 'lead := - (row-edited)'],
    ['emptied in the lead', { base: 'b', lead: null, row: 'b' }, 'row := - (lead-edited)'],
  ])('%s', (_, given, expected) => {
    expect(decide({ field: 'companyName', ...given })).toBe(expected);
  });
});
