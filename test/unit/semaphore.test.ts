import { setImmediate as nextTurn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Semaphore } from '../../src/lib/waiting.ts';

test('tasks run one at a time and in order, whichever fail or are given up while waiting', async () => {
  const kinds = fc.array(fc.constantFrom('good', 'bad', 'given up'), { maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(kinds, async (tasks) => {
      const semaphore = new Semaphore(1);
      const ran: number[] = [];
      let running = 0;
      const results = tasks.map((kind, index) => {
        const stop = new AbortController();
        const run = async (): Promise<number> => {
          using _turn = await semaphore.acquire(stop.signal);
          expect(++running).toBe(1);
          ran.push(index);
          await nextTurn();
          running -= 1;
          if (kind === 'bad') throw new Error('bad');
          return index;
        };
        const result = run();
        if (kind === 'given up') stop.abort('given up');
        return result.catch((error: unknown) => (error instanceof Error ? error.message : error));
      });
      const expected = tasks.map((kind, index) => (kind === 'good' ? index : kind));
      const ends = await Promise.all(results);
      // The first one may begin before it is given up; all others are waiting then.
      expect(ends.slice(1)).toEqual(expected.slice(1));
      expect(ran).toEqual(ran.toSorted((a, b) => a - b));
    }),
    { numRuns: 50 },
  );
});
