import type { Path } from './settings.ts';

/** Settings that leadsync had once, by their place or variable: what makes each needless, or what does the same. */
const former: Readonly<Record<string, string>> = {
  'connections.NAME.target.accessToken': 'set user and password, which every WebDAV server takes',
  'connections.NAME.target.dates': "leadsync writes a Google spreadsheet's own dates",
  'connections.NAME.target.drive': 'begin path with it: msgraph:DRIVE/PATH',
  'connections.NAME.target.marker': 'a mark always travels with the table (docs/which-is-which.md)',
  'connections.NAME.target.portal': 'leadsync finds the portal by the token',
  'connections.NAME.target.readsPerMinute': "leadsync keeps to Google's own quota",
  'connections.NAME.target.writesPerMinute': "leadsync keeps to Google's own quota",
  'connections.NAME.reminders.calendarFeed':
    'leadsync status --feeds gives each recipient a feed, and shows its address',
  'connections.NAME.reminders.caldavDone':
    'the follow-up stays when its entry is deleted or completed, and leadsync status --reminders lists it',
  'connections.NAME.reminders.dateOnlyAt': 'mails about a date without a time leave at 08:00',
  'connections.NAME.reminders.grace': 'a late mail is sent within 24 hours',
  'connections.NAME.reminders.onlyStages': 'skipStages names the stages that get no mails',
  'connections.NAME.reminders.onUnknown':
    'a mail of unknown outcome is sent once more, with the same Message-ID',
  'connections.NAME.reminders.webhookKind':
    'leadsync knows the chat by the address; Mattermost and Rocket.Chat take the form of Slack',
  'recipients.NAME.language': 'the mails of a connection have one language: reminders.language',
  'alerts.from':
    'alerts come from the sender of the reminders; without one (REMINDER_FROM), from the first of alerts.email',
  'alerts.noSuccessFor': 'an alert comes 2 hours after a sync was due by sync.schedule',
  DATABASE_POOL_MAX: 'leadsync finds out how many connections the database allows',
  MSGRAPH_CERTIFICATE: 'MSGRAPH_CLIENT_SECRET takes the private key and its certificate, too',
  MSGRAPH_DRIVE: 'begin TARGET with it: msgraph:DRIVE/PATH',
  MSGRAPH_LOGIN_URL: 'leadsync finds the login by MSGRAPH_URL',
  REDIS_PREFIX:
    'keys begin with leadsync:, and another leadsync on this Redis has a database of its own in REDIS_URL, such as /1',
  SMTP_RATE: 'leadsync sends as fast as the mail server takes',
  WEBDAV_TOKEN: 'set WEBDAV_USER and WEBDAV_PASSWORD, which every WebDAV server takes',
};

/** What is below these has a name of the user's own. */
const named: ReadonlySet<unknown> = new Set(['connections', 'recipients']);

/** The end of a message about a setting that is none any more; undefined: it never was one. */
export function noLongerSetting(place: Path | string): string | undefined {
  const key =
    typeof place === 'string'
      ? place
      : place.map((part, index) => (index === 1 && named.has(place[0]) ? 'NAME' : part)).join('.');
  return Object.hasOwn(former, key) ? `is no longer a setting: ${former[key]}` : undefined;
}
