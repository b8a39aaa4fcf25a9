import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import type { Logger } from 'pino';
import { z } from 'zod';
import { isLoopback } from '../lib/loopback.ts';
import type { App } from '../app.ts';
import type { Secret } from '../config/secret.ts';
import { isLoggedOut, noteLogout } from '../store/ended-sessions.ts';
import { isAsset } from './assets.ts';
import { addressOf, checkGuess, GuessLimit } from './guess-limit.ts';
import { loginPage } from './pages/layout.ts';
import { formOf } from './requests.ts';
import {
  beginSession,
  type CookieScope,
  forgetSession,
  hasFormMark,
  isToken,
  markForm,
  sessionOf,
} from './session.ts';

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
  'this form comes from no page of leadsync: set publicUrl to the address under which you open the page\n';

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
        (c.req.path === '/login' && hasFormMark(c)));
    return isOwn ? next() : c.text(strangeForm, 403);
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
  readonly #cookies: CookieScope;

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
    forgetSession(c, this.#cookies);
    return c.redirect('/login', 303);
  }

  /** The login form, for a browser that asks for `next`. */
  showLogin(c: Context, next: string): Response | Promise<Response> {
    markForm(c, this.#cookies);
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
    const verdict = await checkGuess(
      c,
      this.#app.log,
      this.#guesses,
      look,
      token.reveal().length < leastRandom,
    );
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
