import { Hono } from 'hono';
import { z } from 'zod';
import type { App } from '../app.ts';
import { statusPage } from '../store/decisions.ts';
import { countMatches, listMatches } from '../store/matches.ts';
import { decideMatches } from '../review/decide-match.ts';
import { refusalPage } from './pages/layout.ts';
import { matchesPage, seenMatch } from './pages/matches.ts';
import { formOf, pageOf, position } from './requests.ts';

/** Matches on one page of the list. */
const shown = 25;

const decision = z.object({
  as: z.enum(['accepted', 'rejected']),
  seen: z.string().max(64),
  back: z.string().regex(/^\/matches(\?after=\d{1,15})?$/),
});

/** The list of rows and leads that may be one. It writes a person's decisions alone. */
export function matchPages({ pool, contexts }: App): Hono {
  const site = new Hono();
  const matching = [...contexts.values()].filter(({ connection }) => connection.sync.match !== 'off');
  const names = matching.map(({ connection }) => connection.name);

  site.get('/matches', async (c) => {
    const after = position.parse(c.req.query('after'));
    const address = (from: number): string => (from === 0 ? '/matches' : `/matches?after=${from}`);
    const { items, next } = pageOf(await listMatches(pool, names, after, shown + 1), shown, address);
    const matches = items.flatMap((match) => {
      const connection = contexts.get(match.connection)?.connection;
      if (connection === undefined) return [];
      return [{ match, fields: connection.fields, timeZone: connection.timeZone }];
    });
    const total = await countMatches(pool, names);
    const isOn = names.length > 0;
    return c.render(matchesPage({ matches, total, isOn, here: address(after), next, now: Date.now() }));
  });

  site.post('/matches/:id', async (c) => {
    const { as, seen, back } = await formOf(c, decision);
    const id = c.req.param('id');
    try {
      await decideMatches(pool, names, [id], { as, by: statusPage }, (match) => seenMatch(match) === seen);
      return c.redirect(`${back}#match-${id}`, 303);
    } catch (error) {
      return c.render(refusalPage('Not decided', error, back), 409);
    }
  });
  return site;
}
