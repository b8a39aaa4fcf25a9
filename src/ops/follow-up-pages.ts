import { setTimeout as sleep } from 'node:timers/promises';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { editJob, syncQueue } from '../../jobs/runs.ts';
import type { App } from '../app.ts';
import { type ConnectionConfig, recipientTimeZone, type ReminderSettings } from '../config/config.ts';
import { type Snooze, snoozed, snoozes, type SnoozeZones } from '../core/lead/follow-up.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { type FollowUpLink, linkRoot, openLink } from '../reminders/links/link-token.ts';
import { followUpField } from '../core/lead/mapping.ts';
import { requestEdit } from '../review/request-edit.ts';
import { transaction } from '../store/database.ts';
import { linkKey, recipientOfFeed } from '../store/keeper.ts';
import { findEdit, lastEditOf, type RequestedEdit } from '../store/requested-edits.ts';
import { checkGuess, GuessLimit } from './access.ts';
import { assetText } from './assets.ts';
import {
  type FollowUpPage,
  followUpPage,
  followUpPath,
  followUpWords,
  noFollowUpPage,
  shownDue,
  styleName,
} from './pages/follow-up.ts';
import { formOf } from './requests.ts';
import type pg from 'pg';
import { dayOf } from '../core/lead/instant.ts';
import type { Value, Values } from '../core/lead/value.ts';
import { isStageWanted, recipientsOf } from '../reminders/plan/recipients.ts';
import { presentFollowUp } from '../store/follow-ups.ts';
import { systemClock } from '../ports/clock.ts';
import { connectionsWithFeed, feedRoot, readFeed, tokenOf } from '../reminders/feed/calendar-feed.ts';
import { Semaphore } from '../lib/waiting.ts';

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
  site.get(`${linkRoot}/${styleName}`, (c) =>
    c.body(assetText('style.css'), 200, {
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
    const words = followUpWords(settings.language);
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
      await untilSettled(app, id);
    } catch (error) {
      if (!(error instanceof LeadsyncError)) throw error;
      app.log.warn({ connection, code: error.code }, 'a follow-up was not moved by a link');
    }
    return c.redirect(c.req.path.split('/').at(-1) ?? '', 303);
  });
  return site;
}

/** Waits until an edit is carried out, for a moment. */
async function untilSettled({ pool }: App, id: number): Promise<void> {
  for (const until = performance.now() + patienceMs; performance.now() < until; ) {
    if ((await findEdit(pool, id))?.state !== 'open') return;
    await sleep(pollMs);
  }
}

/** A link that works: who moves which follow-up. */
interface Opened {
  readonly link: FollowUpLink;
  readonly connection: ConnectionConfig;
  readonly settings: ReminderSettings;
}

/** In which zones the recipient of a link moves a date. */
function zonesOf({ link, settings: { rules } }: Opened): SnoozeZones {
  return { timeZone: recipientTimeZone(rules, link.recipient), dayZone: rules.dayZone };
}

/** What the page behind a link shows now. `first`: the choice that goes before the others. `now`: epoch ms. */
async function followUpState(
  pool: pg.Pool,
  opened: Opened,
  first: string,
  now: number,
): Promise<FollowUpPage> {
  const { link, connection, settings } = opened;
  const zones = zonesOf(opened);
  const words = followUpWords(settings.language);
  const shown = (at: number): string =>
    shownDue(at, dayOf(at, zones.dayZone), words.language, zones.timeZone);
  const present = await presentFollowUp(pool, connection.name, link.leadId, followUpField);
  const edit = await lastEditOf(pool, connection.name, link.leadId, followUpField);
  const cells = { ...present?.base, [followUpField]: present?.due ?? null };
  const isTheirs =
    isStageWanted(cells, settings.rules) && recipientsOf(cells, settings.rules).includes(link.recipient);
  const due = present?.due ?? null;
  const dueAt = due === null ? null : Date.parse(due);
  const isWritable = connection.fields.some(
    ({ field, direction }) => field === followUpField && direction === 'two-way',
  );
  const isOpen = edit?.state === 'open';
  const told = edit !== null && isToldBy(edit, link, due) ? edit : null;
  const canMove = isTheirs && isWritable && !isOpen && dueAt !== null;
  const labels = (by: Snooze, at: number): string => {
    const to = snoozed(at, by, zones, now);
    return words.choices[by](to === null ? '' : shown(to));
  };
  const order = snoozes.toSorted((a, b) => Number(b === first) - Number(a === first));
  const facts = [
    dueAt === null ? words.notDue : words.due(shown(dueAt)),
    dueAt !== link.dueAt && words.movedSince(shown(link.dueAt)),
    told !== null && told.requestedBy !== link.recipient && otherWords(told, words, zones.timeZone),
    !isTheirs && words.notYours,
    isTheirs && !isWritable && words.notAllowed,
  ];
  return {
    language: words.language,
    heading: present === null ? words.title : words.heading(companyOf(present.base, link.leadId)),
    notice: told?.requestedBy === link.recipient ? noticeOf(told, words, shown) : null,
    facts: present === null ? [words.gone] : facts.filter((fact) => fact !== false),
    choices: canMove ? order.map((by) => ({ by, label: labels(by, dueAt) })) : [],
    seen: due ?? '',
    waits: isOpen,
  };
}

/**
 * Whether the page of a link tells of the last edit: one for a former date, whose mail this is not, would be taken for what the
 * reader has done just now. Nor does it say that the follow-up was moved to a date at which it is not. `due`: the present one.
 */
function isToldBy({ state, from, to }: RequestedEdit, link: FollowUpLink, due: Value): boolean {
  if (state === 'open') return true;
  const mailed = new Date(link.dueAt).toISOString();
  const isAbout = from === mailed || due !== mailed;
  return isAbout && (to === due || (state !== 'applied' && state !== 'unchanged'));
}

function companyOf(base: Values | null, leadId: string): string {
  return base?.['companyName'] ?? leadId;
}

type Words = ReturnType<typeof followUpWords>;

function noticeOf(edit: RequestedEdit, words: Words, shown: (at: number) => string): FollowUpPage['notice'] {
  switch (edit.state) {
    case 'open':
      return { text: words.waits, look: 'info' };
    case 'applied':
    case 'unchanged':
      return { text: edit.to === null ? words.done : words.moved(shown(Date.parse(edit.to))), look: 'good' };
    case 'conflict':
      return { text: words.conflict, look: 'warn' };
    case 'failed':
      return { text: words.failed, look: 'warn' };
    default:
      return null;
  }
}

function otherWords(edit: RequestedEdit, words: Words, timeZone: string): string | false {
  if (edit.state === 'open') return words.otherWaits(edit.requestedBy);
  if (edit.state !== 'applied') return false;
  return words.otherMoved(
    edit.requestedBy,
    shownDue(Date.parse(edit.settledAt ?? edit.requestedAt), null, words.language, timeZone),
  );
}

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
