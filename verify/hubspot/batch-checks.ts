import { Differs, same } from '../check.ts';
import { batchOf, codesOf, codesOfReply, describeReply, refusedWith } from './portal-client.ts';
import type { PortalCheck } from './portal-check.ts';
import { type Input, mostInputs, type PortalScratch } from './portal-scratch.ts';

/** A value that no stage has. */
const noStage = 'no such stage';

/** Two updates, the second of a value that is refused. */
async function goodAndBad(scratch: PortalScratch): Promise<{ good: Input; bad: Input; stage: string }> {
  const stage = await scratch.own('stage');
  const [one, other] = await scratch.made({}, {});
  const input = (id = '', value: string, trace: string) => ({ id, trace, properties: { [stage]: value } });
  return { good: input(one?.id, 'Won', 'good'), bad: input(other?.id, noStage, 'bad'), stage };
}

const withoutTrace = ({ id, properties }: Input): Input => ({ id, properties });

/** Batches: what becomes of each input, and how the answer tells. */
export const batchChecks: readonly PortalCheck[] = [
  {
    title: 'an upsert by the unique property makes what is not there and changes what is, told by `new`',
    async run(scratch) {
      const there = await scratch.one();
      const unique = scratch.unique();
      const inputs = [there.unique, unique].map((id) => ({
        id,
        trace: id,
        properties: { name: scratch.mark },
      }));
      const { results, status } = batchOf(await scratch.post('upsert', inputs));
      const seen = new Map(results.map((shown) => [shown.properties[scratch.idProperty], shown]));
      same('the one that was there is new', seen.get(there.unique)?.new, false);
      same('its record id', seen.get(there.unique)?.id, there.id);
      same('the other is new', seen.get(unique)?.new, true);
      return `${status}, and each result shows the unique property`;
    },
  },
  {
    title: 'each result of an upsert and of an update has its trace id, whatever the order',
    async run(scratch) {
      const inputs = Array.from({ length: 20 }, () => scratch.unique()).map((id) => ({
        id,
        trace: `trace of ${id}`,
        properties: { name: scratch.mark },
      }));
      const made = batchOf(await scratch.post('upsert', inputs)).results;
      const traces = (results: typeof made) => results.map((shown) => shown.objectWriteTraceId ?? 'none');
      const sent = inputs.map(({ trace }) => trace);
      same('trace ids of the upsert', traces(made).toSorted(), sent.toSorted());
      for (const shown of made)
        same(
          'a trace id',
          shown.objectWriteTraceId,
          `trace of ${shown.properties[scratch.idProperty] ?? 'nobody'}`,
        );
      const again = made.map(({ id }) => ({ id, trace: `trace of ${id}`, properties: { city: 'Ulm' } }));
      const updated = batchOf(await scratch.post('update', again)).results;
      for (const shown of updated)
        same('a trace id of the update', shown.objectWriteTraceId, `trace of ${shown.id}`);
      same('results of the update', updated.length, inputs.length);
      const inOrder = JSON.stringify(traces(made)) === JSON.stringify(sent);
      return inOrder ? 'the order was that of the inputs' : 'the order was another than that of the inputs';
    },
  },
  {
    title: 'with trace ids a refused value fails alone: 207, its trace id in the context of its error',
    async run(scratch) {
      const { good, bad, stage } = await goodAndBad(scratch);
      const reply = batchOf(await scratch.post('update', [good, bad]));
      const [error] = reply.errors;
      same(
        'results',
        reply.results.map(({ id }) => id),
        [good.id],
      );
      same('errors', reply.errors.length, 1);
      same('numErrors', reply.numErrors, 1);
      same('the trace id of the error', error?.context?.['objectWriteTraceId'], ['bad']);
      same('the good value', (await scratch.shown(good.id, [stage]))?.properties[stage], 'Won');
      same('status', reply.status, 207);
      return error === undefined ? '' : codesOf(error);
    },
  },
  {
    title: 'the same of an upsert: the good one is made, the bad one is not',
    async run(scratch) {
      const stage = await scratch.own('stage');
      const inputs = ['Won', noStage].map((value) => {
        const id = scratch.unique();
        return { id, trace: id, properties: { name: scratch.mark, [stage]: value } };
      });
      const [good, bad] = inputs;
      const reply = batchOf(await scratch.post('upsert', inputs));
      same(
        'made',
        reply.results.map((shown) => shown.properties[scratch.idProperty]),
        [good?.id],
      );
      same('trace id of the error', reply.errors[0]?.context?.['objectWriteTraceId'], [bad?.id]);
      same('the bad one', await scratch.shown(bad?.id ?? '', ['name'], scratch.idProperty), null);
      same('status', reply.status, 207);
      return '207';
    },
  },
  {
    title: 'all fail with trace ids: 207 without results',
    async run(scratch) {
      const { bad } = await goodAndBad(scratch);
      const reply = await scratch.post('update', [bad]);
      same('status', reply.status, 207);
      same('results', batchOf(reply).results.length, 0);
      return describeReply(reply);
    },
  },
  {
    title: 'without trace ids a refused value fails the whole batch: 400, nothing is written',
    async run(scratch) {
      const { good, bad, stage } = await goodAndBad(scratch);
      const words = refusedWith(400, await scratch.post('update', [good, bad].map(withoutTrace)));
      same('the good value', (await scratch.shown(good.id, [stage]))?.properties[stage], null);
      return words;
    },
  },
  {
    title: 'an update of a record that is gone fails alone with OBJECT_NOT_FOUND, and makes none',
    async run(scratch) {
      const [there, gone] = await scratch.made({}, {});
      await scratch.archive([gone?.id ?? '']);
      const inputs = [there, gone].map((made) => ({
        id: made?.id ?? '',
        trace: made?.id ?? '',
        properties: { city: 'Ulm' },
      }));
      const reply = batchOf(await scratch.post('update', inputs));
      same(
        'results',
        reply.results.map(({ id }) => id),
        [there?.id],
      );
      same('category', reply.errors[0]?.category, 'OBJECT_NOT_FOUND');
      same('trace id of the error', reply.errors[0]?.context?.['objectWriteTraceId'], [gone?.id]);
      return `${reply.status}`;
    },
  },
  {
    title: 'an update of a record that is gone, without trace id: 404, which names the id',
    async run(scratch) {
      const { id } = await scratch.one();
      await scratch.archive([id]);
      const reply = await scratch.post('update', [{ id, properties: { city: 'Ulm' } }]);
      const words = refusedWith(404, reply);
      same('category', codesOfReply(reply), 'OBJECT_NOT_FOUND');
      if (!JSON.stringify(reply.body).includes(id)) throw new Differs(`the id is not named: ${words}`);
      return words;
    },
  },
  {
    title: 'an update by record id changes what is sent, shows it, and leaves the rest',
    async run(scratch) {
      const { id } = await scratch.one({ city: 'Ulm', state: 'BW' });
      const reply = batchOf(await scratch.post('update', [{ id, trace: '0', properties: { city: 'Bonn' } }]));
      same('the city in the answer', reply.results[0]?.properties['city'], 'Bonn');
      const shown = await scratch.shown(id, ['city', 'state']);
      same('what is read', [shown?.properties['city'], shown?.properties['state']], ['Bonn', 'BW']);
      return `${reply.status}`;
    },
  },
  {
    title: 'two inputs with one id are refused with 400, in an upsert, an update and a read',
    async run(scratch) {
      const { id, unique } = await scratch.one();
      const twice = (key: string, trace: string) => ({ id: key, trace, properties: { city: trace } });
      const words = refusedWith(400, await scratch.post('upsert', [twice(unique, 'a'), twice(unique, 'b')]));
      refusedWith(400, await scratch.post('update', [twice(id, 'a'), twice(id, 'b')]));
      refusedWith(400, await scratch.read([id, id], ['name']));
      return words;
    },
  },
  {
    title: `a batch takes ${mostInputs} inputs, and ${mostInputs + 1} are refused with 400`,
    async run(scratch) {
      const { unique } = await scratch.one();
      const ids = (count: number) => [unique, ...Array.from({ length: count - 1 }, (_, n) => `none-${n}`)];
      const { results } = batchOf(await scratch.read(ids(mostInputs), ['name'], scratch.idProperty));
      same('found', results.length, 1);
      return refusedWith(400, await scratch.read(ids(mostInputs + 1), ['name'], scratch.idProperty));
    },
  },
  {
    title: 'batch/read: what is not there is named in `errors` (207), what is there is in the results',
    async run(scratch) {
      const { id, unique } = await scratch.one();
      const byUnique = batchOf(
        await scratch.read([unique, 'leadsync-verify-none'], ['name'], scratch.idProperty),
      );
      same(
        'found by the unique property',
        byUnique.results.map((shown) => shown.id),
        [id],
      );
      same('ids that are missing', byUnique.errors[0]?.context?.['ids'], ['leadsync-verify-none']);
      same('status', byUnique.status, 207);
      const byId = batchOf(await scratch.read([id, '1'], ['name']));
      same(
        'found by record id',
        byId.results.map((shown) => shown.id),
        [id],
      );
      same('record ids that are missing', byId.errors[0]?.context?.['ids'], ['1']);
      return byUnique.errors[0]?.category ?? 'no category';
    },
  },
  {
    title: 'an idProperty that is not unique is refused with 400, in an upsert and a read',
    async run(scratch) {
      const text = await scratch.own('text');
      const { unique } = await scratch.one();
      const input = { id: unique, trace: '0', properties: { city: 'Ulm' } };
      const words = refusedWith(400, await scratch.post('upsert', [input], text));
      refusedWith(400, await scratch.read([unique], ['name'], text));
      return words;
    },
  },
  {
    title: 'a value that another company has of the unique property is refused: CONFLICTING_UNIQUE_VALUE',
    async run(scratch) {
      const [one, other] = await scratch.made({}, {});
      const properties = { [scratch.idProperty]: other?.unique ?? '' };
      const reply = batchOf(await scratch.post('update', [{ id: one?.id ?? '', trace: '0', properties }]));
      same('results', reply.results.length, 0);
      same('codes', reply.errors.map(codesOf), ['CONFLICTING_UNIQUE_VALUE']);
      return reply.errors[0]?.message ?? '';
    },
  },
  {
    title: 'a create whose id another company has fails alone, told by its trace id, and changes nothing',
    async run(scratch) {
      const there = await scratch.one({ city: 'Ulm' });
      const inputs = [there.unique, scratch.unique()].map((id) => ({
        id,
        trace: id,
        properties: { [scratch.idProperty]: id, name: scratch.mark, city: 'Bonn' },
      }));
      const reply = batchOf(await scratch.post('create', inputs));
      const made = reply.results.map(({ properties }) => properties[scratch.idProperty]);
      same('made', made, [inputs[1]?.id]);
      same('codes', reply.errors.map(codesOf), ['CONFLICTING_UNIQUE_VALUE']);
      same('trace id of the error', reply.errors[0]?.context?.['objectWriteTraceId'], [there.unique]);
      same('the one that was there', (await scratch.shown(there.id, ['city']))?.properties['city'], 'Ulm');
      return `${reply.status}, ${reply.errors[0]?.message ?? ''}`;
    },
  },
  {
    title: 'unique values are told apart by upper and lower case',
    async run(scratch) {
      const upper = `${scratch.unique()}-ABC`;
      const lower = upper.toLowerCase();
      const made = [upper, lower].map((id) => ({ id, trace: id, properties: { name: scratch.mark } }));
      const reply = batchOf(await scratch.post('upsert', made));
      same('companies', new Set(reply.results.map(({ id }) => id)).size, 2);
      const shown = await scratch.shown(upper, [scratch.idProperty], scratch.idProperty);
      same('what is found', shown?.properties[scratch.idProperty], upper);
      return 'two companies';
    },
  },
  {
    title: 'a company without a name is taken',
    async run(scratch) {
      const id = scratch.unique();
      const reply = batchOf(await scratch.post('upsert', [{ id, trace: '0', properties: { city: 'Ulm' } }]));
      const shown = await scratch.shown(reply.results[0]?.id ?? '', ['name']);
      same('its name', shown?.properties['name'], null);
      return `${reply.status}`;
    },
  },
];
