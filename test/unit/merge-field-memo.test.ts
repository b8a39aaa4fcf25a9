import { describe, expect, test } from 'vitest';
import type { Direction } from '../../src/core/lead/mapping.ts';
import type { Value } from '../../src/core/lead/value.ts';
import type { FieldMemo } from '../../src/core/merge/merge-field.ts';
import { type Case, decide, type Win } from './field-case.ts';

const wins: readonly Win[] = ['hold', 'leads-win', 'target-wins'];

describe('what an earlier run recorded', () => {
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

  test('a decision is void when both sides are equal', () => {
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

test('a refused value of a field that the service never gets keeps nothing from the row', () => {
  const refused: Case = { base: 'b', lead: 'l', row: 'b', memo: { refused: true } };
  expect(decide({ ...refused, direction: 'to-target' })).toBe('row := l (lead-edited)');
});

describe('a cell that a merge covered', () => {
  test.each<[Value, Direction, string]>([
    [null, 'two-way', 'row := b (fills-empty)'],
    [null, 'to-target', 'row := b (fills-empty)'],
    [null, 'to-leads', 'lead := - (row-edited)'],
    ['r', 'two-way', 'lead := r (row-edited)'],
  ])('and that shows %j since, %s: %s', (row, direction, expected) => {
    expect(decide({ base: 'b', lead: 'b', row, direction, memo: { covered: true } })).toBe(expected);
  });
});

describe('a word of the lead that the table does not know', () => {
  test.each<[Value | undefined, Direction, string]>([
    // Both sides had it before anybody told what the words mean.
    ['l', 'two-way', 'lead := r (row-edited)'],
    ['l', 'to-leads', 'lead := r (row-edited)'],
    ['l', 'to-target', 'hold lead.unmapped'],
    ['b', 'two-way', 'hold lead.unmapped'],
    ['b', 'to-leads', 'lead := r (one-way)'],
    ['b', 'to-target', 'hold lead.unmapped'],
    [undefined, 'to-leads', 'hold lead.unmapped'],
  ])('base %j, %s: %s', (base, direction, expected) => {
    const lead = { unreadable: 'l', why: 'unmapped' } as const;
    expect(decide({ base, lead, row: 'r', direction })).toBe(expected);
  });
});

describe('a value that a program saved in another encoding', () => {
  test.each<[string, Case, string]>([
    ['of both', { base: 'Müller', lead: 'Müller', row: 'MÃ¼ller' }, 'hold row.garbled'],
    ['of the lead', { base: undefined, lead: 'Müller', row: 'M?ller' }, 'hold row.garbled'],
    ['of the baseline', { base: 'Müller', lead: 'Bolt', row: 'M?ller' }, 'hold row.garbled'],
    [
      'of nothing that was there',
      { base: 'Bolt', lead: null, row: 'M?ller' },
      'lead := M?ller (target-wins)',
    ],
    [
      'that a person chose',
      { base: 'Müller', lead: 'Müller', row: 'M?ller', memo: { resolution: 'target' } },
      'lead := M?ller (resolved)',
    ],
    [
      'and that does not travel',
      { base: 'Müller', lead: 'Müller', row: 'M?ller', direction: 'to-target' },
      'row := Müller (one-way)',
    ],
  ])('%s', (_, given, expected) => {
    const wins = { onConflict: 'target-wins', onFirstSync: 'target-wins' } as const;
    expect(decide({ ...wins, ...given })).toBe(expected);
  });
});

describe('a side that shows an earlier value again', () => {
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
      'both show it, brought forward',
      { base: 'b', lead: 'old', row: 'old', memo: { putBack: 'row', forward: true } },
      'agree on old',
    ],
    [
      'both show the baseline again, brought forward',
      { base: 'b', lead: 'b', row: 'b', memo: { putBack: 'row', forward: true } },
      'nothing',
    ],
    [
      'brought forward, one way to the table',
      { base: 'b', lead: 'b', row: 'old', direction: 'to-target', memo: { putBack: 'row', forward: true } },
      'row := b (one-way)',
    ],
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
