import { Hono } from 'hono';
import { z } from 'zod';
import { syncQueue } from '../../jobs/runs.ts';
import type { App } from '../app.ts';
import { columnsOf } from '../core/lead/mapping.ts';
import { explain } from '../lib/errors.ts';
import { Semaphore } from '../lib/waiting.ts';
import { forMany } from '../store/for-many.ts';
import { listDecisions } from '../store/conflicts.ts';
import { listHeld } from '../store/held.ts';
import { companiesIn, waitingDeletes, withCompanies } from '../store/pairs.ts';
import { listReminders, type ReminderState } from '../store/mails.ts';
import { listActions, listRuns, endedSyncs, openSyncs } from '../store/run-list.ts';
import { getRun } from '../store/runs.ts';
import type { SyncReport } from '../sync/report.ts';
import { shownHeld } from './conflict-pages.ts';
import { connectionFacts, deleteSides } from './connection-status.ts';
import { isWaiting } from './connection-orders.ts';
import { connectionPage, runsShown } from './pages/connection.ts';
import { missingPage } from './pages/layout.ts';
import { overviewPage } from './pages/overview.ts';
import { problemsShown, runPage } from './pages/run.ts';
import { pageOf, position } from './requests.ts';
import { describeProgress } from './run-words.ts';

const shown = { conflicts: 5, decisions: 10, runs: runsShown, changes: 25, reminders: 10, deletes: 20 };

/** Connections that a page reads in parallel: few, so that runs do not wait for the database. */
const readsAtOnce = 4;

const id = z.string().regex(/^\d{1,15}$/);

export function statusPages(app: App): Hono {
  const { pool, contexts } = app;
  const reads = new Semaphore(readsAtOnce);
  const site = new Hono();

  site.get('/', async (c) => {
    const many = forMany(pool);
    const facts = [...contexts.values()].map(({ connection }) => connectionFacts(many, connection));
    const stopped = app.outdated === null ? null : explain(app.outdated);
    return c.render(overviewPage(await Promise.all(facts), Date.now(), stopped));
  });

  site.get('/connections/:name', async (c) => {
    const context = contexts.get(c.req.param('name'));
    if (context === undefined) return c.render(missingPage(), 404);
    const before = position.parse(c.req.query('before'));
    const { name } = context.connection;
    using _slot = await reads.acquire();
    const runs = await listRuns(pool, name, before === 0 ? null : before, shown.runs + 1);
    const { items, next } = pageOf(runs, shown.runs, (id) => `/connections/${name}?before=${id}#runs`);
    const facts = await connectionFacts(pool, context.connection);
    const { running, pausedSince } = facts.status;
    const reminders = async (states: readonly ReminderState[]) =>
      withCompanies(pool, name, await listReminders(pool, name, states, shown.reminders));
    const page = {
      facts,
      isAsked: running === null && pausedSince === null && (await isAsked(app, name)),
      decisions: await withCompanies(pool, name, await listDecisions(pool, name, null, shown.decisions)),
      deletes: await waitingDeletes(pool, name, deleteSides(context.connection), shown.deletes),
      conflicts: shownHeld(app, await listHeld(pool, [context.connection], { limit: shown.conflicts })),
      runs: items,
      isFirst: before === 0,
      next,
      coming: await reminders(['scheduled', 'sending']),
      failed: await reminders(['failed', 'missed']),
      now: Date.now(),
    };
    return await c.render(connectionPage(page));
  });

  site.get('/runs/:id', async (c) => {
    const runId = id.safeParse(c.req.param('id'));
    const run = runId.success ? await getRun(pool, Number(runId.data)) : null;
    const context = run === null ? undefined : contexts.get(run.connection);
    if (run === null || context === undefined)
      return c.render(missingPage('No run has this number, or it is older than the retention.'), 404);
    const after = position.parse(c.req.query('after'));
    const actions = await listActions(pool, run, after, shown.changes + 1);
    const { items, next } = pageOf(actions, shown.changes, (id) => `/runs/${run.id}?after=${id}#changes`);
    const problemsFrom = position.parse(c.req.query('problems'));
    const problems = (run.report as SyncReport | null)?.problems ?? run.problems;
    const about = [...items, ...problems.slice(problemsFrom, problemsFrom + problemsShown)];
    const page = {
      run,
      timeZone: context.connection.timeZone,
      actions: items,
      companies: await companiesIn(pool, run.connection, about),
      columns: columnsOf(context.connection.fields),
      problemsFrom,
      isFirst: after === 0,
      next,
      now: Date.now(),
    };
    return c.render(runPage(page));
  });
  return site;
}

/** Whether a sync is in the queue that has not started; false when the queue does not answer: the page needs no queue. */
async function isAsked({ queues, log }: App, name: string): Promise<boolean> {
  try {
    return await isWaiting((await queues()).queue(syncQueue), name);
  } catch (error) {
    log.debug({ err: error, connection: name }, 'the queue does not answer');
    return false;
  }
}

/** An answer holds for so long (ms), for all browsers together: they ask every second. */
const freshMs = 900;

/** `/live`: the progress of all syncs, whichever process runs them, for the script of the pages. */
export function liveRuns({ pool, contexts, log }: App): Hono {
  /** By connection: the syncs under way, and the one that ended last, since many a sync is over between two looks. */
  const query = async () => {
    const names = [...contexts.keys()];
    // In this order no sync is in neither.
    const runs = await openSyncs(pool, names);
    const ended = await endedSyncs(pool, names);
    return {
      running: Object.fromEntries(
        runs.map((run) => [run.connection, { run: run.id, text: describeProgress(run) }]),
      ),
      ended: Object.fromEntries(ended),
    };
  };
  let last: { readonly at: number; readonly live: ReturnType<typeof query> } | null = null;
  return new Hono().get('/live', async (c) => {
    const now = performance.now();
    if (last === null || now - last.at >= freshMs) last = { at: now, live: query() };
    try {
      return c.json(await last.live);
    } catch (error) {
      // Every second: an outage has its own line.
      log.debug({ err: error }, 'the progress of syncs cannot be read');
      return c.text('not now\n', 503);
    }
  });
}
