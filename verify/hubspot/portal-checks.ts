import { Differs, same } from '../check.ts';
import { batchOf, codesOf, refusedWith } from './portal-client.ts';
import type { PortalCheck } from './portal-check.ts';
import { definitionOf, option } from './definition.ts';
import { companiesPath, definitionsPath, ticketsPath } from './portal-scratch.ts';

const text = { type: 'string', fieldType: 'text' };
const unknown = 'leadsync_verify_that_is_not_there';

/** As long as the names of a large portal's properties. */
const manyNames = Array.from({ length: 200 }, (_, n) => `${unknown}_${n}`);

function listPath(names: readonly string[]): string {
  return `${companiesPath}?limit=1&archived=false&properties=${names.join(',')}`;
}

/** Properties, lists, the recycle bin, associations and headers. */
export const portalChecks: readonly PortalCheck[] = [
  {
    title: 'a property can be made unique, and says so',
    async run(scratch) {
      const shown = await scratch.definition(scratch.idProperty);
      same('hasUniqueValue', shown.hasUniqueValue, true);
      return `${shown.name}, ${shown.type}`;
    },
  },
  {
    title: 'a property that was made a moment ago can be written and read at once',
    async run(scratch) {
      const { id } = await scratch.one();
      const name = scratch.newName('fresh');
      definitionOf(await scratch.create({ ...text, name }));
      const reply = await scratch.post('update', [{ id, trace: '0', properties: { [name]: 'here' } }]);
      same('errors of the write', batchOf(reply).errors.map(codesOf), []);
      same('what is read', (await scratch.shown(id, [name]))?.properties[name], 'here');
      return 'without waiting';
    },
  },
  {
    title: 'a property that is there already: 409',
    async run(scratch) {
      return refusedWith(409, await scratch.create({ ...text, name: await scratch.own('text') }));
    },
  },
  {
    title: 'a property that was archived and is made anew comes back as it was, with its values',
    async run(scratch) {
      const name = scratch.newName('again');
      const { label } = await scratch.define({ ...text, name });
      const { id } = await scratch.one({ [name]: 'kept' });
      const path = `${definitionsPath}/${name}`;
      same('status of archiving', (await scratch.ask('DELETE', path)).status, 204);
      same('a company shows it', (await scratch.shown(id, [name]))?.properties[name] ?? 'not', 'not');
      const reply = await scratch.create({ ...text, name, label: 'Another label' });
      same('its label', definitionOf(reply).label, label);
      same('the value', (await scratch.shown(id, [name]))?.properties[name], 'kept');
      return `${reply.status}`;
    },
  },
  {
    title: 'options: what is sent replaces the list, so the live list with one more adds one',
    async run(scratch) {
      const name = scratch.newName('options');
      const made = { name, type: 'enumeration', fieldType: 'select', options: [option('A'), option('B')] };
      const live = await scratch.define(made);
      const path = `${definitionsPath}/${name}`;
      const more = [...live.options, option('C')];
      const values = async () => (await scratch.definition(name)).options.map(({ value }) => value);
      definitionOf(await scratch.ask('PATCH', path, { options: more }));
      same('options after one more', await values(), ['A', 'B', 'C']);
      same('a value of the new one is', await scratch.stored(name, 'C'), 'C');
      definitionOf(await scratch.ask('PATCH', path, { options: [option('A')] }));
      same('options after one was sent', await values(), ['A']);
      return 'A, B and C; then A alone';
    },
  },
  {
    title: 'properties that are not there are left out when reading, in a list and in a batch',
    async run(scratch) {
      const { id } = await scratch.one();
      const shown = await scratch.shown(id, ['name', unknown]);
      same('a batch shows it', unknown in (shown?.properties ?? {}), false);
      const page = batchOf(await scratch.ask('GET', listPath(['name', unknown])));
      same('a list shows it', unknown in (page.results[0]?.properties ?? {}), false);
      same('a list shows the name', 'name' in (page.results[0]?.properties ?? {}), true);
      return 'left out, the others are shown';
    },
  },
  {
    title: 'a property that is not there is refused when writing: PROPERTY_DOESNT_EXIST',
    async run(scratch) {
      same('it is', await scratch.stored(unknown, 'a'), 'refused: PROPERTY_DOESNT_EXIST');
      return 'refused';
    },
  },
  {
    title: `a list request takes the names of ${manyNames.length} properties`,
    async run(scratch) {
      const path = listPath([...manyNames, 'name']);
      const page = batchOf(await scratch.ask('GET', path));
      same('the last of them is shown', 'name' in (page.results[0]?.properties ?? {}), true);
      return `${path.length} characters`;
    },
  },
  {
    title: 'batch/read takes all properties that the portal has, and shows each',
    async run(scratch) {
      const { id } = await scratch.one();
      const names = (await scratch.definitions()).map(({ name }) => name);
      const shown = (await scratch.shown(id, names))?.properties ?? {};
      same(
        'left out',
        names.filter((name) => shown[name] === undefined),
        [],
      );
      return `${names.length} properties`;
    },
  },
  {
    title: 'a new company is listed at once, and an archived one is no more',
    async run(scratch) {
      const { id } = await scratch.one();
      same('it is listed', (await scratch.listed(id, false))?.id, id);
      await scratch.archive([id]);
      same('it is listed then', await scratch.listed(id, false), null);
      return 'both at once';
    },
  },
  {
    title: 'archiving: 204, also of what is archived; it is then not found by either id',
    async run(scratch) {
      const { id, unique } = await scratch.one();
      same('status', (await scratch.archive([id])).status, 204);
      same('status of the second time', (await scratch.archive([id])).status, 204);
      same('found by record id', await scratch.shown(id, ['name']), null);
      same('found by the unique property', await scratch.shown(unique, ['name'], scratch.idProperty), null);
      return '204 both times';
    },
  },
  {
    title: 'the list of archived companies shows it at once, with its unique value',
    async run(scratch) {
      const { id, unique } = await scratch.one();
      await scratch.archive([id]);
      const shown = await scratch.listed(id, true);
      if (shown === null) throw new Differs('it is not in the list');
      same('its unique value', shown.properties[scratch.idProperty], unique);
      same('archived', shown.archived, true);
      return 'it is there';
    },
  },
  {
    title: 'the unique value of an archived company is free: an upsert makes a new one beside it',
    async run(scratch) {
      const { id, unique } = await scratch.one();
      await scratch.archive([id]);
      const input = { id: unique, trace: '0', properties: { name: scratch.mark } };
      const reply = batchOf(await scratch.post('upsert', [input]));
      same('errors', reply.errors.map(codesOf), []);
      same('it is new', reply.results[0]?.new, true);
      if (reply.results[0]?.id === id) throw new Differs('the archived one came back');
      return 'another record id';
    },
  },
  {
    title: 'a company without tickets is none of the results when its tickets are asked for',
    async run(scratch) {
      const { id } = await scratch.one();
      const reply = batchOf(await scratch.ask('POST', ticketsPath, { inputs: [{ id }] }));
      same('results', reply.results.length, 0);
      for (const { category } of reply.errors) same('category', category, 'OBJECT_NOT_FOUND');
      return `${reply.status}, ${reply.errors.length} errors`;
    },
  },
  {
    title: 'answers have the headers of the limits of ten seconds and of the day',
    async run(scratch) {
      const { headers } = await scratch.ask('GET', listPath(['name']));
      const names = ['Max', 'Remaining', 'Interval-Milliseconds', 'Daily', 'Daily-Remaining'];
      const found = names.map(
        (name) => [name, headers.get(`x-hubspot-ratelimit-${name.toLowerCase()}`)] as const,
      );
      const told = found.map(([name, value]) => `${name} ${value ?? 'absent'}`).join(', ');
      if (found.some(([, value]) => value === null || !/^\d+$/.test(value))) throw new Differs(told);
      same('interval', headers.get('x-hubspot-ratelimit-interval-milliseconds'), '10000');
      return told;
    },
  },
];
