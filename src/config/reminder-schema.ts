import { headingKey } from '../core/lead/mapping.ts';
import { z } from 'zod';
import { calendarUrl, calledUrl, chatUrl, leadUrl } from './addresses.ts';
import {
  filePath,
  filled,
  heading,
  language,
  listOf,
  offset,
  parseWeekday,
  quietHours,
  recipients,
  secret,
  sender,
  timeOfDay,
  timeZone,
  weekdayNames,
} from './values.ts';

const leadValues = listOf(
  filled('must not be empty'),
  'must name at least one value',
  'must name no value twice',
);

const route = z.strictObject({
  when: z
    .record(
      filled('must be the name of a lead field').meta({ title: 'FIELD' }),
      leadValues.describe(
        'Values of a mapped field, such as region: [BY, BW], in any case. Leads that fit all fields of a route go to its recipients instead of `to`; the first that fits counts.',
      ),
    )
    .refine(
      (value) => Object.keys(value).length > 0,
      'must name at least one field: leads that match no route go to the recipients in to',
    ),
  to: recipients.describe('Recipients of the route. Required.'),
});

const before = z
  .array(offset)
  .refine(
    (list) => new Set(list.map((one) => one.text)).size === list.length,
    'must name no time twice (60m is 1h)',
  );

const caldav = z.strictObject({
  url: calendarUrl.describe('Address of one calendar on a CalDAV server (https, or this machine). Required.'),
  username: filled('must be the user name at the calendar server')
    .exactOptional()
    .describe('User name at the calendar server. Required, but at Google: its account is that of the table.'),
  password: secret(filled('must be the password at the calendar server'))
    .exactOptional()
    .describe('Password at the calendar server, mostly an app password. Required with username.'),
  as: z
    .enum(['event', 'task', 'both'])
    .default('event')
    .describe('What a follow-up is there: event, task, both.'),
});

export const remindersSchema = z.strictObject({
  from: sender.exactOptional().meta({
    env: 'REMINDER_FROM',
    description:
      'Sender, such as Sales <sales@example.com>. Required with SMTP_URL; else leadsync@localhost.',
  }),
  to: recipients.exactOptional().meta({
    env: 'REMINDER_TO',
    description:
      'Recipients; with commas in the variable, a list in the file. Without it and webhook: no reminders.',
  }),
  webhook: chatUrl.exactOptional().meta({
    env: 'REMINDER_WEBHOOK',
    description:
      'Incoming webhook of a chat channel (Slack, Microsoft Teams, Discord, Mattermost, Rocket.Chat) that gets reminders and digest too; https, or this machine.',
  }),
  timeZone: timeZone
    .exactOptional()
    .describe(
      'Time zone (IANA) of the recipients, for all dates and times in mails. Default: sync.timeZone.',
    ),
  language: language.default('en').describe('en, de, or a folder with templates in another language.'),
  before: before
    .prefault(['0m'])
    .describe('How long before the follow-up mails are sent, such as [0m, 2h, 1d]. []: the digest alone.'),
  quietHours: quietHours
    .exactOptional()
    .describe('When no mail is sent, such as 20:00-08:00; it leaves at their end.'),
  workingDays: listOf(
    z.enum(weekdayNames),
    `must leave a working day: ${weekdayNames.join(', ')}`,
    'must name no day twice',
  )
    .default([...weekdayNames])
    .transform((names) => names.map(parseWeekday))
    .describe(
      "Days for mails; others wait for the next, for the digest's time or, without one, the same time.",
    ),
  skipStages: z
    .array(filled('must not be empty'))
    .refine((list) => new Set(list.map(headingKey)).size === list.length, 'must name no value twice')
    .exactOptional()
    .describe(
      'Stages without reminders; [] for none. Default: won, lost and their like (closed won, closed-lost, gewonnen, verloren).',
    ),
  routes: z.array(route).exactOptional(),
  toColumn: heading
    .exactOptional()
    .describe(
      "Mapped column with the recipients' addresses, such as Owner (names beside them are fine). It comes before routes and `to`.",
    ),
  digest: timeOfDay
    .exactOptional()
    .describe(
      'When each recipient gets one mail with all that is overdue or due in seven days, such as "08:00". Single mails come too, unless before is [].',
    ),
  calendar: z
    .boolean()
    .default(false)
    .describe('Whether mails have a calendar entry attached; further mails move it or take it back.'),
  caldav: z
    .record(
      // checkReminders judges addresses: zod would not look into a calendar whose address is wrong.
      z.string().meta({ title: 'ADDRESS' }),
      caldav,
    )
    .exactOptional(),
  leadUrl: leadUrl
    .exactOptional()
    .describe("A lead's address for people, such as https://app.example.com/leads/{id}, for links in mails."),
  templates: filePath('folder')
    .exactOptional()
    .describe('Folder with your own mail templates, relative to that of leadsync.yaml.'),
});

export const recipientsSchema = z.record(
  // checkTogether judges addresses: zod would not look into a person whose address is wrong.
  z.string().meta({ title: 'ADDRESS' }),
  z.strictObject({
    timeZone: timeZone
      .exactOptional()
      .describe("Time zone (IANA) of this recipient's mails. Default: that of the connection's reminders."),
  }),
);

export const alertsSchema = z
  .strictObject({
    email: recipients.exactOptional().meta({
      env: 'ALERT_EMAIL',
      description:
        'Recipients of a mail about each problem and its end; with commas in the variable, a list in the file.',
    }),
    webhook: calledUrl.exactOptional().meta({
      env: 'ALERT_WEBHOOK',
      description: 'Gets the same as Slack\'s JSON, {"text": "…"}, by POST; https, or this machine.',
    }),
    heartbeat: calledUrl.exactOptional().meta({
      env: 'ALERT_HEARTBEAT',
      description:
        'Called (GET) after each completed sync, for a service that notices silence. {connection} in it: one for each.',
    }),
  })
  .refine(
    ({ email, webhook, heartbeat }) => (email ?? webhook ?? heartbeat) !== undefined,
    'must hold email, webhook or heartbeat: without one of them alerts go nowhere',
  );
