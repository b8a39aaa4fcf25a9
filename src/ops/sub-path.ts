import type { MiddlewareHandler } from 'hono';
import { getPath } from 'hono/utils/url';

/**
 * The path of a request below `base`, as the site knows it: a proxy keeps that path, or strips it. No page begins with the
 * base (`ownPaths`), so both are told apart.
 */
export function innerPath(base: string, request: Request): string {
  const path = getPath(request);
  if (path === base) return '/';
  return base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path;
}

/** Values of attributes come escaped, so nothing but an address of a template looks like this. */
const address = / (href|src|action)="\/(?!\/)/g;

/** Moves the addresses of pages and redirects, which begin with `/`, below `base`. */
export function below(base: string): MiddlewareHandler {
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
