import type { ReminderRules } from './reminder-rules.ts';

type Offset = ReminderRules['before'][number];

const pattern = /^(\d{1,6})([mhd])$/;

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof unitMs;

interface Duration {
  readonly amount: number;
  readonly unit: Unit;
}

const offsetAllowed =
  'must be a time before the follow-up, from 0m to 365d: minutes, hours or days such as 30m, 2h or 1d';
const graceAllowed = 'must be a time from 1m to 30d: minutes, hours or days such as 90m, 24h or 2d';

const noSuccessAllowed = 'must be a time from 1h to 90d: minutes, hours or days such as 90m, 26h or 2d';

/** What is wrong with a time before the follow-up, or null. */
export function offsetMistake(text: string): string | null {
  const duration = read(text);
  return duration !== null && msOf(duration) <= 365 * unitMs.d ? null : offsetAllowed;
}

/**
 * A time before the follow-up that has passed `offsetMistake`. Its text is part of a reminder's key, so it is always the
 * same for the same time: `60m` is `1h`, nothing is `0m`. `24h` is not `1d`, which is a calendar day.
 */
export function parseOffset(text: string): Offset {
  const { amount, unit } = read(text) ?? { amount: 0, unit: 'm' };
  if (amount === 0) return { text: '0m', days: 0, ms: 0 };
  if (unit === 'd') return { text: `${amount}d`, days: amount, ms: 0 };
  const minutes = unit === 'h' ? amount * 60 : amount;
  return {
    text: minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`,
    days: 0,
    ms: minutes * unitMs.m,
  };
}

/** What is wrong with the time for which a mail may be late, or null. */
export function graceMistake(text: string): string | null {
  const duration = read(text);
  const ms = duration === null ? 0 : msOf(duration);
  return ms >= unitMs.m && ms <= 30 * unitMs.d ? null : graceAllowed;
}

/** What is wrong with the time within which a sync has to succeed, or null. */
export function noSuccessMistake(text: string): string | null {
  const duration = read(text);
  const ms = duration === null ? 0 : msOf(duration);
  return ms >= unitMs.h && ms <= 90 * unitMs.d ? null : noSuccessAllowed;
}

/** Ms, of a time that has passed `graceMistake` or `noSuccessMistake`. A day is 24 hours. */
export function parseDuration(text: string): number {
  const duration = read(text);
  return duration === null ? 0 : msOf(duration);
}

function read(text: string): Duration | null {
  const [, amount, unit] = pattern.exec(text) ?? [];
  return amount === undefined ? null : { amount: Number(amount), unit: unit as Unit };
}

function msOf({ amount, unit }: Duration): number {
  return amount * unitMs[unit];
}
