import type { Config } from '../config/config.ts';

/** For the log and for `leadsync check`. */
export const closedPages =
  'publicUrl is set and ADMIN_TOKEN is not: links, calendar feeds and probes answer, every other page is closed. Set ADMIN_TOKEN to open the status page';

/** Whether other machines get here through a proxy, and no token keeps them from the pages. */
export function isClosed({ publicUrl, http }: Pick<Config, 'publicUrl' | 'http'>): boolean {
  return publicUrl !== undefined && http.adminToken === undefined;
}
