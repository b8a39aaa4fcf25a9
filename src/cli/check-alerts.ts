import { channelsOf, sendText, webhookChannel } from '../alerts/channels.ts';
import type { App } from '../app.ts';
import { type CheckLine, look, never } from './check-line.ts';

/** Neither a problem nor a success, so that the heartbeat is not called. */
const text = {
  title: 'a test of the alerts',
  lines: ['Somebody ran leadsync check --test-alert. Nothing is wrong.'],
  help: [],
};

const none: CheckLine = {
  name: 'alerts',
  ok: true,
  message:
    'no alerts are configured: set "alerts" in leadsync.yaml (without a file: ALERT_EMAIL, ALERT_WEBHOOK)',
};

/** The lines for alerts. If `test` is true, sends a test to each address and the webhook. */
export async function checkAlertChannels(app: App, test: boolean): Promise<readonly CheckLine[]> {
  const { alerting } = app;
  if (alerting === null) return [none];
  const { alerts, clock } = alerting;
  if (!test) {
    const parts = [
      ...(alerts.email.length > 0 ? [`mail to ${alerts.email.join(', ')}`] : []),
      ...(alerts.webhook === undefined ? [] : ['a webhook']),
      ...(alerts.heartbeat === undefined ? [] : ['a heartbeat']),
    ];
    return [
      { name: 'alerts', ok: true, message: `${parts.join(', ')}; not tried: --test-alert sends a test` },
    ];
  }
  const now = clock.now();
  const lines = channelsOf(alerts).map((channel) =>
    look(`alerts: ${channel === webhookChannel ? 'webhook' : `mail to ${channel}`}`, async () => {
      const key = JSON.stringify(['alert test', channel, now]);
      await sendText(alerting, channel, text, { key, thread: key, date: now, message: null }, never);
      return 'a test was sent';
    }),
  );
  const heartbeat: CheckLine = {
    name: 'alerts: heartbeat',
    ok: true,
    message: 'not called, because a call means success; the next sync calls it',
  };
  return [...(await Promise.all(lines)), ...(alerts.heartbeat === undefined ? [] : [heartbeat])];
}
