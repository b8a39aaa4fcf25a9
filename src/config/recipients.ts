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

/** A connection's reminders as they are for one recipient (address in lower case): in their time zone. */
export function recipientSettings(settings: ReminderSettings, recipient: string): ReminderSettings {
  return { ...settings, rules: recipientRules(settings.rules, recipient) };
}

/** The same of the rules alone. */
export function recipientRules(rules: ReminderRules, recipient: string): ReminderRules {
  return { ...rules, timeZone: recipientTimeZone(rules, recipient) };
}
