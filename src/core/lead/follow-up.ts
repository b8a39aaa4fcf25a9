import { fieldKinds } from './field-kinds.ts';
import { type FieldMapping, followUpField } from './mapping.ts';
import { type Cell, isUnreadable } from './value.ts';
import { Temporal } from 'temporal-polyfill';
import { dayOf, zoned } from './instant.ts';

/** A follow-up in any other year is a slip, such as 21.11.0026: it travels from no row, and nobody is mailed. */
export const followUpYears = { first: 1970, last: 2200 } as const;

/** Whether a cell holds a follow-up in a year that nobody means. */
export function isImplausible(cell: Cell, { field, type }: Pick<FieldMapping, 'field' | 'type'>): boolean {
  if (field !== followUpField || !fieldKinds[type].isMoment || cell === null || isUnreadable(cell))
    return false;
  const year = new Date(cell).getUTCFullYear();
  return year < followUpYears.first || year > followUpYears.last;
}

/** By what a follow-up is moved; `done`: it is cleared. */
export const snoozes = ['day', 'week', 'done'] as const;
export type Snooze = (typeof snoozes)[number];

/** The IANA zones by which a date is moved: that of the person, and that in which a date without a time is read. */
export interface SnoozeZones {
  readonly timeZone: string;
  readonly dayZone: string;
}

/**
 * The new follow-up (epoch ms) of one that is due at `dueAt`: a day or a week later at the same local time, also across a change
 * of the clocks; a day stays a day. One that is overdue moves from today on. Null: none. Pure.
 */
export function snoozed(
  dueAt: number,
  by: Snooze,
  { timeZone, dayZone }: SnoozeZones,
  now: number,
): number | null {
  if (by === 'done') return null;
  const days = by === 'week' ? 7 : 1;
  const today = zoned(now, timeZone).toPlainDate();
  const from = (date: Temporal.PlainDate): Temporal.PlainDate =>
    (Temporal.PlainDate.compare(date, today) < 0 ? today : date).add({ days });
  const day = dayOf(dueAt, dayZone);
  if (day !== null)
    return from(Temporal.PlainDate.from(day)).toZonedDateTime({ timeZone: dayZone }).epochMilliseconds;
  const due = zoned(dueAt, timeZone);
  return from(due.toPlainDate()).toZonedDateTime({ timeZone, plainTime: due.toPlainTime() })
    .epochMilliseconds;
}
