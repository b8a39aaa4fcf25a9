import { Hono } from 'hono';
import { syncQueue, unattended } from '../../jobs/runs.ts';
import type { App } from '../app.ts';
import type { GuardCode } from '../core/merge/guard.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { type JobQueue, noJobs } from '../queue/queue.ts';
import { leaseHolder } from '../store/leases.ts';
import { pauseConnections, pausedSince, unpause } from '../store/connections.ts';
import { lastRun } from '../store/runs.ts';
import { liftWait } from '../store/services.ts';
import { leaseName, type SyncContext } from '../sync/context.ts';
import { missingPage, refusalPage } from './pages/layout.ts';
import { type Order, orders } from './pages/overview.ts';

/** What the buttons of a connection do: the same as `leadsync sync`, `pause` and `resume`. */
export function connectionOrders(app: App): Hono {
  const site = new Hono();
  for (const order of orders) {
    site.post(`/connections/:name/${order}`, async (c) => {
      const context = app.contexts.get(c.req.param('name'));
      if (context === undefined) return c.render(missingPage(), 404);
      const page = `/connections/${context.connection.name}`;
      try {
        await handlers[order](app, context);
      } catch (error) {
        return c.render(refusalPage('Nothing was changed', error, page), 409);
      }
      context.log.info({ order }, 'ordered on the status page');
      return c.redirect(page, 303);
    });
  }
  return site;
}

const handlers: Readonly<Record<Order, (app: App, context: SyncContext) => Promise<unknown>>> = {
  sync: (app, context) => addSync(app, context, []),
  'make-leads': (app, context) => addSync(app, context, ['first-leads']),
  pause: ({ pool }, { connection }) => pauseConnections(pool, [connection.name]),
  resume: ({ pool }, { connection }) => unpause(pool, connection.name),
  'lift-wait': ({ pool }, { connection: { leads } }) => liftWait(pool, leads.baseUrl, leads.apiKey.reveal()),
};

/** Adds a sync. Throws `connection.paused` and `run.under-way`. */
async function addSync(
  { pool, queues }: App,
  { connection: { name } }: SyncContext,
  allow: readonly GuardCode[],
): Promise<void> {
  if ((await pausedSince(pool, name)) !== null)
    throw new LeadsyncError('connection.paused', `${name} is paused: no sync was added`, {
      help: 'Resume it first.',
    });
  const queue = (await queues()).queue(syncQueue);
  if ((await leaseHolder(pool, leaseName(name, 'sync'))) !== null) throw underWay(name, 'is running already');
  if (await isWaiting(queue, name))
    throw underWay(name, 'is waiting already and starts as soon as a worker is free');
  const last = await lastRun(pool, name, 'sync');
  // A double click is one job; a later click is another, whatever the outcome of the first.
  const id = `asked-${name}-${last?.id ?? 0}-${Math.floor(Date.now() / 60_000)}`;
  await queue.add('sync', { ...unattended(name), allow, isAsked: true }, { id });
}

function underWay(name: string, what: string): LeadsyncError {
  return new LeadsyncError('run.under-way', `a sync of ${name} ${what}: no further one was added`, {
    help: 'The page of the connection shows how far it is.',
  });
}

/** Whether a due run of the connection is in the queue. */
export async function isWaiting(
  queue: Pick<JobQueue, 'countsOfConnections'>,
  connection: string,
): Promise<boolean> {
  const { waiting, active } = (await queue.countsOfConnections()).get(connection) ?? noJobs;
  return waiting + active > 0;
}
