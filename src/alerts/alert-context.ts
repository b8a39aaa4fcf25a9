import type pg from 'pg';
import type { Logger } from 'pino';
import type { AlertSettings, ConnectionConfig } from '../config/config.ts';
import type { Clock } from '../ports/clock.ts';
import type { Mailer } from '../reminders/send/mail.ts';

/** What alerts and heartbeats work with. */
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
  /** Timeout (ms) of a call of the webhook or the heartbeat; 10 s by default. */
  readonly callMs?: number;
}
