import { expect, test } from 'vitest';
import { isDatabaseOutage } from '../../src/postgres/database-outage.ts';
import { LeadsyncError } from '../../src/lib/errors.ts';

const coded = (code: string): Error => Object.assign(new Error('from pg or the system'), { code });

test.each([
  '08006',
  '08P01',
  '25006',
  '25P03',
  '28000',
  '28P01',
  '3D000',
  '40001',
  '40P01',
  '53100',
  '53300',
  '55000',
  '55P03',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  '58030',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
])('%s is "not now"', (code) => {
  expect(isDatabaseOutage(coded(code))).toBe(true);
});

test.each([
  '22P02',
  '23505',
  '25P02',
  '2BP01',
  '42501',
  '42P01',
  '54000',
  'XX000',
  'ENOENT',
  'ENOSPC',
  'EACCES',
])('%s is a mistake, or says nothing of the database', (code) => {
  expect(isDatabaseOutage(coded(code))).toBe(false);
});

test('faults of the pool itself, and not those of others', () => {
  expect(isDatabaseOutage(new Error('Connection terminated unexpectedly'))).toBe(true);
  expect(isDatabaseOutage(new LeadsyncError('database.unreachable', 'away'))).toBe(true);
  expect(isDatabaseOutage(new LeadsyncError('target.unreachable', 'away'))).toBe(false);
  expect(isDatabaseOutage(new Error('anything else'))).toBe(false);
  expect(isDatabaseOutage('08006')).toBe(false);
});
