import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/database.ts'],
    // vitest leaves a core free by itself; these tests wait for servers and for processes, so that five keep two cores busy.
    maxWorkers: 5,
    // What a file imports is loaded once in each worker, not once for each file: half of the processor's time.
    isolate: false,
    // Programs that tests start are compiled once: each start takes half of the processor's time.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/leadsync-compiled', import.meta.url)),
    },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On a busy machine a job takes longer than the second that vitest allows by itself.
    expect: { poll: { interval: 20, timeout: 30_000 } },
    // Large files first: none is begun alone at the end.
    sequence: { shuffle: { tests: true, files: false } },
  },
});
