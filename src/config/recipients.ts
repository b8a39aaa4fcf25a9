import type { ReminderRules, ReminderSettings } from './config.ts';

/** The IANA time zone of a recipient (address in lower case): their own, else that of the connection's reminders. */
export function recipientTimeZone(
  { timeZone, timeZones }: Pick<ReminderRules, 'timeZone' | 'timeZones'>,
  recipient: string,
): string {
  return timeZones[recipient] ?? timeZone;
}

/** The language of a recipient's mails (address in lower case): their own, else that of the connection's reminders. */
export function recipientLanguage(
  { language, languages }: Pick<ReminderSettings, 'language' | 'languages'>,
  recipient: string,
): string {
  return languages[recipient] ?? language;
}
