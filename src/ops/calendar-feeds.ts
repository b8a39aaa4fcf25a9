import { type Context, Hono } from 'hono';
import type { App } from '../app.ts';
import { systemClock } from '../ports/clock.ts';
import { connectionsWithFeed, feedRoot, readFeed, tokenOf } from '../reminders/feed/calendar-feed.ts';
import { Semaphore } from '../lib/waiting.ts';
import { recipientOfFeed } from '../store/keeper.ts';
import { checkGuess, GuessLimit } from './access.ts';

/** Feeds that are made at once: each is some megabytes. */
const feedsAtOnce = 2;

/**
 * `/calendar/TOKEN.ics`: the follow-ups of one recipient for calendar programs, which send no token of an administrator and no
 * cookie: the address is the secret. An unknown or replaced token is answered like any address without a page.
 */
export function calendarFeeds(app: App): Hono {
  const site = new Hono();
  if (connectionsWithFeed(app.config).length === 0) return site;
  const guesses = new GuessLimit();
  const making = new Semaphore(feedsAtOnce);
  site.get(`${feedRoot}/:file`, async (c) => {
    const found = await checkGuess(c, app.log, guesses, () =>
      recipientOfFeed(app.pool, tokenOf(c.req.param('file'))),
    );
    if (found === 'later') return c.text('too many wrong addresses: try again in a moment\n', 429);
    if (found === 'wrong') return c.text('not found\n', 404);
    const feed = await readFeed(app, found.recipient, systemClock.now());
    const etag = `"${feed.hash}"`;
    // A program may keep it, and asks each time whether it is still so; a proxy keeps nothing.
    const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
    if (matches(c, etag)) return c.body(null, 304, headers);
    using _slot = await making.acquire();
    return c.body(await feed.render(), 200, {
      ...headers,
      'Content-Type': 'text/calendar; charset=utf-8',
      'Content-Disposition': 'inline; filename="follow-ups.ics"',
    });
  });
  return site;
}

/** Whether the program has this version (RFC 9110, 13.1.2). */
function matches(c: Context, etag: string): boolean {
  const known = (c.req.header('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return known.includes(etag) || known.includes('*');
}
