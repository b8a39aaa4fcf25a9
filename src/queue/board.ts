import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { HonoAdapter } from '@bull-board/hono';
import { serveStatic } from '@hono/node-server/serve-static';
import { Queue } from 'bullmq';
import { Hono } from 'hono';

/** The fonts that its page would load from other servers. */
const elsewhere = /<link [^>]*href="(https?:)?\/\/[^>]*>/g;

/** The board itself has no place for a link that is always seen. */
const wayBack =
  '<a href="/" style="position:fixed;left:1rem;bottom:3rem;z-index:9999;padding:.5rem .75rem;border-radius:.4rem;background:#1d4ed8;color:#fff">Back to the status page</a>';
const root = '<div id="root">';

export type Board = ReturnType<typeof createBoard>;

/**
 * BullMQ's own board over some queues, read-only. Jobs hold ids and names alone, so it shows nothing else. `path`: where it is
 * mounted, such as `/queues`.
 */
export function createBoard(path: string, queues: Iterable<unknown>) {
  const serverAdapter = new HonoAdapter(serveStatic).setBasePath(path);
  const { addQueue } = createBullBoard({
    queues: [...queues].map(adapterOf),
    serverAdapter,
    options: {
      uiConfig: { boardTitle: 'leadsync', hideDocsLink: true },
    },
  });
  const app = new Hono();
  app.use(async (context, next) => {
    if (context.req.method !== 'GET' && context.req.method !== 'HEAD')
      return context.text('The board is read-only.\n', 405, { Allow: 'GET, HEAD' });
    return next();
  });
  app.use(async (context, next) => {
    await next();
    if (context.res.headers.get('content-type')?.startsWith('text/html'))
      context.res = context.html(
        (await context.res.text()).replaceAll(elsewhere, '').replace(root, wayBack + root),
      );
  });
  app.route('/', serverAdapter.registerPlugin());
  /** `addQueue` shows a queue that was opened later. */
  return { app, addQueue: (queue: unknown) => addQueue(adapterOf(queue)) };
}

function adapterOf(queue: unknown): BullMQAdapter {
  if (!isQueue(queue)) throw new TypeError('not a queue of BullMQ');
  return new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false });
}

/** The adapter is typed for queues in Redis; it detects those in Postgres by itself. */
function isQueue(queue: unknown): queue is Queue {
  return queue instanceof Queue;
}
