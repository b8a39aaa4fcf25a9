import type pg from 'pg';
import type { Config } from '../config/config.ts';
import { addressKey, isEmailAddress } from '../core/lead/email-address.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { connectionsWithFeed, feedPath } from '../reminders/feed/calendar-feed.ts';
import { feedRecipients, feedTokens, replaceFeedToken } from '../store/calendar-feeds.ts';
import { print, printJson } from './output.ts';

/** Another address for this recipient; undefined: the list alone. */
interface FeedsOptions {
  readonly newFeed?: string | undefined;
  readonly json: boolean;
}

/** `--new-feed` replaces an address. Throws `usage.no-feeds` and `usage.unknown-recipient`. */
export async function calendarFeeds(
  pool: pg.Pool,
  config: Config,
  { newFeed, json }: FeedsOptions,
): Promise<void> {
  const connections = connectionsWithFeed(config);
  if (connections.length === 0) {
    throw new LeadsyncError('usage.no-feeds', 'no connection has calendar feeds', {
      help: 'Set reminders.calendarFeed: true of a connection in leadsync.yaml.',
    });
  }
  const configured = connections.flatMap(({ reminders: { rules } }) =>
    [rules, ...rules.routes].flatMap(({ to }) => to.map(addressKey)),
  );
  const planned = await feedRecipients(
    pool,
    connections.map(({ name }) => name),
  );
  const recipients = [...new Set([...configured, ...planned])].filter(isEmailAddress).toSorted();
  const chosen = newFeed === undefined ? undefined : addressKey(newFeed);
  if (chosen !== undefined) {
    if (!recipients.includes(chosen)) {
      throw new LeadsyncError('usage.unknown-recipient', `${newFeed} is no recipient of reminders`, {
        help: 'leadsync reminders --feeds lists them.',
      });
    }
    await replaceFeedToken(pool, chosen);
  }
  const tokens = await feedTokens(pool, recipients);
  const feeds = recipients
    .filter((recipient) => chosen === undefined || recipient === chosen)
    .map((recipient) => ({ recipient, path: feedPath(tokens.get(recipient) ?? '') }))
    .map((feed) => ({
      ...feed,
      url: config.publicUrl === undefined ? null : `${config.publicUrl}${feed.path}`,
    }));
  if (json) return printJson({ feeds });
  print(
    [
      ...(chosen === undefined
        ? []
        : [`The former address of ${chosen} leads nowhere any more. The new one:`]),
      ...feeds.map(({ recipient, url, path }) => `${recipient}  ${url ?? path}`),
      'Anyone with an address can read its feed: give each to its person alone.',
      ...(config.publicUrl === undefined
        ? ["! publicUrl is not set: put the address under which people reach the worker's HTTP port in front"]
        : []),
    ].join('\n'),
  );
}
