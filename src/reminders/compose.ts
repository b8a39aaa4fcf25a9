import { Temporal } from 'temporal-polyfill';
import type { Lead } from '../lead/lead.ts';

/** Subject and text of the mail about one due lead. The time is told in the recipients' zone. */
export function composeReminder(
  lead: Lead,
  dueAt: number,
  timeZone: string,
): { subject: string; text: string } {
  const due = Temporal.Instant.fromEpochMilliseconds(dueAt).toZonedDateTimeISO(timeZone);
  const when = due.toLocaleString('en-GB', { dateStyle: 'full', timeStyle: 'short' });
  const name = oneLine(lead.fields.companyName) || 'a lead without a name';
  const details = [
    ['Stage', lead.fields.stage],
    ['Segment', lead.fields.segment],
    ['City', [oneLine(lead.fields.city), oneLine(lead.fields.region)].filter(Boolean).join(', ')],
    ['Lead', lead.id],
  ] as const;
  const lines = details.flatMap(([label, value]) => (oneLine(value) ? [`${label}: ${oneLine(value)}`] : []));
  return {
    subject: `Follow-up: ${name.slice(0, 100)} (${due.toPlainDate().toString()})`,
    text: `The follow-up with ${name} is due on ${when} (${timeZone}).\n\n${lines.join('\n')}\n`,
  };
}

/** A value on one line: line ends and other control characters become spaces. */
function oneLine(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value.replaceAll(/\p{Cc}+/gu, ' ').trim();
}
