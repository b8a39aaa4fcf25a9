import { describe, expect, test } from 'vitest';
import type { Direction } from '../../src/core/lead/mapping.ts';
import type { Cell, Value } from '../../src/core/lead/value.ts';
import { decide, type Win } from './field-case.ts';

const wins: readonly Win[] = ['hold', 'leads-win', 'target-wins'];
const directions: readonly Direction[] = ['two-way', 'to-target', 'to-leads'];
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
