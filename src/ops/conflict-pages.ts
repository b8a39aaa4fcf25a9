import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { App } from '../app.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { type Answer, answers } from '../core/merge/holds.ts';
import { countHeld, type HeldItem, listHeld } from '../store/held.ts';
import { decide } from '../review/decide-held.ts';
import { conflictsPage, decideAllPage, decidedAllPage, seenItem, type ShownHeld } from './pages/conflicts.ts';
import { refusalPage } from './pages/layout.ts';
import { formOf, pageOf, position } from './requests.ts';
import { deciderOf } from './signed-in.ts';

/** Items on one page of the list. */
const shown = 25;

const side = z.enum(['lead', 'row']);
const back = z.string().regex(/^\/(conflicts|connections\/[\w-]{1,64})(\?[\w=&-]{0,200})?$/);
const decision = z.object({ use: z.enum(Object.keys(answers) as Answer[]), seen: z.string().max(64), back });
/** `item`: an id and the hash of the values that the person saw. */
const decisions = z.object({
  use: side,
  item: z
    .union([z.string(), z.array(z.string()).max(shown)])
    .transform((items) => [items].flat())
    .pipe(z.array(z.string().regex(/^\d{1,15}:[\w-]{1,64}$/))),
  back,
});

/** The list of what waits for a person. It writes a person's decisions alone. */
export function conflictPages(app: App): Hono {
  const { pool, contexts } = app;
  const site = new Hono();
  const connections = [...contexts.values()].map((context) => context.connection);
  const decideSeen = (c: Context, id: string, use: Answer, seen: string): Promise<HeldItem> =>
    decide(pool, connections, id, { use, by: deciderOf(c) }, (item) => seenItem(item) === seen);

  /** One page of the list, by the query of its address. */
  async function listed(query: Readonly<Record<string, string>>) {
    const asked = query['connection'];
    const connection = asked !== undefined && contexts.has(asked) ? asked : null;
    const holders = connections.filter(({ name }) => connection === null || name === connection);
    const after = position.parse(query['after']);
    const address = (from: number): string => {
      const parts = [connection !== null && `connection=${connection}`, from > 0 && `after=${from}`];
      return ['/conflicts', parts.filter(Boolean).join('&')].filter(Boolean).join('?');
    };
    const { items, next } = pageOf(
      await listHeld(pool, holders, { after, limit: shown + 1 }),
      shown,
      address,
    );
    return {
      connection,
      conflicts: shownHeld(app, items),
      total: await countHeld(pool, holders),
      here: address(after),
      next,
      isFirst: after === 0,
      now: Date.now(),
    };
  }

  site.get('/conflicts', async (c) => c.render(conflictsPage(await listed(c.req.query()))));

  site.get('/conflicts/all', async (c) => {
    const use = side.safeParse(c.req.query('use'));
    const page = await listed(c.req.query());
    return use.success ? c.render(decideAllPage(page, use.data)) : c.redirect(page.here, 303);
  });

  site.post('/conflicts/all', async (c) => {
    const { use, item: items, back } = await formOf(c, decisions, true);
    let decided = 0;
    const refused: LeadsyncError[] = [];
    for (const item of items) {
      const [id = '', seen = ''] = item.split(':');
      try {
        await decideSeen(c, id, use, seen);
        decided++;
      } catch (error) {
        if (!(error instanceof LeadsyncError)) throw error;
        refused.push(error);
      }
    }
    return refused.length === 0
      ? c.redirect(back, 303)
      : c.render(decidedAllPage({ decided, refused, back }), 409);
  });

  site.post('/conflicts/:id', async (c) => {
    const { use, seen, back } = await formOf(c, decision);
    try {
      const held = await decideSeen(c, c.req.param('id'), use, seen);
      return c.redirect(`${back}#held-${held.id}`, 303);
    } catch (error) {
      return c.render(refusalPage('Not decided', error, back), 409);
    }
  });
  return site;
}

export function shownHeld({ contexts }: App, items: readonly HeldItem[]): readonly ShownHeld[] {
  return items.flatMap((item) => {
    const connection = contexts.get(item.connection)?.connection;
    return connection === undefined
      ? []
      : [{ item, fields: connection.fields, timeZone: connection.timeZone }];
  });
}
