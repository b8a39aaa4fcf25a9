import { LeadsyncError } from '../errors.ts';
import { claimTellings, endTelling, putOffTelling, type Telling } from '../store/tellings.ts';
import type { AlertContext } from './alert-context.ts';
import { channelsOf, sendText } from './channels.ts';
import { describeAlert } from './describe-alert.ts';

/** A claim lasts longer (ms) than any try: a mail server may be silent for two minutes before it is given up. */
const claimMs = 5 * 60_000;

/** Between tries, ms: at first, and at most; they double. */
const firstWaitMs = 60_000;
const mostWaitMs = 3_600_000;

/** What could not be told for so long (ms) is given up: by then it is news no more. */
const giveUpMs = 3 * 24 * 3_600_000;

const atOnce = 20;

/**
 * Tells each channel what is owed to it, all at once: no channel waits for another. What cannot be told is tried again
 * later, also by another process; when one dies after sending and before it has noted that, it is told twice. Throws
 * faults of the database alone.
 */
export async function tellAlerts(context: AlertContext, signal: AbortSignal): Promise<void> {
  const { pool, alerts, clock } = context;
  const channels = channelsOf(alerts);
  while (!signal.aborted) {
    const tellings = await claimTellings(pool, channels, clock.now(), claimMs, atOnce);
    await Promise.all(tellings.map((telling) => tell(context, telling, signal)));
    if (tellings.length === 0) return;
  }
}

async function tell(context: AlertContext, telling: Telling, signal: AbortSignal): Promise<void> {
  const { pool, log, clock } = context;
  const { id, alertId, event, level, channel, createdAt, connection, kind, detail } = telling;
  const about = { connection, problem: kind, event, channel };
  try {
    const mail = {
      key: JSON.stringify(['alert', alertId, event, level, channel]),
      thread: JSON.stringify(['alert', alertId, channel]),
      date: createdAt,
      message: event === 'over' ? null : (detail.message ?? null),
    };
    await sendText(context, channel, describeAlert(telling), mail, signal);
  } catch (error) {
    const fault = error instanceof Error ? error.message : String(error);
    const now = clock.now();
    const isHopeless = error instanceof LeadsyncError && error.retry === 'never' && !signal.aborted;
    if (isHopeless || now - createdAt >= giveUpMs) {
      log.error({ ...about, fault }, 'an alert could not be told and is given up');
      return endTelling(pool, id, now, fault);
    }
    const waitMs = signal.aborted ? 0 : Math.min(mostWaitMs, firstWaitMs * 2 ** (telling.attempts - 1));
    log.warn({ ...about, fault, waitMs }, 'an alert could not be told; it is tried again');
    return putOffTelling(pool, id, now + waitMs, fault);
  }
  return endTelling(pool, id, clock.now(), null);
}
