import type { ReminderRules, ReminderSettings } from './config.ts';

/** Here and below the recipient is an address in lower case. */
export function recipientTimeZone(
  { timeZone, timeZones }: Pick<ReminderRules, 'timeZone' | 'timeZones'>,
  recipient: string,
): string {
  return timeZones[recipient] ?? timeZone;
}

export function recipientSettings(settings: ReminderSettings, recipient: string): ReminderSettings {
  return { ...settings, rules: recipientRules(settings.rules, recipient) };
}

export function recipientRules(rules: ReminderRules, recipient: string): ReminderRules {
  return { ...rules, timeZone: recipientTimeZone(rules, recipient) };
}
