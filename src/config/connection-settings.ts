import type { Setting } from './settings.ts';

/** Settings of a connection, but for its reminders. */
export const connectionSettings = [
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
    default: 'auto',
    meaning:
      'Leads asked for on one page: 1 to 1000, or auto (1000). A service that rejects so many is asked for 500, 200, 100, and then for as many as it likes; one whose page is too large or takes longer than ten seconds for half. What it takes is remembered for 30 days.',
  },
  {
    path: 'connections.NAME.leads.query.PARAMETER',
    meaning:
      'Filter passed on to GET /v1/leads as it is. With one set, a lead that is absent never counts as deleted.',
  },
  {
    path: 'connections.NAME.target.type',
    meaning: 'Kind of target: workbook, google-sheets, hubspot or postgres-table. Required.',
  },
  {
    variable: 'TARGET',
    path: 'connections.NAME.target.path',
    only: ['workbook'],
    meaning:
      'The file kept in step, a path ending in .xlsx, .xlsm or .csv. Required for a workbook. Relative to the folder of leadsync.yaml, or for the variable to the current one. The variable also takes google-sheets:SPREADSHEET_ID/TAB, hubspot and postgres-table:TABLE.',
  },
  {
    path: 'connections.NAME.target.sheet',
    only: ['workbook'],
    meaning:
      'Name of the sheet of an Excel workbook. Default: the first that is not hidden, and Leads in a new workbook.',
  },
  {
    path: 'connections.NAME.target.spreadsheet',
    only: ['google-sheets'],
    meaning: 'Address of a Google spreadsheet, or the id in it. Required for google-sheets.',
  },
  {
    path: 'connections.NAME.target.tab',
    only: ['google-sheets'],
    default: 'Leads',
    meaning: 'Name of the tab of a Google spreadsheet; made when it is missing.',
  },
  {
    path: 'connections.NAME.target.dates',
    only: ['google-sheets'],
    default: 'native',
    meaning:
      "How moments are written into a Google spreadsheet: native (its own dates, in the spreadsheet's time zone) or iso (text).",
  },
  {
    path: 'connections.NAME.target.readsPerMinute',
    only: ['google-sheets'],
    default: '60',
    meaning: 'Read requests a minute to Google Sheets, at least 6; more than 60 only with a raised quota.',
  },
  {
    path: 'connections.NAME.target.writesPerMinute',
    only: ['google-sheets'],
    default: '60',
    meaning: 'Write requests a minute to Google Sheets, at least 6; more than 60 only with a raised quota.',
  },
  {
    variable: 'HUBSPOT_TOKEN',
    path: 'connections.NAME.target.token',
    only: ['hubspot'],
    secret: true,
    meaning: 'Access token of HubSpot: of a service key or a private app. Required for hubspot.',
  },
  {
    path: 'connections.NAME.target.portal',
    only: ['hubspot'],
    meaning: 'Number of the HubSpot portal (account), for links to companies in mails. Default: no links.',
  },
  {
    variable: 'POSTGRES_TABLE_URL',
    path: 'connections.NAME.target.url',
    only: ['postgres-table'],
    secret: true,
    meaning:
      'Database of the table: postgres://user:password@host/database. Required for postgres-table. Not DATABASE_URL, which holds the state.',
  },
  {
    path: 'connections.NAME.target.table',
    only: ['postgres-table'],
    meaning:
      'The table, as TABLE or SCHEMA.TABLE, spelled as in the database; made when it is missing. Required for postgres-table.',
  },
  {
    path: 'connections.NAME.target.idColumn',
    meaning:
      "Column (heading, or a HubSpot property's internal name) that holds the lead's id. Default: Lead ID; lead_id for hubspot and postgres-table.",
  },
  {
    path: 'connections.NAME.target.statusColumn',
    meaning:
      'Heading of a column in which leadsync tells how each row stands: in step, held (why), waiting (why), deleted (when). It is never read as data. Without it nothing is told, and the row of a deleted lead stays as it is.',
  },
  {
    path: 'connections.NAME.target.marker',
    default: 'true',
    meaning:
      'Whether a mark of leadsync travels with the table, by which an older copy of it and another leadsync that writes into it are recognised (docs/identity.md). A CSV file has none.',
  },
  {
    variable: 'TARGET_TZ_NAME',
    path: 'connections.NAME.target.timeZone',
    only: ['workbook', 'hubspot', 'postgres-table'],
    meaning:
      'IANA time zone of dates without an offset, for reading and writing. Default: that of sync.timeZone. Required for a postgres-table with a column of type timestamp (without time zone): UTC for NocoDB and most grids. A Google spreadsheet has its own.',
  },
  {
    path: 'connections.NAME.fields.FIELD',
    meaning:
      'Lead field and the heading of its column (for hubspot: the internal name of a company property); order is column order. Without `fields`: the fields of the API reference.',
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
      'Offered as a list in the cells of a workbook or tab that leadsync makes, such as the stages; anything else may still be typed. For hubspot: the options of the property, which takes nothing else.',
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
    path: 'connections.NAME.sync.match',
    default: 'off',
    meaning:
      'Whether new rows without an id are compared with new leads: off, propose (what may be one is listed by `leadsync match`, and nothing is made of it before somebody decides), exact (as propose; what is the same in matchBy, alone on both sides, is linked).',
  },
  {
    path: 'connections.NAME.sync.matchBy',
    meaning:
      'List of the lead fields by which rows and leads are matched, the first of which names them. Default: companyName and city, as far as they are mapped.',
  },
  {
    path: 'connections.NAME.sync.limits.maxDeletes',
    default: '10%',
    meaning:
      'A run with more deletes stops before it writes: rows (10) or a share (10%), which always allows 10 rows, but not more than a quarter of them (one at least).',
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
] as const satisfies readonly Setting[];
