import type { AlertContext } from '../alerts/channels.ts';
import type { App } from '../app.ts';
import { systemClock } from '../ports/clock.ts';

/** The dependencies of alerts; null: no alerts are configured. */
export function alertContext({ config, pool, mailer, log }: App): AlertContext | null {
  const { alerts, connections, configured } = config;
  return alerts === undefined
    ? null
    : { alerts, connections, configured, pool, mailer, log, clock: systemClock };
}
