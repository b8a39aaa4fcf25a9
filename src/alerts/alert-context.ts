import type pg from 'pg';
import type { Logger } from 'pino';
import type { AlertSettings, ConnectionConfig } from '../config/config.ts';
import type { Mailer } from '../reminders/send/mail.ts';
import type { Clock } from '../ports/clock.ts';

/** What watching and telling works with. */
export interface AlertContext {
  readonly alerts: AlertSettings;
  readonly connections: readonly {
    readonly name: string;
    readonly sync: Pick<ConnectionConfig['sync'], 'schedule' | 'timeZone'>;
  }[];
  /** The names of all connections, also when a worker is narrowed to one of them. */
  readonly configured: readonly string[];
  readonly pool: pg.Pool;
  readonly mailer: Mailer;
  readonly log: Logger;
  readonly clock: Clock;
  /** Ms for a call of the webhook or the heartbeat; absent: the usual. */
  readonly callMs?: number;
}
