import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import { z } from 'zod';
import { isLoopback } from '../lib/loopback.ts';
import type { App } from '../app.ts';
import type { Secret } from '../config/secret.ts';
import { isLoggedOut, noteLogout } from '../store/keeper.ts';
import { isAsset } from './assets.ts';
import { loginPage } from './pages/layout.ts';
import { formOf, shownPath } from './requests.ts';
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deleteCookie, getCookie, getSignedCookie, setCookie, setSignedCookie } from 'hono/cookie';
import { isIPv6 } from 'node:net';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Config } from '../config/config.ts';

/** Who may see the pages: everybody with the token or, without a token, every user of this machine. */
export interface AccessPolicy {
  readonly token: Secret | undefined;
  /** `host` as configured; `address` as bound. */
  readonly host: string;
  readonly address: string;
  readonly publicUrl: string | undefined;
}

const closed = 'set ADMIN_TOKEN: without it no page is served on this address\n';
const strangeName = 'this is not a name of this machine: set ADMIN_TOKEN to use another one\n';
const viaProxy =
  'this came through a proxy: set ADMIN_TOKEN, without it no page is served to other machines\n';
const strangeForm =
  'this form comes from no page of leadsync: set publicUrl to the address under which you open the page; a program sends the header "Authorization: Bearer ADMIN_TOKEN"\n';
/** Without a token publicUrl would close the pages. No page of another site can send this header. */
const strangeFormHere =
  'this form comes from no page of leadsync; a program sends the header "Authorization: Bearer x": any word will do while ADMIN_TOKEN is not set\n';

/** Headers that a proxy adds. */
const ofProxies = /^(?:(?:x-)?forwarded(?:-.*)?|x-real-ip|via)$/;

/**
 * Without a token the pages are open on a loopback address, for requests that name this machine: any other name may be DNS
 * rebinding. On any other address nothing is served, nor through a proxy: whoever asks may be on another machine. One that
 * adds no header speaks HTTP/1.0, as no browser does (nginx, unless told otherwise).
 */
export function accessWithoutToken(
  { host, address, publicUrl }: AccessPolicy,
  log: Logger,
): MiddlewareHandler {
  if (!isLoopback(address) || publicUrl !== undefined) return async (c) => c.text(closed, 403);
  const ownNames = new Set(['localhost', '127.0.0.1', '[::1]', host]);
  let isTold = false;
  return async (c: Context<{ Bindings: Partial<HttpBindings> }>, next) => {
    const isProxied =
      Object.keys(c.req.header()).some((name) => ofProxies.test(name)) ||
      c.env.incoming?.httpVersion === '1.0';
    if (isProxied) {
      if (!isTold) log.warn('a proxy hands requests on and ADMIN_TOKEN is not set: they get no page');
      isTold = true;
      return c.text(viaProxy, 403);
    }
    return ownNames.has(new URL(c.req.url).hostname) ? next() : c.text(strangeName, 403);
  };
}

/**
 * Accepts forms of this site's pages alone: those of the address that was asked, of the one under which people reach it
 * (`publicUrl`), and of the one at which the browser logged in; the login itself from any page of ours. A request with a
 * Bearer token cannot be forged by another page.
 */
export function sameOrigin({ token, publicUrl }: AccessPolicy): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method !== 'POST' || bearerOf(c) !== null) return next();
    if (c.req.header('sec-fetch-site') === 'same-origin') return next();
    const origin = URL.parse(c.req.header('origin') ?? '');
    // Without the scheme: a proxy in front may speak https to the browser.
    const own = [c.req.url, publicUrl ?? ''].flatMap((address) => URL.parse(address)?.host ?? []);
    const isOwn =
      origin !== null &&
      (own.includes(origin.host) ||
        (token !== undefined && (await sessionOf(c, token))?.origin === origin.origin) ||
        (c.req.path === '/login' && getCookie(c, formCookie) === '1'));
    return isOwn ? next() : c.text(token === undefined ? strangeFormHere : strangeForm, 403);
  };
}

const loginSchema = z.object({ token: z.string().max(1_000), next: z.string().max(1_000).catch('/') });

/** Longer tokens (characters) are random, and nobody guesses them. */
const leastRandom = 32;

/** Accepts the token (`Authorization: Bearer`) or the cookie of a login. */
export class TokenAccess {
  readonly #token: Secret;
  readonly #app: Pick<App, 'pool' | 'log'>;
  readonly #guesses = new GuessLimit();
  /** Below which path a browser shows its cookies. */
  readonly #cookies: { readonly path: string };

  /** `base`: the path below which browsers see the site; empty: none. */
  constructor(token: Secret, app: Pick<App, 'pool' | 'log'>, base: string) {
    this.#token = token;
    this.#app = app;
    this.#cookies = { path: base === '' ? '/' : base };
  }

  /** Passes authorized requests on; the login form and its assets are open. */
  readonly check: MiddlewareHandler = async (c, next) => {
    const bearer = bearerOf(c);
    if (bearer !== null) {
      const verdict = await this.#look(c, bearer);
      return verdict === 'right' ? next() : this.#refuse(c, verdict);
    }
    if (isAsset(c.req.path) || c.req.path === '/login') return next();
    const session = await sessionOf(c, this.#token);
    if (session !== null && !(await isLoggedOut(this.#app.pool, session.id))) return next();
    return this.#refuse(c, 'unknown');
  };

  /** `POST /login`: logs in and redirects to the page that was requested. */
  async logIn(c: Context): Promise<Response> {
    const { token, next } = await formOf(c, loginSchema);
    const verdict = await this.#look(c, token);
    if (verdict !== 'right') return c.html(loginPage(next, verdict), verdict === 'wrong' ? 401 : 429);
    await beginSession(c, this.#token, this.#cookies);
    this.#app.log.info({ address: addressOf(c) }, 'somebody logged in');
    return c.redirect(ownPath(next), 303);
  }

  /** `POST /logout`: no copy of the cookie is worth anything any more. */
  async logOut(c: Context): Promise<Response> {
    const session = await sessionOf(c, this.#token);
    if (session !== null) {
      await noteLogout(this.#app.pool, session.id, session.endsAt);
      this.#app.log.info({ address: addressOf(c) }, 'somebody logged out');
    }
    deleteCookie(c, cookieName, attributes(c, this.#cookies));
    return c.redirect('/login', 303);
  }

  showLogin(c: Context, next: string): Response | Promise<Response> {
    setCookie(c, formCookie, '1', attributes(c, this.#cookies));
    return c.html(loginPage(next), c.req.path === '/login' ? 200 : 401);
  }

  #refuse(c: Context, verdict: 'wrong' | 'later' | 'unknown'): Response | Promise<Response> {
    if (verdict === 'later') return c.text('too many wrong tokens: try again in a moment\n', 429);
    if (verdict === 'unknown' && c.req.method === 'GET' && c.req.header('accept')?.includes('text/html'))
      return this.showLogin(c, c.req.path + new URL(c.req.url).search);
    c.header('WWW-Authenticate', 'Bearer realm="leadsync"');
    return c.text('unauthorized\n', 401);
  }

  async #look(c: Context, text: string): Promise<'right' | 'wrong' | 'later'> {
    const token = this.#token;
    const look = (): Secret | null => (isToken(text, token) ? token : null);
    const isShort = token.reveal().length < leastRandom;
    const verdict = await checkGuess(c, this.#app.log, this.#guesses, look, isShort);
    return typeof verdict === 'string' ? verdict : 'right';
  }
}

function bearerOf(c: Context): string | null {
  return /^Bearer (.*)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? null;
}

/** The path of `next` if it is one of this site, else `/`. */
function ownPath(next: string): string {
  const here = 'http://here.invalid';
  const url = URL.parse(next, here);
  const path = url === null ? '' : url.pathname + url.search;
  // Two slashes name another site; the parser may have made them of others (`/..//x`).
  return url?.origin === here && next.startsWith('/') && !/^\/[/\\]/.test(path) ? path : '/';
}

const cookieName = 'leadsync';
/** Shows with the browser's next form that it has a page of this site: it tells that no form of another site. */
const formCookie = 'leadsync-form';

/** Seconds that a login lasts. */
const lifeSeconds = 12 * 3600;

/** Whether this is the token; hashes are compared in constant time: the time of the reply shows neither the token nor its length. */
function isToken(text: string, token: Secret): boolean {
  const digest = (of: string): Buffer => createHash('sha256').update(of).digest();
  return timingSafeEqual(digest(text), digest(token.reveal()));
}

/** Logs a browser in, by a cookie that is signed with the token. */
async function beginSession(c: Context, token: Secret, scope: { readonly path: string }): Promise<void> {
  const endsAt = Math.floor(Date.now() / 1000) + lifeSeconds;
  const origin = URL.parse(c.req.header('origin') ?? '')?.origin ?? '';
  const session = [endsAt, randomBytes(16).toString('base64url'), origin.slice(0, 300)].join(' ');
  const lasting = { ...attributes(c, scope), maxAge: lifeSeconds };
  await setSignedCookie(c, cookieName, session, keyOf(token), lasting);
}

/**
 * The login that a request has a cookie of, unless it is too old. Whether somebody has logged out is for the caller to see. `endsAt`: epoch seconds;
 * `origin`: the site whose page it was made on; behind a proxy that does not tell its name, only the browser knows it.
 */
async function sessionOf(c: Context, token: Secret) {
  const signed = await getSignedCookie(c, keyOf(token), cookieName);
  const [, endsAt, id = '', origin = ''] =
    /^(\d{1,12}) ([\w-]{22}) (\S*)$/.exec(typeof signed === 'string' ? signed : '') ?? [];
  return Number(endsAt) > Date.now() / 1000 ? { id, endsAt: Number(endsAt), origin } : null;
}

/** Whether the browser speaks https, perhaps to a proxy in front of this process. */
export function isHttps(c: Context): boolean {
  const forwarded = c.req.header('x-forwarded-proto')?.split(',')[0]?.trim();
  return forwarded === 'https' || new URL(c.req.url).protocol === 'https:';
}

function attributes(c: Context, scope: { readonly path: string }) {
  return { ...scope, httpOnly: true, sameSite: 'Strict', secure: isHttps(c) } as const;
}

/** The key for cookies alone: it does not reveal the token, and a new token invalidates all cookies. */
function keyOf(token: Secret): string {
  return createHmac('sha256', token.reveal()).update('leadsync session').digest('base64');
}

/** Wrong tokens of an address that are answered at once, … */
const burst = 10;
/** … and the ms between later ones. */
const refillMs = 1_000;
/** Addresses that are remembered; the one with the oldest wrong token is forgotten first. */
const mostAddresses = 10_000;

/**
 * Limits the guessing of tokens: after too many wrong ones from an address, further ones from there wait a moment. Other
 * addresses, and logged-in browsers, are not affected. Times are ms of a monotonic clock.
 */
export class GuessLimit {
  /** When each address has its full `burst` again, the one with the oldest wrong token first. */
  readonly #freeAt = new Map<string, number>();

  /** The number of remembered addresses. */
  get size(): number {
    return this.#freeAt.size;
  }

  /** Ms until the next token from this address is checked; 0: now. */
  waitMs(address: string, now: number): number {
    const freeAt = this.#freeAt.get(networkOf(address)) ?? 0;
    return Math.max(0, freeAt - now - (burst - 1) * refillMs);
  }

  /** Notes a wrong token from this address. */
  missed(address: string, now: number): void {
    const network = networkOf(address);
    const freeAt = Math.max(now, this.#freeAt.get(network) ?? 0) + refillMs;
    this.#freeAt.delete(network);
    this.#freeAt.set(network, freeAt);
    for (const [oldest, at] of this.#freeAt) {
      if (at > now && this.#freeAt.size <= mostAddresses) break;
      this.#freeAt.delete(oldest);
    }
  }
}

/**
 * What `look` finds by a secret that a request brings; `wrong`: null, which counts. `later`: too many wrong ones came from the
 * address of the request; the reply has a Retry-After. A right one is found all the same, since others may share the address,
 * unless it is `guessable`: then nothing is looked for. The log has the wrong ones that were looked for.
 */
export async function checkGuess<Found extends object>(
  c: Context,
  log: Logger,
  guesses: GuessLimit,
  look: () => Found | null | Promise<Found | null>,
  guessable = false,
): Promise<Found | 'wrong' | 'later'> {
  const address = addressOf(c);
  const wait = (): number => guesses.waitMs(address, performance.now());
  const found = guessable && wait() > 0 ? null : await look();
  if (found !== null) return found;
  const waitMs = wait();
  if (waitMs > 0) {
    c.header('Retry-After', String(Math.ceil(waitMs / 1000)));
    return 'later';
  }
  guesses.missed(address, performance.now());
  log.warn({ address, path: shownPath(c.req.path) }, 'a wrong token or link was refused');
  return 'wrong';
}

/** Who asks; behind a proxy, the proxy. */
function addressOf(c: Context): string {
  return getConnInfo(c).remote.address ?? '';
}

/** The addresses of one person: an IPv4 address, or an IPv6 network of 64 bits. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined || !isIPv6(address)) return mapped ?? address;
  const [before = '', after] = address.split('%', 1)[0]?.split('::') ?? [];
  const [head, tail] = [before.split(':').filter(Boolean), (after ?? '').split(':').filter(Boolean)];
  const gap = after === undefined ? 0 : 8 - head.length - tail.length;
  return [...head, ...Array.from({ length: gap }, () => '0'), ...tail].slice(0, 4).join(':');
}

/** For the log and for `leadsync check`. */
export const closedPages =
  'publicUrl is set and ADMIN_TOKEN is not: links, calendar feeds and probes answer, every other page is closed. Set ADMIN_TOKEN to open the status page';

/** Whether other machines get here through a proxy, and no token keeps them from the pages. */
export function isClosed({ publicUrl, http }: Pick<Config, 'publicUrl' | 'http'>): boolean {
  return publicUrl !== undefined && http.adminToken === undefined;
}
