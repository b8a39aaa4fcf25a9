export const retentionAllowed = 'must be a number of days from 1 to 3650, such as 90d';

const pattern = /^([1-9]\d{0,3})d?$/;

/** What is wrong with a retention, or null. */
export function retentionMistake(value: string | number): string | null {
  const [, days] = pattern.exec(String(value)) ?? [];
  return days !== undefined && Number(days) <= 3650 ? null : retentionAllowed;
}

/** Days, of a retention that has passed `retentionMistake`. */
export function parseRetention(value: string | number): number {
  return Number.parseInt(String(value), 10);
}
