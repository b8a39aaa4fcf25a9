import { CalDavHttp } from '../caldav/caldav-http.ts';
import { CalendarClient } from '../caldav/calendar-client.ts';
import type { CalendarSettings } from '../config/config.ts';
import { counted } from '../core/lead/counted.ts';
import { LeadsyncError } from '../errors.ts';
import { followUpField } from '../core/lead/follow-up.ts';
import { entriesOf } from '../store/calendar-entries.ts';
import type { SyncContext } from '../sync/context.ts';
import { type CheckLine, runCheck, never } from './check-line.ts';

/** A line for each calendar of a connection: whether it is one, takes what is configured, and may be written to. */
export async function checkCalendars(context: SyncContext): Promise<CheckLine[]> {
  const calendars = context.connection.reminders?.calendars ?? [];
  const lines: CheckLine[] = [];
  for (const calendar of calendars)
    lines.push(
      await runCheck(`${context.connection.name}: calendar of ${calendar.recipient}`, () =>
        checkCalendar(context, calendar),
      ),
    );
  return lines;
}

async function checkCalendar(
  { pool, connection, clock }: SyncContext,
  calendar: CalendarSettings,
): Promise<string> {
  await using http = new CalDavHttp(calendar, clock);
  const { displayName, components, mayWrite } = await new CalendarClient(http).examine(never);
  const missing = calendar.components.find((one) => !components.includes(one));
  if (missing !== undefined)
    throw new LeadsyncError('caldav.unsuited', `${http.place} takes no ${missing}s.`, {
      help: `Choose another calendar, or set "as" to ${missing === 'event' ? 'task' : 'event'}.`,
    });
  if (mayWrite === false)
    throw new LeadsyncError('caldav.forbidden', `${calendar.username} may not write to ${http.place}.`, {
      help: 'Share the calendar with this user so that it may read and write.',
    });
  const ref = { connection: connection.name, recipient: calendar.recipient };
  const rows = await entriesOf(pool, ref, calendar.components.slice(0, 1), followUpField);
  const count = rows.filter(({ dueAt }) => dueAt !== null).length;
  const name = displayName === null ? '' : ` (${displayName})`;
  return `${http.place}${name} answers; ${counted(count, 'follow-up')} of this recipient planned`;
}
