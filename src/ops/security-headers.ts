import type { MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { isHttps } from './access.ts';

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
export function securityHeaders(boardPath: string): MiddlewareHandler {
  return async (c, next) => {
    const isBoard = c.req.path === boardPath || c.req.path.startsWith(`${boardPath}/`);
    await (isBoard ? boards : pages)(c, next);
    if (!c.res.headers.has('cache-control')) c.header('Cache-Control', 'no-store');
    if (isHttps(c)) c.header('Strict-Transport-Security', 'max-age=31536000');
  };
}
