import type { AlertSettings, ConnectionConfig } from './config.ts';
import { localSender } from './connection.ts';
import type { AlertFileSettings } from './schema.ts';

/** The alerts from settings that are right. Without a sender of their own they have that of the first reminders. */
export function buildAlerts(
  { email = [], from, webhook, heartbeat, noSuccessFor }: AlertFileSettings,
  connections: readonly ConnectionConfig[],
): AlertSettings {
  const ofReminders = connections.find(({ reminders }) => reminders !== undefined)?.reminders?.from;
  return {
    email,
    from: from ?? ofReminders ?? localSender,
    ...(webhook === undefined ? {} : { webhook }),
    ...(heartbeat === undefined ? {} : { heartbeat }),
    ...(noSuccessFor === undefined ? {} : { noSuccessForMs: noSuccessFor }),
  };
}
