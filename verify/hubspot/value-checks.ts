import { historiesReply } from '../../src/targets/hubspot/hubspot-replies.ts';
import { same } from '../check.ts';
import { codesOf, batchOf, describeReply, refusedWith } from './portal-client.ts';
import type { PortalCheck } from './portal-check.ts';
import type { PortalScratch } from './portal-scratch.ts';

/** A value that is kept as another is told with that. */
async function keeps(scratch: PortalScratch, property: string, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) same(`${named(text)} is read as`, await scratch.stored(property, text), text);
}

/** Throws Differs unless the text is refused, whatever the code. */
async function refuses(scratch: PortalScratch, property: string, text: string): Promise<string> {
  const came = await scratch.stored(property, text);
  if (came?.startsWith('refused: ') === true) return came;
  same(`${named(text)} is`, came === null ? 'kept as nothing' : `kept as ${came}`, 'refused');
  return '';
}

const named = (text: string): string =>
  text.length > 60 ? `a text of ${text.length}` : JSON.stringify(text);

/** Values: what is kept of a text, by the type of the property. */
export const valueChecks: readonly PortalCheck[] = [
  {
    title: 'white space at the ends of a text is kept',
    async run(scratch) {
      await keeps(scratch, await scratch.own('text'), '  two before, two after  ', 'a line end\n', '\ta tab');
      return 'spaces, a line end, a tab';
    },
  },
  {
    title: 'white space at the ends of a unique value is kept, and such a value is not found without it',
    async run(scratch) {
      const unique = scratch.unique();
      const input = { id: ` ${unique} `, trace: '0', properties: { name: scratch.mark } };
      const { results } = batchOf(await scratch.post('upsert', [input]));
      const shown = await scratch.shown(results[0]?.id ?? '', [scratch.idProperty]);
      same('it is read as', shown?.properties[scratch.idProperty], input.id);
      same('what is found without it', await scratch.shown(unique, ['name'], scratch.idProperty), null);
      return 'two different values';
    },
  },
  {
    title: 'texts come back as they were sent: tags, formulas, other scripts, numbers as text',
    async run(scratch) {
      const texts = [
        '<b>bold</b> & "quoted"',
        '=1+2',
        '👩‍💻 Yılmaz',
        'שלום',
        '0042',
        'one\ntwo',
        'one\r\ntwo',
      ];
      await keeps(scratch, await scratch.own('text'), ...texts);
      return `${texts.length} texts`;
    },
  },
  {
    title: 'name, city and state, which every portal has, keep a text as it is (no option, no other case)',
    async run(scratch) {
      for (const property of ['name', 'city', 'state'])
        same(
          property,
          await scratch.stored(property, 'leadsync verify NRW köln'),
          'leadsync verify NRW köln',
        );
      return 'all three';
    },
  },
  {
    title: 'a text of 65,536 characters is kept, one more is refused',
    async run(scratch) {
      const text = await scratch.own('text');
      await keeps(scratch, text, 'ü'.repeat(65_536));
      return refuses(scratch, text, 'ü'.repeat(65_537));
    },
  },
  {
    title: 'an empty string clears a value of any type, which is then read as null',
    async run(scratch) {
      const values = {
        [await scratch.own('text')]: 'a text',
        [await scratch.own('moment')]: '2026-07-01T07:30:00.123Z',
        [await scratch.own('day')]: '2026-07-01',
        [await scratch.own('stage')]: 'Won',
        [await scratch.own('number')]: '42',
      };
      const { id } = await scratch.one(values);
      const empty = Object.fromEntries(Object.keys(values).map((name) => [name, '']));
      const reply = batchOf(await scratch.post('update', [{ id, trace: '0', properties: empty }]));
      same('errors', reply.errors.map(codesOf), []);
      const shown = await scratch.shown(id, Object.keys(values));
      for (const name of Object.keys(values)) same(name, shown?.properties[name], null);
      return `the answer to the write shows ${JSON.stringify(Object.values(reply.results[0]?.properties ?? {})[0] ?? null)}`;
    },
  },
  {
    title: 'a datetime keeps milliseconds: ISO comes back as it was sent, and so do epoch ms',
    async run(scratch) {
      const moment = await scratch.own('moment');
      await keeps(
        scratch,
        moment,
        '2026-07-01T07:30:00.123Z',
        '2026-01-01T00:00:00.000Z',
        '1999-12-31T23:59:59.999Z',
      );
      const epoch = String(Date.parse('2026-07-01T07:30:00.123Z'));
      same('epoch ms are read as', await scratch.stored(moment, epoch), '2026-07-01T07:30:00.123Z');
      return 'to the millisecond';
    },
  },
  {
    title: 'a datetime refuses a day, a moment without a zone, and words',
    async run(scratch) {
      const moment = await scratch.own('moment');
      const said = [];
      for (const text of ['2026-07-01', '2026-07-01T07:30:00', 'tomorrow'])
        said.push(await refuses(scratch, moment, text));
      return said[0] ?? '';
    },
  },
  {
    title: 'a date takes a day, and midnight UTC in epoch ms, and shows the day',
    async run(scratch) {
      const day = await scratch.own('day');
      await keeps(scratch, day, '2026-07-01', '2028-02-29');
      const midnight = String(Date.parse('2026-07-01T00:00:00Z'));
      same('midnight in epoch ms is read as', await scratch.stored(day, midnight), '2026-07-01');
      return 'the day';
    },
  },
  {
    title: 'a date refuses any other time of a day, ISO text with a time, and a day that no month has',
    async run(scratch) {
      const day = await scratch.own('day');
      const noon = String(Date.parse('2026-07-01T12:00:00Z'));
      const said = [];
      for (const text of [noon, '2026-07-01T00:00:00Z', '2026-02-30'])
        said.push(await refuses(scratch, day, text));
      return said[0] ?? '';
    },
  },
  {
    title: 'an enumeration refuses what is none of its options, also in another case: INVALID_OPTION',
    async run(scratch) {
      const stage = await scratch.own('stage');
      await keeps(scratch, stage, 'Won');
      same('another case is', await scratch.stored(stage, 'won'), 'refused: INVALID_OPTION');
      same('another value is', await scratch.stored(stage, 'Lost'), 'refused: INVALID_OPTION');
      return 'Won is kept, won and Lost are not';
    },
  },
  {
    title: 'a number comes back as it was sent, and words are refused',
    async run(scratch) {
      const number = await scratch.own('number');
      await keeps(scratch, number, '42', '-1.5', '0', '1.50');
      return refuses(scratch, number, 'forty-two');
    },
  },
  {
    title: 'a bool keeps true and false, and refuses yes',
    async run(scratch) {
      const flag = await scratch.own('flag');
      await keeps(scratch, flag, 'true', 'false');
      return refuses(scratch, flag, 'yes');
    },
  },
  {
    title: 'null instead of a text is refused with 400',
    async run(scratch) {
      const { id } = await scratch.one({ city: 'Ulm' });
      const reply = await scratch.post('update', [{ id, trace: '0', properties: { city: null } }]);
      if (reply.status === 400) return refusedWith(400, reply);
      same('errors', batchOf(reply).errors.length, 1);
      return describeReply(reply);
    },
  },
  {
    title:
      'the history of a property tells each value, with a time and by what means it was set; of fifty records',
    async run(scratch) {
      const property = await scratch.own('text');
      const { id } = await scratch.one({ [property]: 'first' });
      await scratch.post('update', [{ id, trace: '0', properties: { [property]: 'second' } }]);
      const ids = [id, ...Array.from({ length: 49 }, (_, nth) => String(nth + 1))];
      const { body } = await scratch.read(ids, [], undefined, [property]);
      const versions = historiesReply.safeParse(body).data?.get(id)?.[property] ?? [];
      same('values', new Set(versions.map(({ value }) => value)).size, 2);
      const [one] = versions;
      same('the time can be read', Number.isNaN(Date.parse(one?.timestamp ?? '')), false);
      return `${one?.sourceType} ${one?.sourceId}, newest first: ${one?.value === 'second'}`;
    },
  },
];
