import { Differs, same } from '../check.ts';
import { batchOf, codesOf, describeReply } from './portal-client.ts';
import type { PortalCheck } from './portal-check.ts';
import { companiesPath, mergedIds, type PortalScratch } from './portal-scratch.ts';

async function merged(scratch: PortalScratch, { winnerHasValue = true } = {}) {
  const [winner, loser] = await scratch.made({ city: 'Ulm' }, { city: 'Bonn', state: 'NRW' });
  if (winner === undefined || loser === undefined) throw new Differs('no companies were made');
  if (!winnerHasValue)
    await scratch.post('update', [{ id: winner.id, trace: '0', properties: { [scratch.idProperty]: '' } }]);
  return { winner, loser, id: await merge(scratch, winner.id, loser.id) };
}

/** Gives the record id of what came of it. */
async function merge(scratch: PortalScratch, winner: string, loser: string): Promise<string> {
  const reply = await scratch.ask('POST', `${companiesPath}/merge`, {
    primaryObjectId: winner,
    objectIdToMerge: loser,
  });
  const [result] = batchOf({
    ...reply,
    body: reply.status < 300 ? { results: [reply.body] } : reply.body,
  }).results;
  if (result === undefined) throw new Differs(`nothing came of it: ${describeReply(reply)}`);
  scratch.keep(result.id);
  return result.id;
}

/** What comes of companies that are merged, and what is kept of those that went. */
export const mergeChecks: readonly PortalCheck[] = [
  {
    title: 'a merge: a new record comes of it, to which both old record ids lead',
    async run(scratch) {
      const { winner, loser, id } = await merged(scratch);
      const [byWinner, byLoser] = [
        await scratch.shown(winner.id, ['city']),
        await scratch.shown(loser.id, ['city']),
      ];
      const seen = { result: id, winnerLeadsTo: byWinner?.id ?? null, loserLeadsTo: byLoser?.id ?? null };
      const told = `of ${winner.id} (kept) and ${loser.id} came ${JSON.stringify(seen)}`;
      if (id === winner.id || id === loser.id || byWinner?.id !== id || byLoser?.id !== id)
        throw new Differs(told);
      return told;
    },
  },
  {
    title: "a merge: the winner's unique value leads to what came of it, the loser's to nothing",
    async run(scratch) {
      const { winner, loser, id } = await merged(scratch);
      const shown = await scratch.shown(winner.unique, ['city', 'state'], scratch.idProperty);
      same("the winner's value leads to", shown?.id, id);
      same('city and state', [shown?.properties['city'], shown?.properties['state']], ['Ulm', 'NRW']);
      const lost = await scratch.shown(loser.unique, ['city'], scratch.idProperty);
      same("the loser's value leads to", lost?.id ?? null, null);
      return 'its values too, filled up from the loser';
    },
  },
  {
    title: 'a merge: a unique value that only the loser has leads to what came of it',
    async run(scratch) {
      const { loser, id } = await merged(scratch, { winnerHasValue: false });
      const shown = await scratch.shown(loser.unique, ['city'], scratch.idProperty);
      same("the loser's value leads to", shown?.id ?? null, id);
      return 'it is kept';
    },
  },
  {
    title: 'a merge: an update by an old record id reaches what came of it',
    async run(scratch) {
      const { loser, id } = await merged(scratch);
      const reply = batchOf(
        await scratch.post('update', [{ id: loser.id, trace: '0', properties: { city: 'Kiel' } }]),
      );
      same('errors', reply.errors.map(codesOf), []);
      same('the record in the answer', reply.results[0]?.id, id);
      same('its city', (await scratch.shown(id, ['city']))?.properties['city'], 'Kiel');
      return 'the record that came of it';
    },
  },
  {
    title: 'a merge: neither old record is in the list of archived companies',
    async run(scratch) {
      const { winner, loser } = await merged(scratch);
      const listed = [];
      for (const [who, { id }] of Object.entries({ winner, loser }))
        if ((await scratch.listed(id, true)) !== null) listed.push(who);
      same('in the list', listed, []);
      return 'neither';
    },
  },
  {
    title: `a merge: ${mergedIds} names both, and after a further merge also those from before, to which they lead`,
    async run(scratch) {
      const { winner, loser, id } = await merged(scratch);
      const third = await scratch.one();
      const last = await merge(scratch, third.id, id);
      const shown = (await scratch.shown(last, [mergedIds]))?.properties[mergedIds] ?? '';
      const named = shown.split(/[;:]/);
      const lacking = [winner.id, loser.id, id, third.id].filter(
        (each) => each !== last && !named.includes(each),
      );
      same('not named', lacking, []);
      same('the first one leads to', (await scratch.shown(loser.id, [mergedIds]))?.id, last);
      return shown;
    },
  },
  {
    title: `a merge: what came of it shows ${mergedIds} in the list of archived companies as well`,
    async run(scratch) {
      const { loser, id } = await merged(scratch);
      await scratch.archive([id]);
      const shown = (await scratch.listed(id, true))?.properties[mergedIds] ?? '';
      same('it names the loser', shown.split(/[;:]/).includes(loser.id), true);
      return shown;
    },
  },
];
