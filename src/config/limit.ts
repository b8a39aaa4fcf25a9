import type { Limit } from './config.ts';

export const limitAllowed =
  'must be a whole number of rows such as 10, or a share from 0% to 100% such as 10%';

const pattern = /^(\d{1,9})(%?)$/;

/** What is wrong with a limit, or null. */
export function limitMistake(value: string | number): string | null {
  const [, digits, sign] = pattern.exec(String(value)) ?? [];
  if (digits !== undefined && (sign === '' || Number(digits) <= 100)) return null;
  return limitAllowed;
}

/** A limit that has passed `limitMistake`. */
export function parseLimit(value: string | number): Limit {
  const [, digits, sign] = pattern.exec(String(value)) ?? [];
  return { amount: Number(digits), percent: sign === '%' };
}
