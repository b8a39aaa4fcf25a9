import type { ConnectionConfig, ReminderSettings } from '../../config/config.ts';
import type { Cells } from '../../core/lead/value.ts';
import { calendarEntry } from './calendar.ts';
import { type Composed, maxSubject } from './compose-reminder.ts';
import { leadView } from './lead-view.ts';
import { localTime } from '../plan/local-time.ts';
import { senderDomain } from './message.ts';
import { escaped, oneLine } from './shown-text.ts';

interface CancellationContent {
  readonly connection: Pick<ConnectionConfig, 'name' | 'fields'>;
  readonly settings: ReminderSettings;
  /** `dueAt` (epoch ms): when the follow-up that is no more was due. */
  readonly reminder: { readonly leadId: string; readonly dueAt: number; readonly sequence: number };
  readonly cells: Cells;
  /** Epoch ms. */
  readonly now: number;
}

/** The mail that takes back the calendar entry of a follow-up that somebody is not reminded of any more. */
export function composeCancellation({
  connection,
  settings,
  reminder: { leadId, dueAt, sequence },
  cells,
  now,
}: CancellationContent): Composed & { readonly calendar: string } {
  const { timeZone } = settings.rules;
  const { company, shortCompany } = leadView(leadId, cells, connection.fields, timeZone);
  const { day, time, zone } = localTime(dueAt, timeZone);
  const text = `There is no follow-up of ${company} on ${day}, ${time} ${zone} for you any more: its date was cleared, the lead was closed or deleted, or somebody else has it. The attached entry takes it out of calendars that follow such entries.`;
  return {
    subject: oneLine(`No follow-up any more: ${shortCompany}, ${day}, ${time}`, maxSubject - 1),
    text: `${text}\n`,
    html: `<!doctype html><html lang="en"><body><p>${escaped(text)}</p></body></html>`,
    calendar: calendarEntry({
      leadId,
      connection: connection.name,
      title: `Follow-up: ${company}`,
      startAt: dueAt,
      sequence,
      cancelled: true,
      domain: senderDomain(settings.from),
      now,
    }),
  };
}
