import { defineConfig } from 'vitest/config';

/**
 * What Stryker runs for each mutant: the unit tests of src/merge and src/lead, without a database. With a fixed seed and
 * few runs of each law, so that a score can be repeated and a mutant takes a second.
 */
export default defineConfig({
  test: {
    include: [
      'test/unit/{guard,instant,laws-*,lead-*,merge-*,plan-*,precondition*,settle*,undo*}.test.ts',
      'test/unit/decisions.test.ts',
    ],
    setupFiles: ['test/support/fixed-seed.ts'],
    env: { LAW_RUNS: '200' },
  },
});
