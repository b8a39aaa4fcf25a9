import { expect, test } from 'vitest';
import { pauseAfter } from '../../src/postgres/postgres-client.ts';

test.each([
  [1, 125, 250],
  [2, 250, 500],
  [5, 2_000, 4_000],
  [6, 2_500, 5_000],
  [5_000, 2_500, 5_000],
])('after %d failures in a row: %d to %d ms', (failures, least, most) => {
  expect(pauseAfter(failures, 0)).toBe(least);
  expect(pauseAfter(failures, 1)).toBe(most);
});
