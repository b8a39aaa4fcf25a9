import { expect, test } from 'vitest';
import { agreeOn, type KnownSchedule } from '../../src/store/connections.ts';

/** Minute, worker, the pattern that it has (null: it stops), and the one that is right then. */
type Step = readonly [number, string, string | null, string | null];

const stories: Readonly<Record<string, readonly Step[]>> = {
  'one worker': [
    [0, 'a', 'old', 'old'],
    [9, 'a', 'old', 'old'],
  ],
  'a rolling deploy: the old one lives, and is restarted': [
    [0, 'a', 'old', 'old'],
    [1, 'b', 'new', 'new'],
    [1, 'a', 'old', 'new'],
    [2, 'a', null, 'new'],
    [2, 'a2', 'old', 'new'],
    [3, 'b', 'new', 'new'],
    [5, 'a2', 'old', 'new'],
  ],
  'a new one that was away comes back': [
    [0, 'a', 'old', 'old'],
    [1, 'b', 'new', 'new'],
    [3, 'a', 'old', 'new'],
    [6, 'a', 'old', 'old'],
    [6, 'b', 'new', 'new'],
    [7, 'a', 'old', 'new'],
  ],
  'both were restarted while the new one was away': [
    [0, 'a', 'old', 'old'],
    [1, 'b', 'new', 'new'],
    [1, 'a', null, 'new'],
    [6, 'a2', 'old', 'old'],
    [8, 'b2', 'new', 'new'],
  ],
  'one worker is reverted with a stop': [
    [0, 'a', 'old', 'old'],
    [1, 'a', null, null],
    [1, 'b', 'new', 'new'],
    [2, 'b', null, null],
    [2, 'c', 'old', 'old'],
  ],
  'one worker is reverted after a kill': [
    [0, 'a', 'new', 'new'],
    [1, 'b', 'newer', 'newer'],
    [2, 'c', 'new', 'newer'],
    [4, 'c', 'new', 'newer'],
    [5, 'c', 'new', 'new'],
  ],
  'a rolling rollback of two, and the deploy once more': [
    [0, 'a', 'old', 'old'],
    [1, 'a', null, null],
    [1, 'b', 'new', 'new'],
    [1, 'c', 'new', 'new'],
    [2, 'd', 'old', 'new'],
    [2, 'b', null, 'new'],
    [2, 'e', 'old', 'new'],
    [2, 'c', null, 'old'],
    [3, 'd', 'old', 'old'],
    [60, 'd', 'old', 'old'],
    [60, 'f', 'new', 'new'],
  ],
};

test.each(Object.entries(stories))('%s', (_name, steps) => {
  let known: readonly KnownSchedule[] = [];
  const seen = steps.map(([minute, worker, pattern]): Step => {
    const own = pattern === null ? null : { pattern, timeZone: 'UTC' };
    const agreed = agreeOn(known, worker, own, minute * 60_000);
    ({ known } = agreed);
    return [minute, worker, pattern, agreed.right?.pattern ?? null];
  });
  expect(seen).toEqual(steps);
});

test('the same pattern in another time zone is another schedule', () => {
  const first = agreeOn([], 'a', { pattern: '@daily', timeZone: 'UTC' }, 0);
  const { right } = agreeOn(first.known, 'b', { pattern: '@daily', timeZone: 'Europe/Berlin' }, 1);
  expect(right).toMatchObject({ timeZone: 'Europe/Berlin' });
});
