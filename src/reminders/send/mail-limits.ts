import type { SendingWaits } from '../../store/sending.ts';
import { machineNow } from '../../store/database-time.ts';

/** For the connection and the server's greeting, ms. */
export const connectMs = 20_000;

/** Inactivity limit, ms. Short limits cause unknown outcomes: RFC 5321, 4.5.3.2.6 grants the server ten minutes. */
export const silenceMs = 120_000;

/** A mail that was handed over is abandoned after this time (ms), even if data still flows. */
export const longestSendMs = 2 * connectMs + 2 * silenceMs;

/** Ms. */
export interface MailWaits extends SendingWaits {
  /** Before the next attempt, and its random extension. */
  readonly retryMs: number;
  readonly retrySpreadMs: number;
  /** While no mail can be sent: interval between attempts. */
  readonly stoppedMs: number;
}

/** Attempts are 5 to 15 minutes apart, as greylisting servers require. */
export const usualWaits: MailWaits = {
  doubtMs: 60_000,
  // By then it has arrived or never will.
  cutOffMs: longestSendMs + 20_000,
  retryMs: 300_000,
  retrySpreadMs: 600_000,
  stoppedMs: 300_000,
};

/** Elapsed ms. The wall clock covers the machine's sleep, the monotonic one a clock set back: the longer time counts. */
export function stopwatch(): () => number {
  const [date, steady] = [machineNow(), performance.now()];
  return () => Math.max(machineNow() - date, performance.now() - steady);
}
