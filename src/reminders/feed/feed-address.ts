import type pg from 'pg';
import type { Config } from '../../config/config.ts';
import { isEmailAddress } from '../../core/lead/email-address.ts';
import { feedTokens } from '../../store/calendar-feeds.ts';
import { connectionsWithFeed } from './calendar-feed.ts';

/** Where feeds are on the worker's HTTP port. */
export const feedRoot = '/calendar';

const extension = '.ics';

export const feedPath = (token: string): string => `${feedRoot}/${token}${extension}`;

export const tokenOf = (file: string): string =>
  file.endsWith(extension) ? file.slice(0, -extension.length) : '';

/** Null when people cannot reach it (`publicUrl`), or no connection has one. The address is a secret of the recipient. */
export async function feedAddress(
  pool: pg.Pool,
  config: Pick<Config, 'configured' | 'publicUrl'>,
  recipient: string,
): Promise<string | null> {
  if (config.publicUrl === undefined || connectionsWithFeed(config).length === 0) return null;
  // A chat channel has no calendar.
  if (!isEmailAddress(recipient)) return null;
  const token = (await feedTokens(pool, [recipient])).get(recipient);
  return token === undefined ? null : `${config.publicUrl}${feedPath(token)}`;
}
