import { Hono } from 'hono';
import type { App } from '../app.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';

/**
 * `/healthz`: the process lives, and no outage of the database or the queue has lasted so long that only a restart may help.
 * `/readyz`: the database and the queue take writes, and this version takes work. Both are open to everybody and say no more.
 */
export function probes(app: App): Hono {
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
