import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lawRuns } from '../support/law-runs.ts';
import { auditState } from './audit-state.ts';
import { plantedMistakes } from './planted-mistakes.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

// A million of them: npm run laws.
test('at the end of each run all that differs is explained, whatever came together', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 1, max: 10 }), (seed, size) => {
      expect(auditState(seed, size)).toEqual([]);
    }),
    { numRuns: lawRuns(5_000) },
  );
});

describe('a mistake in the planner is found', () => {
  let tree = '';
  beforeAll(async () => {
    tree = await mkdtemp(join(tmpdir(), 'leadsync-laws-'));
    for (const part of [
      'src/core',
      'test/laws',
      'test/docs/every-policy.ts',
      'test/support/run-steps.ts',
      'package.json',
    ])
      await cp(join(root, part), join(tree, part), { recursive: true });
    await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  });
  afterAll(() => rm(tree, { recursive: true, force: true }));

  test.for(plantedMistakes)('$name', async ({ file, from, to }) => {
    const path = join(tree, file);
    const text = await readFile(path, 'utf8');
    expect(text.split(from)).toHaveLength(2);
    await writeFile(
      path,
      text.replace(from, () => to),
    );
    const played = spawnSync(process.execPath, [join(tree, 'test/laws/campaign.ts'), '--states', '20000'], {
      encoding: 'utf8',
    });
    await writeFile(path, text);
    expect(played.stdout).toMatch(/^seed \d+, size \d+:$/m);
    expect(played.status).toBe(1);
  });
});
