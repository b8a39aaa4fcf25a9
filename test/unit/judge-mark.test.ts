import { expect, test } from 'vitest';
import { markText, readMark } from '../../src/core/lead/table-mark.ts';
import { judgeMark, type KnownMarks, nonceOf } from '../../src/core/merge/judge-mark.ts';
import { doubtsOf } from '../../src/sync/table-mark.ts';

const mine = { keeper: 'k', connection: 'main', generation: 7, nonce: 'n7' };
const backedUpAt = new Date('2026-11-20T02:00:00Z');
const known = (changes: Partial<KnownMarks> = {}): KnownMarks => ({
  keeper: 'k',
  found: null,
  lastWritten: 7,
  oldest: 3,
  backedUpAt: null,
  ...changes,
});
const found = (runId: number, connection = 'main') => ({ connection, runId, nonce: 'n', written: true });

test.each([
  ['no mark', null, known(), { kind: 'current' }],
  ['the last one', mine, known({ found: found(7) }), { kind: 'current' }],
  ['the intended one', mine, known({ found: found(8) }), { kind: 'current' }],
  ['an earlier one of ours', mine, known({ found: found(5) }), { kind: 'earlier', runId: 5 }],
  [
    'of a run before any was confirmed',
    { ...mine, generation: 1 },
    known({ found: found(1), lastWritten: null }),
    { kind: 'current' },
  ],
  [
    'of the oldest run that is stored',
    { ...mine, generation: 3 },
    known(),
    { kind: 'older-state', by: 'main' },
  ],
  ['one that is not remembered any more', { ...mine, generation: 2 }, known(), { kind: 'earlier', runId: 2 }],
  [
    'of a later run that is not known',
    { ...mine, generation: 9 },
    known(),
    { kind: 'older-state', by: 'main' },
  ],
  [
    'of a run of that number in another copy of the state',
    mine,
    known(),
    { kind: 'older-state', by: 'main' },
  ],
  [
    'of a state that has never written',
    mine,
    known({ lastWritten: null, oldest: null }),
    { kind: 'older-state', by: 'main' },
  ],
  ['of another keeper', { ...mine, keeper: 'x' }, known(), { kind: 'other-keeper', by: 'main' }],
  ['of another keeper, accepted', { ...mine, keeper: 'x' }, known({ found: found(7) }), { kind: 'current' }],
  [
    'of another table of ours',
    mine,
    known({ found: found(6, 'second') }),
    { kind: 'other-target', by: 'second' },
  ],
  ['of the keeper alone', { keeper: 'k', connection: 'main' }, known(), { kind: 'current' }],
  [
    'of another keeper alone',
    { keeper: 'x', connection: 'main' },
    known(),
    { kind: 'other-keeper', by: 'main' },
  ],
  [
    'of another keeper alone, accepted',
    { keeper: 'x', connection: 'main' },
    known({ found: found(7) }),
    { kind: 'current' },
  ],
  [
    'of another keeper alone, again since we wrote',
    { keeper: 'x', connection: 'main' },
    known({ found: found(6) }),
    { kind: 'other-keeper', by: 'main' },
  ],
  [
    'none, of a state that came out of a backup',
    null,
    known({ backedUpAt }),
    { kind: 'older-state', by: 'main', backedUpAt },
  ],
  [
    'the last one, of a state that came out of a backup: not every sync writes one',
    mine,
    known({ backedUpAt, found: found(7) }),
    { kind: 'older-state', by: 'main', backedUpAt },
  ],
  [
    'of another keeper, found by a state that came out of a backup',
    { ...mine, keeper: 'x' },
    known({ backedUpAt }),
    { kind: 'other-keeper', by: 'main' },
  ],
  [
    'of another table of ours, found by a state that came out of a backup',
    mine,
    known({ backedUpAt, found: found(6, 'second') }),
    { kind: 'other-target', by: 'second' },
  ],
] as const)('%s', (_, mark, what, verdict) => {
  expect(judgeMark(mark, 'main', what)).toEqual(verdict);
});

test('a mark is known by its nonce, and one from before there were any by its keeper', () => {
  expect([nonceOf(mine), nonceOf({ keeper: 'k', connection: 'main' })]).toEqual(['n7', 'k']);
});

test('only an earlier mark is a doubt, and says of which run', () => {
  expect(doubtsOf({ kind: 'earlier', runId: 5 })).toEqual({
    row: { reason: 'it has the mark of run 5', run: 5 },
  });
  expect(doubtsOf({ kind: 'current' })).toEqual({});
});

test('what people type is no mark; a mark fits into 255 characters, as Excel shows a property', () => {
  for (const text of [null, '', 'mine', '{"v":2}', '{"v":1}', '[]', 'null'])
    expect(readMark(text)).toBeNull();
  const uuid = '0d0b4f6f-63a8-4be0-8f5c-4f6f3a5a1c22';
  const longest = {
    keeper: uuid,
    connection: 'c'.repeat(64),
    place: uuid,
    generation: 999_999,
    nonce: 'f'.repeat(16),
  };
  expect(markText(longest).length).toBeLessThanOrEqual(255);
  expect(readMark(markText(longest))).toEqual(longest);
});
