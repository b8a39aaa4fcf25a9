import { setTimeout as sleep } from 'node:timers/promises';
import { Hono } from 'hono';
import type { App } from '../app.ts';

/** Whoever does not answer in so long (ms) is away. */
const patienceMs = 3_000;

/** `/healthz`: the process lives. `/readyz`: the database, and the queue, answer. Both tell nothing else, and to everybody. */
export function probes({ pool, queues }: App): Hono {
  const site = new Hono();
  site.get('/healthz', (c) => c.text('ok\n'));
  site.get('/readyz', async (c) => {
    const [database, queue] = await Promise.all([answers(pool.query('select 1')), answers(queues.ping())]);
    if (!database) return c.text('the database does not answer\n', 503);
    if (!queue) return c.text('the queue does not answer\n', 503);
    return c.text('ready\n');
  });
  for (const path of ['/healthz', '/readyz'])
    site.all(path, (c) => c.text('method not allowed\n', 405, { Allow: 'GET, HEAD' }));
  return site;
}

async function answers(question: Promise<unknown>): Promise<boolean> {
  const answered = question.then(
    () => true,
    () => false,
  );
  const patience = new AbortController();
  try {
    const late = sleep(patienceMs, false, { signal: patience.signal }).catch(() => false);
    return await Promise.race([answered, late]);
  } finally {
    patience.abort();
  }
}
