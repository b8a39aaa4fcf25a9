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
  /** `dueAt` (epoch ms): the due time of the cancelled follow-up. */
  readonly reminder: { readonly leadId: string; readonly dueAt: number; readonly sequence: number };
  readonly cells: Cells;
  /** Epoch ms. */
  readonly now: number;
}

/** The mail that cancels the calendar entry of a follow-up that no longer concerns its recipient. */
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
  const text = `The follow-up of ${company} on ${day}, ${time} ${zone} is no longer yours: its date was cleared, the lead was closed or deleted, or somebody else has it. The attached entry removes it from calendars that support this.`;
  return {
    subject: oneLine(`Follow-up cancelled: ${shortCompany}, ${day}, ${time}`, maxSubject - 1),
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
