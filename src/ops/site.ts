import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { HTTPException } from 'hono/http-exception';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { App } from '../app.ts';
import { type AccessPolicy, accessWithoutToken, sameOrigin, TokenAccess, isHttps } from './access.ts';
import { assets } from './assets.ts';
import { calendarFeeds, followUpPages } from './follow-up-pages.ts';
import { liveRuns, statusPages } from './status-pages.ts';
import { layout, missingPage } from './pages/layout.ts';
import type { MetricsPage } from './metrics-page.ts';
import { shownPath } from './requests.ts';
import { conflictPages } from './conflict-pages.ts';
import { connectionOrders } from './connection-orders.ts';
import { signedIn } from './signed-in.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import { getPath } from 'hono/utils/url';
import { secureHeaders } from 'hono/secure-headers';

const boardPath = '/queues';

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST']);

/** Bytes; every form of the site is shorter. */
const maxBody = 16 * 1024;

export interface ServedApp extends App {
  readonly metrics: () => Promise<MetricsPage>;
}

/**
 * Everything that the port answers: the probes to everybody, the page of a follow-up and feeds to those who know their
 * address, the rest as `policy` allows.
 */
export async function site(app: ServedApp, policy: AccessPolicy): Promise<Hono> {
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
  const { statusPage } = app.config;
  if (statusPage !== undefined) site.use(signedIn(statusPage));
  site.use(async (c, next) => {
    const menu = { hasLogin: token !== undefined, visitor: c.get('visitor') };
    c.setRenderer((page, status) => c.html(layout(page, menu), status));
    await next();
  });
  const { metrics } = app;
  if (token === undefined) {
    site.use(unlessSignedIn(accessWithoutToken(policy, app.log)));
  } else {
    const access = new TokenAccess(token, app, base);
    site.use(unlessSignedIn(access.check));
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
  site.get('/metrics', async (c) => {
    const page = await metrics();
    return c.body(await page.render(), 200, { 'content-type': page.contentType });
  });
  site.route(boardPath, await (await app.queues()).board(boardPath));
  site.route('/', liveRuns(app));
  site.route('/', statusPages(app));
  site.route('/', connectionOrders(app));
  site.route('/', conflictPages(app));
  return site;
}

function unlessSignedIn(check: MiddlewareHandler): MiddlewareHandler {
  return async (c, next) => (c.get('visitor') === undefined ? check(c, next) : next());
}

/**
 * `/healthz`: the process lives, and no outage of the database or the queue has lasted so long that only a restart may help.
 * `/readyz`: the database and the queue take writes, and this version takes work. Both are open to everybody and say no more.
 */
function probes(app: App): Hono {
  const { database, queue } = app;
  const site = new Hono();
  site.get('/healthz', (c) => {
    const lost = database.isLost ? 'database' : queue.isLost ? 'queue' : null;
    return lost === null ? c.text('ok\n') : c.text(`the ${lost} has been unavailable for too long\n`, 503);
  });
  site.get('/readyz', async (c) => {
    const [databaseFault, queueFault] = await Promise.all([database.fault(), queue.fault()]);
    if (databaseFault !== null)
      return c.text(`the database ${refuses(databaseFault) ? 'takes no writes' : 'does not answer'}\n`, 503);
    if (queueFault !== null)
      return c.text(`the queue ${refuses(queueFault) ? 'takes no jobs' : 'does not answer'}\n`, 503);
    if (app.outdated !== null) return c.text('this worker takes no work any more: its log says why\n', 503);
    return c.text('ready\n');
  });
  for (const path of ['/healthz', '/readyz'])
    site.all(path, (c) => c.text('method not allowed\n', 405, { Allow: 'GET, HEAD' }));
  return site;
}

/** Whether a server answered, and refused to write. */
function refuses(fault: unknown): boolean {
  return fault instanceof LeadsyncError ? fault.code === 'queue.read-only' : codeOf(fault)?.length === 5;
}

/**
 * The path of a request below `base`, as the site knows it: a proxy keeps that path, or strips it. No page begins with the
 * base (`ownPaths`), so both are told apart.
 */
function innerPath(base: string, request: Request): string {
  const path = getPath(request);
  if (path === base) return '/';
  return base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path;
}

/** Values of attributes come escaped, so nothing but an address of a template looks like this. */
const address = / (href|src|action)="\/(?!\/)/g;

/** Moves the addresses of pages and redirects, which begin with `/`, below `base`. */
function below(base: string): MiddlewareHandler {
  return async (c, next) => {
    await next();
    const { headers, status } = c.res;
    const to = headers.get('location');
    if (to?.startsWith('/')) c.res.headers.set('location', `${base}${to}`);
    if (headers.get('content-type')?.startsWith('text/html') === true) {
      const html = (await c.res.text()).replaceAll(address, (_, name: string) => ` ${name}="${base}/`);
      c.res = new Response(html, { status, headers: { 'content-type': 'text/html; charset=UTF-8' } });
    }
  };
}

const own = "'self'";
const none = "'none'";

const others = {
  // Not no-referrer: browsers would then send forms with `Origin: null`.
  referrerPolicy: 'same-origin',
  xFrameOptions: 'DENY',
  // Set below, for https alone.
  strictTransportSecurity: false,
} as const;

/** Our own pages: nothing inline, nothing from elsewhere. */
const pagePolicy = {
  defaultSrc: [none],
  scriptSrc: [own],
  connectSrc: [own],
  styleSrc: [own],
  imgSrc: [own],
  formAction: [own],
  frameAncestors: [none],
  baseUri: [none],
};

/** What bull-board's pages need besides: style attributes, and the base of their addresses. */
export const boardPolicy = {
  ...pagePolicy,
  styleSrc: [own, "'unsafe-inline'"],
  formAction: [none],
  baseUri: [own],
};

const pages = secureHeaders({ ...others, contentSecurityPolicy: pagePolicy });
const boards = secureHeaders({ ...others, contentSecurityPolicy: boardPolicy });

/** The headers of every reply: what a page may do and load, and that the browser keeps nothing of it. */
function securityHeaders(boardPath: string): MiddlewareHandler {
  return async (c, next) => {
    const isBoard = c.req.path === boardPath || c.req.path.startsWith(`${boardPath}/`);
    await (isBoard ? boards : pages)(c, next);
    if (!c.res.headers.has('cache-control')) c.header('Cache-Control', 'no-store');
    if (isHttps(c)) c.header('Strict-Transport-Security', 'max-age=31536000');
  };
}
