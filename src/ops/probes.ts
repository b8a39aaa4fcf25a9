import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import type { App } from '../app.ts';

/** A server that takes longer (ms) to answer counts as away. */
const patienceMs = 3_000;

/**
 * `/healthz`: the process lives, and no outage of the database has lasted so long that only a restart may help.
 * `/readyz`: the database and the queue answer, and this version takes work. Both are open to everybody and say no more.
 */
export function probes(app: App): Hono {
  const { database, queues } = app;
  const site = new Hono();
  site.get('/healthz', (c) =>
    database.isLost ? c.text('the database has been unavailable for too long\n', 503) : c.text('ok\n'),
  );
  site.get('/readyz', async (c) => {
    const [hasDatabase, hasQueue] = await Promise.all([
      database.answers(),
      answers(queues().then((opened) => opened.ping())),
    ]);
    if (!hasDatabase) return c.text('the database does not answer\n', 503);
    if (!hasQueue) return c.text('the queue does not answer\n', 503);
    if (app.outdated !== null) return c.text('the database was set up by a newer leadsync\n', 503);
    return c.text('ready\n');
  });
  for (const path of ['/healthz', '/readyz'])
    site.all(path, (c) => c.text('method not allowed\n', 405, { Allow: 'GET, HEAD' }));
  return site;
}

function answers(question: Promise<unknown>): Promise<boolean> {
  const answered = question.then(
    () => true,
    () => false,
  );
  return Promise.race([answered, sleep(patienceMs, false, { ref: false })]);
}
