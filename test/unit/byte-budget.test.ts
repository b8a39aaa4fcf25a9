import { expect, test } from 'vitest';
import { ByteBudget, memoryBudget } from '../../src/lib/memory.ts';

const mb = 1024 ** 2;

test.each([
  [4096, 2337.6],
  [1024, 494.4],
  [512, 187.2],
  [256, 33.6],
  [192, 4],
  [64, 4],
])('of %i MB records may take %d MB', (memory, limit) => {
  expect(new ByteBudget(memory * mb).limit).toBeCloseTo(limit * mb, 0);
});

test('what is taken is missing until it is given back, and no more is taken than there is', () => {
  const budget = new ByteBudget(0, 100);
  expect([budget.take(60), budget.take(41), budget.left]).toEqual([true, false, 40]);
  budget.give(60);
  expect([budget.take(100), budget.take(1), budget.left]).toEqual([true, false, 0]);
});

test('the process has some', () => {
  expect(memoryBudget.memory).toBeGreaterThan(0);
  expect(memoryBudget.limit).toBeLessThan(memoryBudget.memory);
});
