import { headingKey } from '../core/lead/heading-line.ts';
import { z } from 'zod';
import { calendarUrl, calledUrl, chatUrl, leadUrl } from './addresses.ts';
import { chatKinds } from './chat-webhook.ts';
import {
  duration,
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
      'Incoming webhook of a chat channel in Slack, Microsoft Teams or Discord, which gets every reminder and the digest of the connection as well. https, or this machine. Default: none.',
  }),
  webhookKind: z
    .enum(chatKinds)
    .exactOptional()
    .describe(
      'Format of the webhook. Needed where its host does not say it: slack for Mattermost, Rocket.Chat and others that take it. Default: by the host.',
    ),
  timeZone: timeZone
    .exactOptional()
    .describe(
      'IANA time zone of the recipients: mails show dates in it, and days and times of the day are meant in it. Default: that of sync.timeZone.',
    ),
  language: language
    .default('en')
    .describe(
      'Language of the mails: en, de, or the name of a folder with templates in another language. A person may have another one (recipients).',
    ),
  before: before
    .prefault(['0m'])
    .describe(
      'How long before the follow-up a mail is sent, a list such as [0m, 2h, 1d]; a day is a calendar day in timeZone, at the same time of the day. [] with a digest: the digest alone.',
    ),
  dateOnlyAt: timeOfDay
    .prefault('08:00')
    .describe(
      "Time of the day for a follow-up that is a date without a time: 0m is this time of that day in the recipient's zone, 1d one day before, 2h two hours before it.",
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
  grace: duration('1m', '30d', '90m, 24h or 2d')
    .prefault('24h')
    .describe(
      'How late a mail that missed its time is still sent; afterwards the follow-up is in the digest alone. 1m to 30d.',
    ),
  skipStages: z
    .array(filled('must not be empty'))
    .refine((list) => new Set(list.map(headingKey)).size === list.length, 'must name no value twice')
    .exactOptional()
    .describe(
      'Stages of leads for which no reminder is sent, such as [won, lost, paused]; [] for none. Default: won, lost and their like (closed won, closed-lost, gewonnen, verloren), unless onlyStages is set.',
    ),
  onlyStages: leadValues
    .exactOptional()
    .describe('The only stages of leads for which reminders are sent. Not together with skipStages.'),
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
  calendarFeed: z
    .boolean()
    .default(false)
    .describe(
      "Whether each recipient's calendar feed has the follow-ups of this connection: an address on the worker's HTTP port to which calendar programs subscribe. `leadsync reminders --feeds` shows the addresses.",
    ),
  caldav: z
    .record(
      // checkReminders judges addresses: zod would not look into a calendar whose address is wrong.
      z.string().meta({ title: 'ADDRESS' }),
      caldav,
    )
    .exactOptional(),
  caldavDone: z
    .enum(['clear', 'report'])
    .default('report')
    .describe(
      'What it means when a recipient deletes or completes an entry in a calendar of caldav: clear (the follow-up is cleared) or report (the follow-up stays, `leadsync reminders` lists it, and the entry comes back with the next date).',
    ),
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
  onUnknown: z
    .enum(['resend', 'hold'])
    .default('resend')
    .describe(
      'What becomes of a mail when the connection broke before the server confirmed it: resend (once, with the same Message-ID) or hold.',
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
    language: language
      .exactOptional()
      .describe("Language of this recipient's mails. Default: that of the connection's reminders."),
  }),
);

export const alertsSchema = z
  .strictObject({
    email: recipients.exactOptional().meta({
      env: 'ALERT_EMAIL',
      description:
        'Recipients of a mail about each problem and about its end; several with commas in the variable, a list in the file. Default: none.',
    }),
    from: sender
      .exactOptional()
      .describe(
        'Sender of these mails, such as leadsync <ops@example.com>. Default: that of the reminders (REMINDER_FROM); one is required when SMTP_URL is set.',
      ),
    webhook: calledUrl.exactOptional().meta({
      env: 'ALERT_WEBHOOK',
      description:
        'Address that gets the same as JSON that Slack takes: {"text": "…"}, by POST. https, or this machine. Default: none.',
    }),
    heartbeat: calledUrl.exactOptional().meta({
      env: 'ALERT_HEARTBEAT',
      description:
        'Address that leadsync calls (GET) after each completed sync, for a service that notices silence. With {connection} in it each connection has its own; without, leadsync calls it only while no connection waits too long for a success. Default: none.',
    }),
    noSuccessFor: duration('1h', '90d', '90m, 26h or 2d')
      .exactOptional()
      .describe(
        'leadsync sends an alert after this long without a completed sync: 1h to 90d, such as 26h. Default: 2 hours after one was due by sync.schedule.',
      ),
  })
  .refine(
    ({ email, webhook, heartbeat }) => (email ?? webhook ?? heartbeat) !== undefined,
    'must hold email, webhook or heartbeat: without one of them alerts go nowhere',
  );
