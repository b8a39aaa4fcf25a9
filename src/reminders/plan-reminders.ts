import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { type Reminder, reconcileReminders } from '../store/reminders.ts';

/** The field that says when the next follow-up is due (API reference, section 2). */
export const followUpField = 'nextFollowUpAt';

/** A follow-up that fell due longer ago than this (ms) is not mailed any more. */
const graceMs = 24 * 3_600_000;

/** How far ahead (ms) jobs are made: twice the time between two looks, so that none is missed. */
const horizonMs = 2 * 3_600_000;

/** Brings the reminders of a connection in line with its leads; returns those that fall due within two hours. */
export async function planReminders(
  pool: pg.Pool,
  connection: ConnectionConfig,
): Promise<readonly Reminder[]> {
  const mapped = connection.fields.some(({ field, type }) => field === followUpField && type === 'instant');
  if (connection.reminders === undefined || !mapped) return [];
  return reconcileReminders(
    pool,
    connection.name,
    followUpField,
    connection.reminders.to,
    graceMs,
    horizonMs,
  );
}
