import { Hono } from 'hono';
import { z } from 'zod';
import type { App } from '../app.ts';
import { statusPage } from '../store/decisions.ts';
import { countMatches, listMatches } from '../store/matches.ts';
import { decideMatches } from '../review/decide-match.ts';
import { notDecidedPage } from './pages/decided.ts';
import type { Menu } from './pages/layout.ts';
import { matchesPage, seenMatch } from './pages/matches.ts';

/** Matches on one page of the list. */
const shown = 25;

/** A position in the list; anything else means its start. */
const position = z.coerce.number().int().nonnegative().catch(0);
const decision = z.object({
  as: z.enum(['accepted', 'rejected']),
  seen: z.string().max(64),
  back: z.string().regex(/^\/matches(\?after=\d{1,15})?$/),
});

/** The list of rows and leads that may be one. It writes a person's decisions alone. */
export function matchPages({ pool, contexts }: App, menu: Menu): Hono {
  const site = new Hono();
  const matching = [...contexts.values()].filter(({ connection }) => connection.sync.match !== 'off');
  const names = matching.map(({ connection }) => connection.name);

  site.get('/matches', async (c) => {
    const after = position.parse(c.req.query('after'));
    const found = await listMatches(pool, names, after, shown + 1);
    const last = found[shown - 1];
    const page = {
      matches: found.slice(0, shown).flatMap((match) => {
        const connection = contexts.get(match.connection)?.connection;
        if (connection === undefined) return [];
        return [{ match, fields: connection.fields, timeZone: connection.sync.timeZone }];
      }),
      total: await countMatches(pool, names),
      isOn: names.length > 0,
      here: after === 0 ? '/matches' : `/matches?after=${after}`,
      next: found.length > shown && last ? `/matches?after=${last.id}` : null,
      isFirst: after === 0,
      now: Date.now(),
    };
    return c.html(matchesPage(page, menu));
  });

  site.post('/matches/:id', async (c) => {
    const form = decision.safeParse(await c.req.parseBody());
    if (!form.success) return c.text('the form was not understood\n', 400);
    const { as, seen, back } = form.data;
    const id = c.req.param('id');
    try {
      await decideMatches(pool, names, [id], { as, by: statusPage }, (match) => seenMatch(match) === seen);
      return c.redirect(`${back}#match-${id}`, 303);
    } catch (error) {
      return c.html(notDecidedPage(error, menu, back), 409);
    }
  });
  return site;
}
