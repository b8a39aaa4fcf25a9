import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { App } from '../app.ts';
import { Places } from '../places.ts';
import { countHeld, type Held, heldPage } from '../store/held.ts';
import { basesOf } from '../store/pairs.ts';
import { listReminders } from '../store/reminders.ts';
import { listActions, listRuns } from '../store/run-list.ts';
import { getRun } from '../store/runs.ts';
import { waitingDeletes } from '../store/waiting-deletes.ts';
import type { SyncContext } from '../sync/context.ts';
import { decide } from '../sync/decide-held.ts';
import { connectionFacts, deleteSides } from './connection-facts.ts';
import { seenConflict, type ShownConflict } from './pages/conflict-list.ts';
import { conflictsPage } from './pages/conflicts.ts';
import { connectionPage } from './pages/connection.ts';
import type { Menu } from './pages/layout.ts';
import { notDecidedPage } from './pages/decided.ts';
import { messagePage } from './pages/message.ts';
import { overviewPage } from './pages/overview.ts';
import { runPage } from './pages/run.ts';

/** On one page of a list. */
const shown = { conflicts: 25, conflictsOfConnection: 5, runs: 20, changes: 25, reminders: 10, deletes: 20 };

/** A page asks the database for several connections at once, but never for so many that runs have to wait. */
const questionsAtOnce = 4;

/** A place in a list; whatever else is asked for means its beginning. */
const position = z.coerce.number().int().nonnegative().catch(0);
const id = z.string().regex(/^\d{1,15}$/);
const decision = z.object({
  use: z.enum(['lead', 'target']),
  seen: z.string().max(64),
  back: z.string().regex(/^\/(conflicts|connections\/[\w-]{1,64})(\?[\w=&-]{0,200})?$/),
});

/** The status page and those behind it. They show what the store knows; a person's decision is all that they write. */
export function statusPages(app: App, menu: Menu): Hono {
  const { pool, contexts } = app;
  const places = new Places(questionsAtOnce);
  const site = new Hono();
  const missing = (c: Context, what: string) => c.html(messagePage('There is no such page', what, menu), 404);

  site.get('/', async (c) => {
    const facts = [...contexts.values()].map(async (context) => {
      using _place = await places.take();
      return await connectionFacts(context);
    });
    return c.html(overviewPage(await Promise.all(facts), Date.now(), menu));
  });

  site.get('/connections/:name', async (c) => {
    const context = contexts.get(c.req.param('name'));
    if (context === undefined) return missing(c, 'No connection of this name is configured.');
    const before = position.parse(c.req.query('before'));
    const { name } = context.connection;
    using _place = await places.take();
    const runs = await listRuns(pool, name, before === 0 ? null : before, shown.runs + 1);
    const last = runs[shown.runs - 1];
    const page = {
      facts: await connectionFacts(context),
      deletes: await waitingDeletes(pool, name, deleteSides(context.connection), shown.deletes),
      conflicts: await shownConflicts(app, await heldPage(pool, [name], 0, shown.conflictsOfConnection)),
      runs: runs.slice(0, shown.runs),
      isFirst: before === 0,
      next: runs.length > shown.runs && last ? `/connections/${name}?before=${last.id}#runs` : null,
      coming: await named(
        context,
        await listReminders(pool, name, ['scheduled', 'sending'], shown.reminders),
      ),
      failed: await named(context, await listReminders(pool, name, ['failed', 'missed'], shown.reminders)),
      now: Date.now(),
    };
    return await c.html(connectionPage(page, menu));
  });

  site.get('/runs/:id', async (c) => {
    const runId = id.safeParse(c.req.param('id'));
    const run = runId.success ? await getRun(pool, Number(runId.data)) : null;
    const context = run === null ? undefined : contexts.get(run.connection);
    if (run === null || context === undefined)
      return missing(c, 'No run has this number, or it is older than the retention.');
    const after = position.parse(c.req.query('after'));
    const actions = await listActions(pool, run, after, shown.changes + 1);
    const last = actions[shown.changes - 1];
    const page = {
      run,
      timeZone: context.connection.sync.timeZone,
      actions: await named(context, actions.slice(0, shown.changes)),
      columns: new Map(context.connection.fields.map(({ field, column }) => [field, column])),
      problemsFrom: position.parse(c.req.query('problems')),
      isFirst: after === 0,
      next: actions.length > shown.changes && last ? `/runs/${run.id}?after=${last.id}#changes` : null,
      now: Date.now(),
    };
    return c.html(runPage(page, menu));
  });

  site.get('/conflicts', async (c) => {
    const asked = c.req.query('connection');
    const connection = asked !== undefined && contexts.has(asked) ? asked : null;
    const names = connection === null ? [...contexts.keys()] : [connection];
    const after = position.parse(c.req.query('after'));
    const items = await heldPage(pool, names, after, shown.conflicts + 1);
    const last = items[shown.conflicts - 1];
    const address = (from: number): string => {
      const query = [connection !== null && `connection=${connection}`, from > 0 && `after=${from}`];
      const said = query.filter((part) => part !== false).join('&');
      return said === '' ? '/conflicts' : `/conflicts?${said}`;
    };
    const page = {
      connection,
      conflicts: await shownConflicts(app, items.slice(0, shown.conflicts)),
      total: (await Promise.all(names.map((name) => countHeld(pool, name)))).reduce(
        (sum, one) => sum + one,
        0,
      ),
      here: address(after),
      next: items.length > shown.conflicts && last ? address(last.id) : null,
      isFirst: after === 0,
      now: Date.now(),
    };
    return c.html(conflictsPage(page, menu));
  });

  site.post('/conflicts/:id', async (c) => {
    const form = decision.safeParse(await c.req.parseBody());
    if (!form.success) return c.text('the form was not understood\n', 400);
    const { use, seen, back } = form.data;
    const fieldsOf = (name: string) => contexts.get(name)?.connection.fields;
    try {
      const held = await decide(
        pool,
        c.req.param('id'),
        use,
        fieldsOf,
        (item) => seenConflict(item) === seen,
      );
      return c.redirect(`${back}#held-${held.id}`, 303);
    } catch (error) {
      return c.html(notDecidedPage(error, menu, back), 409);
    }
  });
  return site;
}

/** Held items of connections that are configured, in their order, with what a page tells of them. */
async function shownConflicts(app: App, items: readonly Held[]): Promise<readonly ShownConflict[]> {
  const byConnection = Map.groupBy(items, ({ connection }) => connection);
  const all = [...byConnection].map(async ([name, ofConnection]) => {
    const context = app.contexts.get(name);
    if (context === undefined) return [];
    const { fields, sync } = context.connection;
    const withNames = await named(context, ofConnection);
    return withNames.map(({ company, ...item }) => ({ item, company, fields, timeZone: sync.timeZone }));
  });
  return (await Promise.all(all)).flat().toSorted((a, b) => a.item.id - b.item.id);
}

/** Adds the name of each lead's company, as both sides last agreed on it. */
async function named<Item extends { readonly leadId: string | null }>(
  { pool, connection }: SyncContext,
  items: readonly Item[],
): Promise<readonly (Item & { readonly company: string | null })[]> {
  const ids = items.flatMap(({ leadId }) => leadId ?? []);
  const bases = await basesOf(pool, connection.name, ids);
  return items.map((item) => ({ ...item, company: bases.get(item.leadId ?? '')?.['companyName'] ?? null }));
}
