import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { plantedBugs } from '../simulation/planted-bugs.ts';

test.each(plantedBugs.map((bug) => [bug.name, bug] as const))('can be planted: %s', (_, { file, from }) => {
  const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
  expect(text.split(from)).toHaveLength(2);
});
