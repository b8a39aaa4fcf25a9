import type { Config, ConnectionConfig } from '../../config/config.ts';
import { recipientLanguage, recipientTimeZone } from '../../config/recipients.ts';
import { dayOf } from '../../core/lead/day.ts';
import { followUpsOf } from '../../store/follow-ups.ts';
import { besidesDigest, type Digest, type DigestState, getDigest } from '../../store/mails.ts';
import { leadBackgrounds } from '../../store/sending.ts';
import {
  composeDigest,
  type DigestItem,
  groupFollowUps,
  maxItems,
  shownItems,
} from '../compose/compose-digest.ts';
import { rowPlace } from '../compose/row-place.ts';
import { spelledAddress } from '../plan/recipients.ts';
import { dayStarts, digestDays, localDateOf } from '../plan/digest-time.ts';
import { feedAddress } from '../feed/feed-address.ts';
import { deliver, end, notNow, type Outcome } from './deliver.ts';
import type { ReminderContext } from './send-reminder.ts';

/** The planning round of a digest's job. */
interface DigestJob {
  readonly digestId: number;
  readonly round: number;
}

/**
 * Sends a day's digest to one recipient, from the baselines of all connections with a digest, or says when to try
 * again. The context is that of the connection that sends it. An empty one is `skipped`, one whose day is over `missed`. Throws
 * only database and disk faults.
 */
export async function sendDigest(
  context: Omit<ReminderContext, 'leads'>,
  config: Pick<Config, 'configured' | 'publicUrl'>,
  { digestId, round }: DigestJob,
  signal: AbortSignal,
): Promise<Outcome<DigestState>> {
  const { pool, connection, clock } = context;
  const digest = await getDigest(pool, digestId);
  const reminders = connection.reminders;
  if (digest === null || reminders === undefined) return { state: 'skipped' };
  const { state, recipient, localDate } = digest;
  // A rescheduled digest has its own job, perhaps that of another connection.
  if (digest.round !== round || (state !== 'scheduled' && state !== 'sending')) return { state };
  const timeZone = recipientTimeZone(reminders.rules, recipient);
  const settings = { ...reminders, rules: { ...reminders.rules, timeZone } };
  const blocked = await notNow(context, digest, settings);
  if (blocked !== null) return blocked;
  const now = clock.now();
  if (localDateOf(now, timeZone) > localDate) {
    await end(context, digest, 'missed', 'it could not be sent on its day');
    return { state: 'missed' };
  }
  const { items, ...others } = await dueItems(context, config, digest, timeZone);
  const feedUrl = await feedAddress(pool, config, recipient);
  const days = digestDays(localDate, timeZone);
  const groups = groupFollowUps(items, days, timeZone);
  const templates = context.templates.in(recipientLanguage(settings, recipient));
  const composed = composeDigest({ ...groups, ...others, recipient, feedUrl, timeZone, now, templates });
  if (composed === null) {
    await end(context, digest, 'skipped', 'nothing was due');
    return { state: 'skipped' };
  }
  signal.throwIfAborted();
  const mail = {
    // Without the connection: another one may send it again.
    key: JSON.stringify(['digest', recipient, localDate]),
    from: settings.from,
    to: spelledIn(recipient, config.configured, items),
    ...composed,
    thread: null,
  };
  const tells = await besidesDigest(pool, digest.id, shownItems(groups));
  return deliver(context, { ...digest, tells }, mail, settings, signal);
}

/** The recipient's address as it is spelled where the digest's follow-ups are from. */
function spelledIn(
  recipient: string,
  configured: readonly ConnectionConfig[],
  items: readonly DigestItem[],
): string {
  const spelled = items.map(({ connection, cells }) => {
    const rules = configured.find(({ name }) => name === connection)?.reminders?.rules;
    return rules === undefined ? recipient : spelledAddress(recipient, cells, rules);
  });
  return spelled.find((address) => address !== recipient) ?? recipient;
}

/** The follow-ups that a digest shows, each with what its connection knows of it, and how many there are. */
async function dueItems(
  { pool }: Pick<ReminderContext, 'pool'>,
  { configured }: Pick<Config, 'configured'>,
  { recipient, localDate }: Digest,
  timeZone: string,
) {
  const withDigest = new Map(
    configured.flatMap(({ name, fields, target, reminders }) =>
      reminders === undefined || reminders.rules.digestAt === null
        ? []
        : [[name, { fields, target, reminders }] as const],
    ),
  );
  const { items, counts } = await followUpsOf(
    pool,
    [...withDigest.keys()],
    recipient,
    digestDays(localDate, timeZone),
    [...withDigest].flatMap(([connection, { reminders }]) =>
      dayStarts(localDate, timeZone, reminders.rules.dayZone).map((start) => ({ connection, ...start })),
    ),
    maxItems,
  );
  const backgrounds = await leadBackgrounds(pool, items);
  const shown = items.flatMap((item, index): readonly DigestItem[] => {
    const of = withDigest.get(item.connection);
    if (of === undefined) return [];
    const { dayZone } = of.reminders.rules;
    return [
      {
        ...item,
        fields: of.fields,
        day: dayOf(item.dueAt, dayZone),
        dayZone,
        row: rowPlace(of.target, backgrounds[index]?.row ?? null),
        leadUrl: of.reminders.leadUrl,
      },
    ];
  });
  return { items: shown, counts };
}
