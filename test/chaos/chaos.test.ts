import { expect, test } from 'vitest';
import { kinds } from './rounds/kinds.ts';
import { playRound } from './rounds/round.ts';

test('each kind of chaos once, while people work and the service throttles: afterwards all is right', async () => {
  const script = Object.keys(kinds);
  const verdict = await playRound({
    seed: 20_261_121,
    workers: 2,
    connections: 2,
    seconds: 0,
    pace: 0.05,
    script,
    only: [],
  });
  expect(verdict.faults, `events and output: ${verdict.folder}`).toEqual([]);
  expect(verdict.chaoses).toEqual(script);
  expect(Math.min(verdict.counts.edits, verdict.counts.mails, verdict.counts.throttled)).toBeGreaterThan(0);
}, 180_000);
