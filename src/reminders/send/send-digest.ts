import { isChannel } from '../../config/chat-webhook.ts';
import {
  type Config,
  type ConnectionConfig,
  recipientTimeZone,
  type ReminderSettings,
} from '../../config/config.ts';
import { dayOf } from '../../core/lead/instant.ts';
import { followUpsOf } from '../../store/follow-ups.ts';
import type { HeldItem } from '../../store/held.ts';
import { besidesDigest, type Digest } from '../../store/mails.ts';
import { leadBackgrounds } from '../../store/sending.ts';
import {
  composeDigest,
  composeDigestMessage,
  type DigestContent,
  type DigestItem,
  groupFollowUps,
  maxItems,
  shownItems,
} from '../compose/compose-digest.ts';
import { linksOf } from '../compose/compose-reminder.ts';
import { rowPlace } from '../compose/lead-view.ts';
import { spelledAddress } from '../plan/recipients.ts';
import { dayStarts, digestDays, localDateOf } from '../plan/local-time.ts';
import { waitingItems } from '../plan/plan-digests.ts';
import { feedAddress } from '../feed/calendar-feed.ts';
import { deliver, notNow, type Outcome, type Outgoing, outgoingMail, outgoingMessage } from './deliver.ts';
import type { ReminderContext } from './send-reminder.ts';

type DigestContext = Omit<ReminderContext, 'leads'>;

/**
 * From the baselines of all connections with a digest; the context is that of the connection that sends it. An empty one is `skipped`, one
 * whose day is over `missed`. Throws only database and disk faults.
 */
export async function sendDigest(
  context: DigestContext,
  config: Pick<Config, 'configured' | 'publicUrl'>,
  digest: Digest,
  signal: AbortSignal,
): Promise<Outcome> {
  const { pool, connection, clock } = context;
  const reminders = connection.reminders;
  if (reminders === undefined) return { state: 'skipped', note: 'there are no reminders any more' };
  const { recipient, localDate } = digest;
  const timeZone = recipientTimeZone(reminders.rules, recipient);
  const settings = { ...reminders, rules: { ...reminders.rules, timeZone } };
  const blocked = await notNow(context, digest, settings);
  if (blocked !== null) return blocked;
  const now = clock.now();
  if (localDateOf(now, timeZone) > localDate)
    return { state: 'missed', note: 'it could not be sent on its day' };
  const { items, ...others } = await dueItems(context, config, digest, timeZone, now);
  const waiting = (await waitingItems(pool, config.configured)).get(recipient) ?? [];
  const isSeveral = new Set(waiting.map((item) => item.connection)).size > 1;
  const feedUrl = await feedAddress(pool, config, recipient);
  const days = digestDays(localDate, timeZone);
  const groups = groupFollowUps(items, days, timeZone);
  const templates = context.templates.in(settings.language);
  const content = {
    ...groups,
    ...others,
    waiting: waiting.map((item) => waitingLine(item, config.configured, isSeveral)),
    decideUrl: config.publicUrl === undefined ? null : `${config.publicUrl}/conflicts`,
    recipient,
    feedUrl,
    timeZone,
    now,
    templates,
  };
  const outgoing = isChannel(recipient)
    ? messageOf(context, settings, recipient, content)
    : mailOf(context, settings, digest, spelledIn(recipient, config.configured, items), content);
  if (outgoing === null) return { state: 'skipped', note: 'nothing was due' };
  signal.throwIfAborted();
  // A channel has room for fewer: it gets the single messages as well.
  const tells = isChannel(recipient) ? [] : await besidesDigest(pool, digest.id, shownItems(groups));
  const outcome = await deliver(context, digest, outgoing, settings, signal);
  return outcome.state === 'sent' ? { ...outcome, tells } : outcome;
}

function mailOf(
  { mailer }: DigestContext,
  { from }: ReminderSettings,
  { recipient, localDate }: Digest,
  to: string,
  content: DigestContent,
): Outgoing | null {
  const composed = composeDigest(content);
  if (composed === null) return null;
  // Without the connection: another one may send it again.
  const key = JSON.stringify(['digest', recipient, localDate]);
  return outgoingMail(mailer, { key, from, to, ...composed, thread: null });
}

/** Null also for a channel that is not the connection's any more. */
function messageOf(
  { clock }: DigestContext,
  { chat }: ReminderSettings,
  recipient: string,
  content: DigestContent,
): Outgoing | null {
  if (chat?.recipient !== recipient) return null;
  const text = composeDigestMessage(content, chat.kind);
  return text === null ? null : outgoingMessage(chat, text, clock);
}

/** Whose it is, and the heading of the column of which it is. */
function waitingLine(item: HeldItem, configured: readonly ConnectionConfig[], isSeveral: boolean): string {
  const { connection, company } = item;
  const field = item.kind === 'match' || item.kind === 'calendar' ? '' : item.field;
  const fields = configured.find(({ name }) => name === connection)?.fields ?? [];
  const column = fields.find((one) => one.field === field)?.column ?? field;
  const row = 'row' in item && item.row !== null ? `row ${item.row}` : '';
  return [company ?? row, column, isSeveral ? connection : ''].filter((part) => part !== '').join(' · ');
}

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

async function dueItems(
  { pool, linkMaker = null }: Pick<ReminderContext, 'pool' | 'linkMaker'>,
  { configured }: Pick<Config, 'configured'>,
  { recipient, localDate }: Digest,
  timeZone: string,
  now: number,
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
        row: rowPlace(of.target, backgrounds[index]?.row ?? null, backgrounds[index]?.place),
        leadUrl: of.reminders.leadUrl,
        page: linksOf({
          ...item,
          connection: { name: item.connection, fields: of.fields },
          recipient,
          now,
          // A channel is nobody who could have moved it.
          linkMaker: isChannel(recipient) ? null : linkMaker,
        })?.page,
      },
    ];
  });
  return { items: shown, counts };
}
