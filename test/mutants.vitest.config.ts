import { defineConfig } from 'vitest/config';

/**
 * What Stryker runs for each mutant: the unit tests of src/core, without a database. With a fixed seed and
 * few runs of each law, so that a score can be repeated and a mutant takes a second. Not with what only compares the
 * code with a page made of it (decisions.test.ts): that would find every mutant, and no mistake.
 */
export default defineConfig({
  test: {
    include: [
      'test/unit/{guard,instant,laws-*,lead-*,merge-*,plan-*,planner*,fingerprint*,lost-{creates,creates-rows,creates-several,rows*,sights},undo*}.test.ts',
      'test/unit/{apart-rows,aside,audit,baseline-moves,count-outcomes,day,difference,email-addresses}.test.ts',
      'test/unit/{first-leads,follow-up-years,garbled,guard-*,heading-line,held-conflicts,hold-message,id-set}.test.ts',
      'test/unit/{intent-rows,judge-mark,live-scan,match*,choose-matches,missed-columns,older-cop*,other-words,propose-mapping}.test.ts',
      'test/unit/{records,refused-create,requested-edit,row-*,settle-creates,shifted-rows,shown-date}.test.ts',
      'test/unit/{shuffled-rows,snooze,text-size,totals,unlisted,whose-lead}.test.ts',
    ],
    setupFiles: ['test/support/fixed-seed.ts'],
    env: { LAW_RUNS: '200' },
    testTimeout: 60_000,
  },
});
