import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { isInstalled, programNames } from './test/support/programs.ts';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Where the longest files are, which are not the largest ones. */
const long = /\/test\/(?:scenario|simulation|chaos|many)\//;

/** Long files first: none is begun alone at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): number => Number(long.test(moduleId));
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's own
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => isLong(b) - isLong(a));
  }
}

export default defineConfig({
  test: {
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'servers',
          include: ['test/**/*.test.ts'],
          exclude: ['test/unit/**', 'node_modules/**'],
          globalSetup: ['test/support/database.ts', 'test/support/bundled-cli.ts'],
        },
      },
    ],
    tags: programNames.map((name) => ({ name, skip: !isInstalled(name) })),
    reporters: ['default', './test/support/left-out.ts'],
    // vitest leaves a core free by itself; these tests wait for servers and for processes, so that five keep two cores busy.
    maxWorkers: 5,
    // What a file imports is loaded once in each worker, not once for each file: half of the processor's time.
    isolate: false,
    // Programs that tests start are compiled once: each start takes half of the processor's time.
    env: {
      NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/leadsync-compiled', import.meta.url)),
    },
    // What hangs is ended; how fast a machine is, is no finding.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // On a busy machine a job takes longer than the second that vitest allows by itself.
    expect: { poll: { interval: 20, timeout: 120_000 } },
    sequence: { shuffle: { tests: true, files: false }, sequencer: LongFirst },
  },
});
