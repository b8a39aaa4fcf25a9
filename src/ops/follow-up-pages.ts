import { setTimeout as sleep } from 'node:timers/promises';
import { readFileSync } from 'node:fs';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { editJob, syncQueue } from '../../jobs/runs.ts';
import type { App } from '../app.ts';
import { recipientLanguage } from '../config/recipients.ts';
import { snoozed, snoozes } from '../core/lead/snooze.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { linkRoot, openLink } from '../reminders/links/link-token.ts';
import { followUpField } from '../core/lead/follow-up.ts';
import { requestEdit } from '../review/request-edit.ts';
import { transaction } from '../store/database.ts';
import { linkKey } from '../store/link-key.ts';
import { findEdit } from '../store/requested-edits.ts';
import { checkGuess, GuessLimit } from './guess-limit.ts';
import { followUpPage, followUpPath, noFollowUpPage, styleName } from './pages/follow-up.ts';
import { followUpWords } from './pages/follow-up-words.ts';
import { formOf } from './requests.ts';
import { followUpState, type Opened, zonesOf } from './follow-up-state.ts';

/** How long (ms) a page waits for the change to be made before it says that it will be. */
const patienceMs = 4_000;
const pollMs = 100;

/** Characters; ours have some hundred. */
const longestToken = 2_000;

const choice = z.object({ do: z.enum(snoozes), seen: z.string().max(40) });

/**
 * `/follow-up/TOKEN`: the page behind a mail's link, for the recipient, who has no other token. To show it changes nothing, so
 * that a mail scanner may open it; only its form requests an edit. Not there without `publicUrl`: then no mail has links.
 */
export function followUpPages(app: App): Hono {
  const site = new Hono();
  if (app.config.publicUrl === undefined) return site;
  const guesses = new GuessLimit();
  const style = readFileSync(new URL('assets/style.css', import.meta.url), 'utf8');
  site.get(`${linkRoot}/${styleName}`, (c) =>
    c.body(style, 200, {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=3600',
    }),
  );

  /** The link of a request, or the reply that refuses it. */
  async function opened(c: Context): Promise<Opened | Response> {
    const token = c.req.param('token') ?? '';
    const found = await checkGuess(c, app.log, guesses, async () =>
      token.length > longestToken ? null : openLink(await linkKey(app.pool), token),
    );
    const { unknown, title } = followUpWords('en');
    if (found === 'later') return c.text('too many wrong links: try again in a moment\n', 429);
    if (found === 'wrong') return c.html(noFollowUpPage('en', title, unknown), 404);
    const connection = app.contexts.get(found.connection)?.connection;
    if (connection?.reminders === undefined) return c.html(noFollowUpPage('en', title, unknown), 404);
    const settings = connection.reminders;
    if (found.expiresAt > Date.now()) return { link: found, connection, settings };
    const words = followUpWords(recipientLanguage(settings, found.recipient));
    return c.html(noFollowUpPage(words.language, words.title, words.expired), 410);
  }

  site.get(followUpPath, async (c) => {
    const link = await opened(c);
    if (link instanceof Response) return link;
    return c.html(followUpPage(await followUpState(app.pool, link, c.req.query('do') ?? '', Date.now())));
  });

  site.post(followUpPath, async (c) => {
    const link = await opened(c);
    if (link instanceof Response) return link;
    const { do: by, seen } = await formOf(c, choice);
    const page = await followUpState(app.pool, link, '', Date.now());
    // Chosen for what the follow-up is not any more, or for the second time: the page says what it is now.
    if (seen !== page.seen || page.choices.length === 0)
      return c.redirect(c.req.path.split('/').at(-1) ?? '', 303);
    const { connection, leadId, recipient } = link.link;
    const to = snoozed(Date.parse(seen), by, zonesOf(link), Date.now());
    const edit = {
      leadId,
      field: followUpField,
      from: seen,
      to: to === null ? null : new Date(to).toISOString(),
    };
    try {
      const { id } = await transaction(app.pool, (db) =>
        requestEdit(db, link.connection, { ...edit, source: 'link', requestedBy: recipient }),
      );
      const { name, payload, options } = editJob(connection, String(id));
      await (await app.queues()).queue(syncQueue).add(name, payload, options);
      await settled(app, id);
    } catch (error) {
      if (!(error instanceof LeadsyncError)) throw error;
      app.log.warn({ connection, code: error.code }, 'a follow-up was not moved by a link');
    }
    return c.redirect(c.req.path.split('/').at(-1) ?? '', 303);
  });
  return site;
}

/** Waits until an edit is carried out, for a moment. */
async function settled({ pool }: App, id: number): Promise<void> {
  for (const until = performance.now() + patienceMs; performance.now() < until; ) {
    if ((await findEdit(pool, id))?.state !== 'open') return;
    await sleep(pollMs);
  }
}
