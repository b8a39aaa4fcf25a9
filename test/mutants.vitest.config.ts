import { defineConfig } from 'vitest/config';

/**
 * What Stryker runs for each mutant: the unit tests of src/core, without a database. With a fixed seed and
 * few runs of each law, so that a score can be repeated and a mutant takes a second. Not with what only compares the
 * code with a page made of it (decisions.test.ts): that would find every mutant, and no mistake.
 */
export default defineConfig({
  test: {
    include: [
      'test/unit/{guard,instant,laws-*,lead-*,merge-*,plan-*,planner*,fingerprint*,lost-*,undo*}.test.ts',
      'test/unit/{apart-rows,count-outcomes,difference,first-leads,follow-up-years,judge-mark,match*,missed-columns}.test.ts',
      'test/unit/{older-cop*,choose-matches,refused-create,row-*,shifted-rows,shuffled-rows,unlisted,whose-lead}.test.ts',
    ],
    setupFiles: ['test/support/fixed-seed.ts'],
    env: { LAW_RUNS: '200' },
  },
});
