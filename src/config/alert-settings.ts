import type { Setting } from './settings.ts';

/** Settings of the alerts. */
export const alertSettings = [
  {
    variable: 'ALERT_EMAIL',
    path: 'alerts.email',
    meaning:
      'Who gets a mail about each problem and about its end; several with commas in the variable, a list in the file. Default: nobody.',
  },
  {
    path: 'alerts.from',
    meaning:
      'Sender of these mails, such as leadsync <ops@example.com>. Default: that of the reminders (REMINDER_FROM); one is required when SMTP_URL is set.',
  },
  {
    variable: 'ALERT_WEBHOOK',
    path: 'alerts.webhook',
    secret: true,
    meaning:
      'Address that gets the same as JSON that Slack takes: {"text": "…"}, by POST. https, or this machine. Default: none.',
  },
  {
    variable: 'ALERT_HEARTBEAT',
    path: 'alerts.heartbeat',
    secret: true,
    meaning:
      'Address that is called (GET) after each sync that was carried out, for a service that notices silence. With {connection} in it each connection has its own; without, it is called only while no connection waits too long for a success. Default: none.',
  },
  {
    path: 'alerts.noSuccessFor',
    meaning:
      'After how long without a sync that was carried out somebody is told: 1h to 90d, such as 26h. Default: 2 hours after one was due by sync.schedule.',
  },
] as const satisfies readonly Setting[];
