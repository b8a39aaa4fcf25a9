import { followUpsOf } from '../../store/follow-ups.ts';
import { type DigestState, getDigest } from '../../store/mails.ts';
import { leadBackgrounds } from '../../store/sending.ts';
import { composeDigest, groupFollowUps, maxItems } from '../compose/compose-digest.ts';
import { rowPlace } from '../compose/row-place.ts';
import { deliver, end, notNow, type Outcome } from './deliver.ts';
import { digestDays, localDateOf } from '../plan/digest-time.ts';
import type { ReminderContext } from './send-reminder.ts';

/**
 * Sends a day's digest to one recipient, from the baselines, or says when to try again. An empty one is `skipped`, one
 * whose day is over `missed`. Throws only database and disk faults.
 */
export async function sendDigest(
  context: Omit<ReminderContext, 'leads'>,
  digestId: number,
  signal: AbortSignal,
): Promise<Outcome<DigestState>> {
  const { pool, connection, clock } = context;
  const digest = await getDigest(pool, digestId);
  const settings = connection.reminders;
  if (digest === null || settings === undefined) return { state: 'skipped' };
  const { state, recipient, localDate } = digest;
  if (state !== 'scheduled' && state !== 'sending') return { state };
  const blocked = await notNow(context, digest, settings);
  if (blocked !== null) return blocked;
  const now = clock.now();
  const { timeZone } = settings.rules;
  if (localDateOf(now, timeZone) !== localDate) {
    await end(context, digest, 'missed', 'it could not be sent on its day');
    return { state: 'missed' };
  }
  const days = digestDays(localDate, timeZone);
  const { items, counts } = await followUpsOf(pool, connection.name, recipient, days, maxItems);
  const { name, fields, target } = connection;
  const backgrounds = await leadBackgrounds(
    pool,
    items.map(({ leadId }) => ({ connection: name, leadId })),
  );
  const digestItems = items.map((item, index) => ({
    ...item,
    connection: name,
    fields,
    day: null,
    row: rowPlace(target, backgrounds[index]?.row ?? null),
    leadUrl: settings.leadUrl,
  }));
  const composed = composeDigest({
    ...groupFollowUps(digestItems, days, timeZone),
    counts,
    recipient,
    timeZone,
    now,
    templates: context.templates,
  });
  if (composed === null) {
    await end(context, digest, 'skipped', 'nothing was due');
    return { state: 'skipped' };
  }
  signal.throwIfAborted();
  const mail = {
    key: JSON.stringify(['digest', connection.name, recipient, localDate]),
    from: settings.from,
    to: recipient,
    ...composed,
    thread: null,
  };
  return deliver(context, digest, mail, settings, signal);
}
