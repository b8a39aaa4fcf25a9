import { machineNow } from '../../store/database-time.ts';

/** Ms for a connection and the server's greeting. */
export const connectMs = 20_000;

/** Ms without a word from the server. A short time makes unknown outcomes: RFC 5321, 4.5.3.2.6 grants it ten minutes. */
export const silenceMs = 120_000;

/** After so many ms a mail that was handed to the server is given up, however slowly it goes on. */
export const longestSendMs = 2 * connectMs + 2 * silenceMs;

/**
 * How long it has been (ms). The clock of the machine goes on while it sleeps, the other one when somebody sets the clock
 * back: the longer time counts.
 */
export function stopwatch(): () => number {
  const [date, steady] = [machineNow(), performance.now()];
  return () => Math.max(machineNow() - date, performance.now() - steady);
}
