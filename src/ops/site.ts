import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { App } from '../app.ts';
import { accessWithoutToken, type AccessPolicy, sameOrigin, TokenAccess } from './access.ts';
import { assets } from './assets.ts';
import { calendarFeeds } from './calendar-feeds.ts';
import { followUpPages } from './follow-up-pages.ts';
import type { LiveRuns } from './live-runs.ts';
import { layout, missingPage } from './pages/layout.ts';
import type { Metrics } from './metrics.ts';
import { probes } from './probes.ts';
import { shownPath } from './requests.ts';
import { conflictPages } from './conflict-pages.ts';
import { connectionOrders } from './connection-orders.ts';
import { securityHeaders } from './security-headers.ts';
import { statusPages } from './status-pages.ts';
import { below, innerPath } from './sub-path.ts';

const boardPath = '/queues';

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** Bytes; every form of the site is shorter. */
const maxBody = 16 * 1024;

export interface ServedApp extends App {
  readonly metrics: Metrics;
}

/**
 * Everything that the port answers: the probes to everybody, the page of a follow-up and feeds to those who know their
 * address, the rest as `policy` allows.
 */
export async function site(app: ServedApp, live: LiveRuns, policy: AccessPolicy): Promise<Hono> {
  const base = new URL(policy.publicUrl ?? 'http://localhost').pathname.replace(/\/$/, '');
  const site = new Hono({ getPath: (request) => innerPath(base, request) });
  site.onError((error, c) => {
    if (error instanceof HTTPException) return error.getResponse();
    app.log.error({ err: error, path: shownPath(c.req.path) }, 'a page failed');
    return c.text('this page failed; the log of the worker says why\n', 500);
  });
  site.use(securityHeaders(boardPath));
  if (base !== '') site.use(below(base));
  site.use(methodNotAllowed({ app: site }));
  site.route('/', probes(app));
  site.route('/', calendarFeeds(app));
  // No page has other methods; where there is a page, the reply has `Allow`.
  site.use(async (c, next) => (methods.has(c.req.method) ? next() : c.text('not found\n', 404)));
  // Browsers send a length. To measure a body without one, the limit needs a global Request, which the adapter does not make.
  site.use(async (c, next) =>
    c.req.header('transfer-encoding') === undefined ? next() : c.text('send a Content-Length\n', 411),
  );
  const limited = bodyLimit({ maxSize: maxBody });
  site.use(async (c, next) => (c.req.header('content-length') === undefined ? next() : limited(c, next)));
  site.use(sameOrigin(policy));
  site.route('/', followUpPages(app));
  const { token } = policy;
  const menu = { hasLogin: token !== undefined };
  site.use(async (c, next) => {
    c.setRenderer((page, status) => c.html(layout(page, menu), status));
    await next();
  });
  const { metrics } = app;
  if (token === undefined) {
    site.use(accessWithoutToken(policy, app.log));
  } else {
    const access = new TokenAccess(token, app, base);
    site.use(access.check);
    site.get('/login', (c) => access.showLogin(c, '/'));
    site.post('/login', (c) => access.logIn(c));
    site.post('/logout', (c) => access.logOut(c));
  }
  site.notFound((c: Context) =>
    c.req.header('accept')?.includes('text/html')
      ? c.render(missingPage('There is nothing at this address.'), 404)
      : c.text('not found\n', 404),
  );
  site.route('/', assets());
  site.get('/metrics', async (c) =>
    c.body(await metrics.render(), 200, { 'content-type': metrics.contentType }),
  );
  site.route(boardPath, await (await app.queues()).board(boardPath));
  site.get('/events', (c) => live.listen(c));
  site.route('/', statusPages(app));
  site.route('/', connectionOrders(app));
  site.route('/', conflictPages(app));
  return site;
}
