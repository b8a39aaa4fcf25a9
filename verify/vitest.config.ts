import { defineConfig } from 'vitest/config';

/**
 * Plays the contracts (test/contract) on a real service, and asks it what they cannot ask and the stand-ins assume, on records of
 * its own that it removes again.
 *
 *     npm run verify:hubspot
 *     VERIFY_SPREADSHEET=ID npm run verify:google-sheets -- -t 'what the contract cannot ask'
 */
export default defineConfig({
  test: {
    include: ['verify/*.test.ts', 'test/contract/*.verify.ts'],
    reporters: ['verbose'],
    maxWorkers: 1,
    // A service lets through so many requests a minute.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
});
