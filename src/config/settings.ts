/** One setting: what the README lists, the editor's schema explains, and the loader knows a key by. */
export interface Setting {
  /** Environment variable. Secrets are also taken from the file that `<variable>_FILE` names. */
  readonly variable?: string;
  /** Place in leadsync.yaml; a segment in capitals stands for any name. */
  readonly path?: string;
  /** As one would write it. Absent: required, or nothing happens without it (the meaning says which). */
  readonly default?: string;
  readonly meaning: string;
  readonly secret?: true;
}

/** Every setting, once. Process-wide ones have no path; those without a variable exist in the file only. */
export const settings = [
  {
    variable: 'LEADS_BASE_URL',
    path: 'connections.NAME.leads.baseUrl',
    meaning:
      'Address of the Leads service, such as https://api.example.com. Required. http:// only for this machine.',
  },
  {
    variable: 'LEADS_API_KEY',
    path: 'connections.NAME.leads.apiKey',
    secret: true,
    meaning: 'Organization key or personal access token of the Leads service. Required.',
  },
  {
    path: 'connections.NAME.leads.pageSize',
    default: '100',
    meaning: 'Leads asked for on one page, 1 to 1000.',
  },
  {
    path: 'connections.NAME.leads.query.PARAMETER',
    meaning:
      'Filter passed on to GET /v1/leads as it is. With one set, a lead that is absent never counts as deleted.',
  },
  {
    path: 'connections.NAME.target.type',
    meaning: 'Kind of target: workbook. Required.',
  },
  {
    variable: 'TARGET',
    path: 'connections.NAME.target.path',
    meaning:
      'The file kept in step, a path ending in .xlsx, .xlsm or .csv. Required. Relative to the folder of leadsync.yaml, or for the variable to the current one.',
  },
  {
    path: 'connections.NAME.target.sheet',
    meaning:
      'Name of the sheet of an Excel workbook. Default: the first that is not hidden, and Leads in a new workbook.',
  },
  {
    path: 'connections.NAME.target.idColumn',
    default: 'Lead ID',
    meaning: "Heading of the column that holds the lead's id.",
  },
  {
    path: 'connections.NAME.target.statusColumn',
    meaning:
      'Heading of the column in which a deleted lead is marked. Without it such rows stay as they are.',
  },
  {
    path: 'connections.NAME.target.timeZone',
    meaning: 'IANA time zone of dates without an offset in the file. Default: that of sync.timeZone.',
  },
  {
    path: 'connections.NAME.fields.FIELD',
    meaning:
      'Lead field and the heading of its column; order is column order. Without `fields`: the fields of the API reference.',
  },
  {
    path: 'connections.NAME.fields.FIELD.column',
    meaning: 'Heading of the column. Required in this form.',
  },
  {
    path: 'connections.NAME.fields.FIELD.direction',
    meaning:
      'Which way edits of this field travel: two-way, to-target, to-leads. Default: that of sync.direction.',
  },
  {
    path: 'connections.NAME.fields.FIELD.type',
    meaning: 'text, or instant (a moment in time). Default: instant for nextFollowUpAt, otherwise text.',
  },
  {
    path: 'connections.NAME.fields.FIELD.values',
    meaning:
      'Offered as a list in the cells of a workbook that leadsync makes, such as the stages; anything else may still be typed.',
  },
  {
    variable: 'SCHEDULE',
    path: 'connections.NAME.sync.schedule',
    default: '0 2 * * *',
    meaning: 'When the worker syncs: a cron pattern of five fields.',
  },
  {
    variable: 'TZ_NAME',
    path: 'connections.NAME.sync.timeZone',
    default: 'UTC',
    meaning: 'IANA time zone of the schedule.',
  },
  {
    variable: 'DIRECTION',
    path: 'connections.NAME.sync.direction',
    default: 'two-way',
    meaning: 'Which way edits travel: two-way, to-target (lead to row only), to-leads (row to lead only).',
  },
  {
    path: 'connections.NAME.sync.onConflict',
    default: 'hold',
    meaning:
      'When both sides changed a field differently: hold, leads-win, target-wins. The loser is kept in the history.',
  },
  {
    path: 'connections.NAME.sync.onFirstSync',
    default: 'hold',
    meaning: 'When a lead and its row differ at first sight: hold, leads-win, target-wins.',
  },
  {
    path: 'connections.NAME.sync.onLeadDeleted',
    default: 'mark',
    meaning: 'What becomes of the row of a deleted lead: mark, keep, remove.',
  },
  {
    path: 'connections.NAME.sync.onRowDeleted',
    default: 'restore',
    meaning: 'What becomes of the lead of a deleted row: restore (write the row again), ignore, delete-lead.',
  },
  {
    path: 'connections.NAME.sync.limits.maxDeletes',
    default: '10%',
    meaning:
      'A run with more deletes stops before it writes: rows (10) or a share (10%), which always allows 10 rows.',
  },
  {
    path: 'connections.NAME.sync.limits.maxChanges',
    default: '50%',
    meaning: 'A run with more changes stops before it writes; does not count on a first sync.',
  },
  {
    variable: 'RETENTION',
    path: 'connections.NAME.sync.retention',
    default: '90d',
    meaning:
      'How many days the history of values, and what runs did, are kept for `why` and `undo`. What is needed to stay in step is kept for good.',
  },
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
  {
    variable: 'LEADSYNC_CONFIG',
    meaning:
      'The configuration file, as --config. Default: leadsync.yaml in the current folder when it exists.',
  },
  {
    variable: 'DATABASE_URL',
    secret: true,
    meaning:
      'Postgres for state and jobs: postgres://user:password@host/database. Without it: one is started under DATA_DIR.',
  },
  {
    variable: 'REDIS_URL',
    secret: true,
    meaning: 'Not supported yet by this version: leave it unset, jobs run on the same Postgres.',
  },
  {
    variable: 'DATA_DIR',
    default: './data',
    meaning: 'Folder for state, locks and the outbox.',
  },
  {
    variable: 'SMTP_URL',
    secret: true,
    meaning:
      'Mail server: smtp://user:password@host:587 or smtps://…. Without it: mails become .eml files under DATA_DIR/outbox.',
  },
  {
    variable: 'SMTP_RATE',
    meaning:
      'At most so many mails a second from each process that sends, such as 10 or 0.5: with two workers, set half. Default: as many as the mail server takes.',
  },
  {
    variable: 'HOST',
    default: '127.0.0.1',
    meaning: "Address that the worker's HTTP port is bound to.",
  },
  {
    variable: 'PORT',
    default: '3000',
    meaning: "The worker's HTTP port; 0 takes a free one.",
  },
  {
    variable: 'ADMIN_TOKEN',
    secret: true,
    meaning: 'Token asked for by all pages but the two probes when HOST is set.',
  },
  {
    variable: 'LOG_LEVEL',
    default: 'info',
    meaning: 'fatal, error, warn, info, debug, trace or silent.',
  },
] as const satisfies readonly Setting[];

/** The environment variables that leadsync itself reads. */
export type Variable = Extract<(typeof settings)[number], { variable: string }>['variable'];
