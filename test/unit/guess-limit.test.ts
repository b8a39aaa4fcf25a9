import { expect, test } from 'vitest';
import { GuessLimit } from '../../src/ops/access.ts';

test('wrong tokens of an address: ten at once, then one in a second', () => {
  const limit = new GuessLimit();
  for (let n = 0; n < 10; n++) {
    expect(limit.waitMs('10.0.0.1', 50_000)).toBe(0);
    limit.missed('10.0.0.1', 50_000);
  }
  expect(limit.waitMs('10.0.0.1', 50_000)).toBe(1_000);
  expect(limit.waitMs('10.0.0.1', 50_400)).toBe(600);
  expect(limit.waitMs('10.0.0.1', 51_000)).toBe(0);
  limit.missed('10.0.0.1', 51_000);
  expect(limit.waitMs('10.0.0.1', 51_000)).toBe(1_000);
  expect(limit.waitMs('::ffff:10.0.0.1', 51_000)).toBe(1_000);
  expect(limit.waitMs('10.0.0.2', 51_000)).toBe(0);
  expect(limit.waitMs('10.0.0.1', 500_000)).toBe(0);
});

test('whoever has a whole network of IPv6 is one, and many addresses fill no memory', () => {
  const limit = new GuessLimit();
  for (let n = 0; n < 10; n++) limit.missed(`2001:db8:0:1::${n}`, 0);
  expect(limit.waitMs('2001:db8::1:0:0:0:77', 0)).toBe(1_000);
  expect(limit.waitMs('2001:db8:0:2::1', 0)).toBe(0);
  for (let n = 0; n < 20_000; n++) limit.missed(`10.${n >> 8}.${n & 255}.1`, 0);
  expect(limit.size).toBe(10_000);
  limit.missed('10.0.0.1', 60_000);
  expect(limit.size).toBe(1);
});
