import { describe, expect, test } from 'vitest';
import { kindsFor } from './rounds/kinds.ts';
import { playRound, type Verdict } from './rounds/round.ts';
import type { WorldOptions } from './rounds/world.ts';

describe('each kind of chaos once, while people work and the service throttles: afterwards all is right', () => {
  test('jobs in Postgres', async () => {
    const { throttled } = await play('postgres', 2, kindsFor('postgres'));
    expect(throttled).toBeGreaterThan(0);
  });

  // What does not touch the jobs is the same with either.
  const ofJobs = kindsFor('redis').filter((name) => /Redis|kill a worker|SIGTERM/.test(name));
  test('jobs in Redis', { tags: 'redis-server' }, async () => void (await play('redis', 1, ofJobs)));
});

async function play(
  backend: WorldOptions['backend'],
  connections: number,
  script: readonly string[],
): Promise<Verdict['counts']> {
  const seed = 20_261_121;
  const length = { seconds: 0, pace: 0.05 };
  const verdict = await playRound({ seed, backend, workers: 2, connections, ...length, script, only: [] });
  expect(verdict.faults, `events and output: ${verdict.folder}`).toEqual([]);
  expect(verdict.chaoses).toEqual(script);
  expect(verdict.counts.edits).toBeGreaterThan(0);
  return verdict.counts;
}
