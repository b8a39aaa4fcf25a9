/**
 * An instant (epoch ms) as Postgres reads it: to the millisecond in any year, which neither a float of seconds nor pg's
 * own text of a Date is.
 */
export function timestamp(epochMs: number): string {
  const date = new Date(epochMs);
  const year = date.getUTCFullYear();
  const rest = date.toISOString().slice(-20);
  return year > 0
    ? `${String(year).padStart(4, '0')}${rest}`
    : `${String(1 - year).padStart(4, '0')}${rest} BC`;
}
