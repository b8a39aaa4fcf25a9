import type { Setting } from './settings.ts';

/** Settings of the reminders of a connection. */
export const reminderSettings = [
  {
    variable: 'REMINDER_FROM',
    path: 'connections.NAME.reminders.from',
    meaning:
      'Sender of reminders, such as Sales <sales@example.com>. Required when SMTP_URL is set, otherwise leadsync@localhost.',
  },
  {
    variable: 'REMINDER_TO',
    path: 'connections.NAME.reminders.to',
    meaning:
      'Recipients of reminders; several with commas in the variable, a list in the file. Without it: no reminders.',
  },
  {
    path: 'connections.NAME.reminders.timeZone',
    meaning:
      'IANA time zone of the recipients: in it mails show dates, and days and times of the day are meant. Default: that of sync.timeZone.',
  },
  {
    path: 'connections.NAME.reminders.before',
    default: '[0m]',
    meaning:
      'How long before the follow-up a mail is sent, a list such as [0m, 2h, 1d]; a day is a calendar day in timeZone, at the same time of the day. [] with a digest: the digest alone.',
  },
  {
    path: 'connections.NAME.reminders.quietHours',
    meaning:
      'Times of the day in timeZone between which no mail is sent, such as 20:00-08:00; it is sent when they end. Default: none.',
  },
  {
    path: 'connections.NAME.reminders.workingDays',
    default: '[mon, tue, wed, thu, fri, sat, sun]',
    meaning: 'Days on which mails are sent; others wait for the next of them.',
  },
  {
    path: 'connections.NAME.reminders.grace',
    default: '24h',
    meaning:
      'For how long a mail that could not be sent in time is still sent; afterwards the follow-up is in the digest alone. 1m to 30d.',
  },
  {
    path: 'connections.NAME.reminders.skipStages',
    meaning: 'Stages of leads that nobody is reminded of, such as [won, lost].',
  },
  {
    path: 'connections.NAME.reminders.onlyStages',
    meaning: 'The only stages of leads that somebody is reminded of. Not together with skipStages.',
  },
  {
    path: 'connections.NAME.reminders.routes.INDEX.when.FIELD',
    meaning:
      'Values of a mapped field, such as region: [BY, BW], compared without case. Leads that match all fields of a route go to its recipients instead of to; the first route that matches counts.',
  },
  {
    path: 'connections.NAME.reminders.routes.INDEX.to',
    meaning: 'Recipients of the route. Required.',
  },
  {
    path: 'connections.NAME.reminders.toColumn',
    meaning:
      'Heading of a mapped column with the e-mail address of who is reminded, such as Owner. It comes before routes; without one address in it they and to decide.',
  },
  {
    path: 'connections.NAME.reminders.digest',
    meaning:
      'Time of the day in timeZone at which each recipient gets one mail with all that is overdue, due today and in the next seven days, such as "08:00", on working days. Single mails come as well, unless before is []. Default: no digest.',
  },
  {
    path: 'connections.NAME.reminders.calendar',
    default: 'false',
    meaning:
      'Whether mails have a calendar entry attached. Whoever was sent one gets a mail that moves it when the date moves, or takes it back when he is not reminded of the lead any more.',
  },
  {
    path: 'connections.NAME.reminders.leadUrl',
    meaning:
      'Address of a lead for people, such as https://app.example.com/leads/{id}. Without it mails have no link to the lead.',
  },
  {
    path: 'connections.NAME.reminders.templates',
    meaning:
      'Folder with templates of the mails: reminder.subject.liquid, reminder.text.liquid, reminder.html.liquid, and the same of digest. Ours stand in for those that are missing. Relative to the folder of leadsync.yaml.',
  },
  {
    path: 'connections.NAME.reminders.onUnknown',
    default: 'resend',
    meaning:
      'What becomes of a mail when the connection broke before the server confirmed it: resend (once, with the same Message-ID) or hold.',
  },
] as const satisfies readonly Setting[];
