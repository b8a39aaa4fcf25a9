import type { ClockDifference } from '../ops/clock-differences.ts';
import type { CheckLine } from './check-line.ts';

/** Clocks that differ by more than this (ms) need fixing. */
const mostMs = 5_000;

/** The line for the clocks, each compared with the database's, which leadsync uses. */
export function describeClocks(clocks: readonly ClockDifference[]): CheckLine {
  const parts = clocks.map((one) => `${nameOf(one)} ${describe(one.aheadMs)}`);
  const message = `compared with the database: ${parts.join(', ')}`;
  if (clocks.every(({ aheadMs }) => Math.abs(aheadMs) <= mostMs))
    return { name: 'clocks', ok: true, message };
  const help = 'leadsync uses the time of the database; let NTP set every clock, that one first';
  return { name: 'clocks', ok: true, warning: true, message: `${message}. ${help}` };
}

function nameOf({ clock, connection }: ClockDifference): string {
  if (clock === 'service') return `the service of ${connection}`;
  return clock === 'worker' ? 'this machine' : 'Redis';
}

function describe(aheadMs: number): string {
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  return `${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead'}`;
}
