import { expect, inject, test } from 'vitest';
import { playWith } from './play-planted.ts';
import { plantedBugs } from './planted-bugs.ts';

/** Those whose seed is known; `node test/simulation/find-planted-bugs.ts` looks for the seeds of all. */
const known = plantedBugs.flatMap((bug) => (bug.seed === undefined ? [] : [{ ...bug, seed: bug.seed }]));

test.each(known)('simulated nights find: $name', { timeout: 180_000 }, async (bug) => {
  const { code, output } = await playWith(bug, { server: inject('databaseUrl'), nights: 3, seed: bug.seed });
  expect(output).toContain(`npm run simulate -- --seed ${bug.seed} `);
  expect(code).toBe(1);
});
