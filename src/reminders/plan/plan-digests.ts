import type pg from 'pg';
import { replaceDigests } from '../../store/digests.ts';
import { firstDues } from '../../store/follow-ups.ts';
import { type Digest, dueDigests } from '../../store/mails.ts';
import { everyConnection } from '../../store/planning.ts';
import { type DigestConnection, digestPlanner } from './digest-home.ts';
import { horizonMs, planning } from './plan-reminders.ts';

/** Ms ahead of now in which a follow-up may be in the next digest: a week without a working day, and the days it shows. */
const reachMs = 17 * 86_400_000;

/**
 * Schedules the next digest of everybody with a follow-up due by then in any of the connections `configured` (run planReminders first, which
 * says who). A missed digest is sent later on its day, within the grace period: one after a long downtime, not one per day. Returns digests
 * due within two hours, soonest first; late ones have a past `sendAt`.
 */
export async function planDigests(
  pool: pg.Pool,
  configured: readonly DigestConnection[],
): Promise<readonly Digest[]> {
  const names = configured.map(({ name }) => name);
  const withDigest = configured.filter(({ reminders }) => (reminders?.rules.digestAt ?? null) !== null);
  await planning(pool, everyConnection, async (client, now) => {
    const plan = digestPlanner(withDigest, now);
    const dues = await firstDues(
      client,
      withDigest.map(({ name }) => name),
      now + reachMs,
    );
    const plans = [...dues].map(([recipient, byConnection]) => plan(recipient, byConnection));
    await replaceDigests(
      client,
      names,
      plans.filter((one) => one !== null),
    );
  });
  return dueDigests(pool, names, horizonMs);
}
