import { headingKey } from '../core/lead/heading-line.ts';
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
        'Values of a mapped field, such as region: [BY, BW], compared without case. Leads that match all fields of a route go to its recipients instead of to; the first route that matches counts.',
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
  url: calendarUrl.describe(
    'Address of one calendar on a CalDAV server, such as https://cloud.example.com/remote.php/dav/calendars/anna/leads/. https, or this machine. Required.',
  ),
  username: filled('must be the user name at the calendar server').describe(
    'User name at the calendar server. Required.',
  ),
  password: secret(filled('must be the password at the calendar server')).describe(
    'Password at the calendar server, most often an app password. Required.',
  ),
  as: z
    .enum(['event', 'task', 'both'])
    .default('event')
    .describe('What a follow-up is in the calendar: event (an appointment), task, both.'),
});

export const remindersSchema = z.strictObject({
  from: sender.exactOptional().meta({
    env: 'REMINDER_FROM',
    description:
      'Sender of reminders, such as Sales <sales@example.com>. Required when SMTP_URL is set, otherwise leadsync@localhost.',
  }),
  to: recipients.exactOptional().meta({
    env: 'REMINDER_TO',
    description:
      'Recipients of reminders; several with commas in the variable, a list in the file. Without it, and without webhook: no reminders.',
  }),
  webhook: chatUrl.exactOptional().meta({
    env: 'REMINDER_WEBHOOK',
    description:
      'Incoming webhook of a chat channel in Slack, Microsoft Teams or Discord, or of Mattermost or Rocket.Chat, which gets every reminder and the digest of the connection as well. https, or this machine. Default: none.',
  }),
  timeZone: timeZone
    .exactOptional()
    .describe(
      'IANA time zone of the recipients: mails show dates in it, and days and times of the day are meant in it. Default: that of sync.timeZone.',
    ),
  language: language
    .default('en')
    .describe('Language of the mails: en, de, or the name of a folder with templates in another language.'),
  before: before
    .prefault(['0m'])
    .describe(
      'How long before the follow-up a mail is sent, a list such as [0m, 2h, 1d]; a day is a calendar day in timeZone, at the same time of the day. A follow-up that is a date without a time counts as at 08:00. [] with a digest: the digest alone.',
    ),
  quietHours: quietHours
    .exactOptional()
    .describe(
      'Times of the day in timeZone between which no mail is sent, such as 20:00-08:00; it is sent when they end. Default: none.',
    ),
  workingDays: listOf(
    z.enum(weekdayNames),
    `must leave a working day: ${weekdayNames.join(', ')}`,
    'must name no day twice',
  )
    .default([...weekdayNames])
    .transform((names) => names.map(parseWeekday))
    .describe(
      'Days on which mails are sent; others wait for the next of them, for the time of the digest or, without one, the same time of the day.',
    ),
  skipStages: z
    .array(filled('must not be empty'))
    .refine((list) => new Set(list.map(headingKey)).size === list.length, 'must name no value twice')
    .exactOptional()
    .describe(
      'Stages of leads for which no reminder is sent, such as [won, lost, paused]; [] for none. Default: won, lost and their like (closed won, closed-lost, gewonnen, verloren).',
    ),
  routes: z.array(route).exactOptional(),
  toColumn: heading
    .exactOptional()
    .describe(
      'Heading of a mapped column with the e-mail addresses of the recipients, such as Owner; names beside them are understood. It comes before routes; when the cell holds no address, or something else beside it, routes and to decide.',
    ),
  digest: timeOfDay
    .exactOptional()
    .describe(
      'Time of the day in timeZone at which each recipient gets one mail with all that is overdue, due today and in the next seven days, in all connections with a digest, such as "08:00", on working days. Single mails come as well, unless before is []. Default: no digest.',
    ),
  calendar: z
    .boolean()
    .default(false)
    .describe(
      'Whether mails have a calendar entry attached. When the date moves, or the recipient gets no more reminders of the lead, a further mail moves the entry or takes it back.',
    ),
  caldav: z
    .record(
      // checkReminders judges addresses: zod would not look into a calendar whose address is wrong.
      z.string().meta({ title: 'ADDRESS' }),
      caldav,
    )
    .exactOptional(),
  leadUrl: leadUrl
    .exactOptional()
    .describe(
      'Address of a lead for people, such as https://app.example.com/leads/{id}. Without it mails have no link to the lead.',
    ),
  templates: filePath('folder')
    .exactOptional()
    .describe(
      'Folder with templates of the mails, such as reminder.text.liquid for every language and de/reminder.text.liquid for one. The templates of leadsync stand in for those that are missing. Relative to the folder of leadsync.yaml.',
    ),
});

export const recipientsSchema = z.record(
  // checkTogether judges addresses: zod would not look into a person whose address is wrong.
  z.string().meta({ title: 'ADDRESS' }),
  z.strictObject({
    timeZone: timeZone
      .exactOptional()
      .describe(
        "IANA time zone of this recipient: days and times of the day in a connection's reminders are meant in it, and mails show dates in it. Default: that of the connection's reminders.",
      ),
  }),
);

export const alertsSchema = z
  .strictObject({
    email: recipients.exactOptional().meta({
      env: 'ALERT_EMAIL',
      description:
        'Recipients of a mail about each problem and about its end, from the sender of the reminders (REMINDER_FROM) or, without one, the first of them; several with commas in the variable, a list in the file. Default: none.',
    }),
    webhook: calledUrl.exactOptional().meta({
      env: 'ALERT_WEBHOOK',
      description:
        'Address that gets the same as JSON that Slack takes: {"text": "…"}, by POST. https, or this machine. Default: none.',
    }),
    heartbeat: calledUrl.exactOptional().meta({
      env: 'ALERT_HEARTBEAT',
      description:
        'Address that leadsync calls (GET) after each completed sync, for a service that notices silence. With {connection} in it each connection has its own; without, leadsync calls it only while no connection has waited for a success for 2 hours after one was due. Default: none.',
    }),
  })
  .refine(
    ({ email, webhook, heartbeat }) => (email ?? webhook ?? heartbeat) !== undefined,
    'must hold email, webhook or heartbeat: without one of them alerts go nowhere',
  );
