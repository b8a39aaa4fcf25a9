import { setImmediate as letOthersWork } from 'node:timers/promises';
import type pg from 'pg';
import type { Config, ConnectionConfig, ReminderSettings } from '../../config/config.ts';
import { shortHash } from '../../core/lead/content-hash.ts';
import { isEmailAddress } from '../../core/lead/email-address.ts';
import { type FeedItem, feedItems } from '../../store/calendar-entries.ts';
import { feedTokens } from '../../store/keeper.ts';
import { version } from '../../lib/version.ts';
import { calendarText, subscribedEvent } from '../compose/calendar.ts';
import { followUpEvent } from '../compose/compose-reminder.ts';
import type { Templates } from '../compose/templates.ts';

export interface FeedContext {
  readonly pool: pg.Pool;
  readonly config: Pick<Config, 'configured'>;
  /** By connection. */
  readonly templates: ReadonlyMap<string, () => Promise<Templates>>;
}

interface Maker {
  readonly connection: FeedConnection;
  readonly templates: Templates;
}

/** Days for which a follow-up that is over stays in the feed. */
const keptDays = 30;

/** Maximum entries, the first ones: about 3 MB. */
const mostEntries = 5_000;

/** Entries that are made without a pause for other work. */
const entriesAtOnce = 50;

/** How often calendar programs are asked to read a feed again. */
const refresh = 'PT1H';

type FeedConnection = ConnectionConfig & { readonly reminders: ReminderSettings };

/** In the order of the configuration. */
export function connectionsWithFeed({ configured }: Pick<Config, 'configured'>): readonly FeedConnection[] {
  return configured.filter((connection): connection is FeedConnection => connection.reminders !== undefined);
}

/** `recipient` in lower case; `now`: epoch ms. What is due since 30 days before, 5,000 entries at most. */
export async function readFeed({ pool, config, templates }: FeedContext, recipient: string, now: number) {
  const connections = new Map<string, Maker>();
  for (const connection of connectionsWithFeed(config)) {
    const opened = await templates.get(connection.name)?.();
    if (opened !== undefined) connections.set(connection.name, { connection, templates: opened });
  }
  const from = now - keptDays * 86_400_000;
  const items = await feedItems(pool, [...connections.keys()], recipient, from, mostEntries);
  const entry = (item: FeedItem): string => {
    const maker = connections.get(item.connection);
    return maker === undefined ? '' : entryText(item, maker, recipient);
  };
  const [first] = connections.values();
  const words = first?.templates.in(first.connection.reminders.language);
  const name = words?.render('label', { of: 'calendar' }) ?? '';
  const settings = [...connections.values()].map(({ connection: { leads: _, ...shown } }) => shown);
  // The first entry shows whether the templates are others.
  const sample = items.slice(0, 1).map(entry);
  return {
    /** Another one when anything in the feed is different. */
    hash: shortHash(JSON.stringify([version, name, settings, items, sample])),
    async render(): Promise<string> {
      const [head, tail] = shell(name);
      const parts = [head];
      for (const [index, item] of items.entries()) {
        parts.push(entry(item));
        if (index % entriesAtOnce === 0) await letOthersWork();
      }
      return [...parts, tail].join('');
    },
  };
}

/**
 * The same as long as the lead is, and without alarm: mails remind, and most programs ignore alarms of subscribed calendars. One at a time:
 * thousands at once would hold up the process.
 */
function entryText(
  { dueAt, sequence, leadId, cells, row, place, changedAt }: FeedItem,
  { connection, templates }: Maker,
  recipient: string,
): string {
  const { reminders: settings } = connection;
  const lead = { leadId, cells, dueAt, sequence, row, place };
  const facts = { connection, settings, recipient, ...lead, now: changedAt };
  return subscribedEvent(followUpEvent(facts, templates), changedAt);
}

function shell(name: string): readonly [string, string] {
  const calendar = calendarText(
    [
      ['name', {}, 'unknown', name],
      ['x-wr-calname', {}, 'unknown', name],
      ['refresh-interval', {}, 'duration', refresh],
      ['x-published-ttl', {}, 'unknown', refresh],
    ],
    [],
  );
  const end = 'END:VCALENDAR\r\n';
  return [calendar.slice(0, -end.length), end];
}

/** Where feeds are on the worker's HTTP port. */
export const feedRoot = '/calendar';

const extension = '.ics';

export const feedPath = (token: string): string => `${feedRoot}/${token}${extension}`;

export const tokenOf = (file: string): string =>
  file.endsWith(extension) ? file.slice(0, -extension.length) : '';

/** Null when people cannot reach it (`publicUrl`), or nobody has asked for it yet. The address is a secret of the recipient. */
export async function feedAddress(
  pool: pg.Pool,
  config: Pick<Config, 'configured' | 'publicUrl'>,
  recipient: string,
): Promise<string | null> {
  if (config.publicUrl === undefined) return null;
  // A chat channel has no calendar.
  if (!isEmailAddress(recipient)) return null;
  const token = (await feedTokens(pool, [recipient])).get(recipient);
  return token === undefined ? null : `${config.publicUrl}${feedPath(token)}`;
}
