import { Secret } from '../../src/config/secret.ts';
import type { ReminderRules, ReminderSettings } from '../../src/config/config.ts';
import { defaultFields } from '../../src/core/lead/mapping.ts';

/** As the configuration gives them when nothing but `to` is set. */
export const plainRules: ReminderRules = {
  timeZone: 'UTC',
  timeZones: {},
  dayZone: 'UTC',
  dateOnlyAt: 8 * 60,
  before: [{ text: '0m', days: 0, ms: 0 }],
  quietHours: null,
  workingDays: [1, 2, 3, 4, 5, 6, 7],
  graceMs: 24 * 3_600_000,
  skipStages: [],
  to: ['anna@example.com'],
  channel: null,
  routes: [],
  toField: null,
  digestAt: null,
};

/** What the planning asks of a connection. */
export function reminderConnection(name: string, rules: Partial<ReminderRules> = {}) {
  const reminders: ReminderSettings = {
    from: 'sales@example.com',
    rules: { ...plainRules, ...rules },
    language: 'en',
    chat: null,
    calendar: false,
    calendars: [],
    leadUrl: null,
    templates: null,
  };
  // A key of its own: ids of other tests are those of other leads.
  const leads = { baseUrl: 'http://127.0.0.1:1', apiKey: new Secret(name), query: {}, pageSize: 0 };
  return { name, leads, fields: defaultFields, sync: { match: 'off' as const }, reminders };
}
