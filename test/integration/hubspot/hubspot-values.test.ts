import { describe, expect, test } from 'vitest';
import type { FieldMapping } from '../../../src/core/lead/mapping.ts';
import { type HubSpotHarness, makeHubSpotHarness } from '../../contract/hubspot-harness.ts';
import { append, contractFields, never, readAll, update } from '../../contract/target-harness.ts';

const extra = (field: string, type: FieldMapping['type'] = 'text'): FieldMapping => ({
  field,
  column: field,
  type,
  direction: 'two-way',
});
const fields = [
  ...contractFields,
  extra('day', 'instant'),
  extra('day_text'),
  extra('moment_text', 'instant'),
  extra('stage'),
  extra('tags'),
  extra('count'),
  extra('flag'),
  extra('datetime_text'),
];

async function makePortal(trim = false): Promise<HubSpotHarness> {
  const harness = await makeHubSpotHarness({ trim });
  harness.edit(() => [
    ['Lead ID', 'Company', 'City', 'Next follow-up'],
    ['id-a', 'Anna AG', '', ''],
  ]);
  const { person } = harness.sandbox;
  const text = { type: 'string', fieldType: 'text' } as const;
  person.addProperty({ name: 'day', type: 'date', fieldType: 'date' });
  person.addProperty({ name: 'day_text', type: 'date', fieldType: 'date' });
  person.addProperty({ name: 'moment_text', ...text });
  person.addProperty({ name: 'stage', type: 'enumeration', fieldType: 'select', options: ['new', 'won'] });
  person.addProperty({ name: 'tags', type: 'enumeration', fieldType: 'checkbox', options: ['a', 'b'] });
  person.addProperty({ name: 'count', type: 'number', fieldType: 'number' });
  person.addProperty({ name: 'flag', type: 'bool', fieldType: 'booleancheckbox' });
  person.addProperty({ name: 'datetime_text', type: 'datetime', fieldType: 'date' });
  return harness;
}

const shown = ({ sandbox }: HubSpotHarness, property: string) =>
  sandbox.person.companies()[0]?.properties[property];

describe('a value', () => {
  test.each([
    ['due', 'lead_next_follow_up', '2026-11-21T08:30:00.123Z', '2026-11-21T08:30:00.123Z'],
    // Midnight in Berlin, in winter and in summer.
    ['day', 'day', '2026-11-20T23:00:00.000Z', '2026-11-21'],
    ['day', 'day', '2026-07-20T22:00:00.000Z', '2026-07-21'],
    ['day_text', 'day_text', '2026-11-21', '2026-11-21'],
    ['moment_text', 'moment_text', '2026-11-21T08:30:00.000Z', '2026-11-21T08:30:00.000Z'],
    ['stage', 'stage', 'won', 'won'],
    ['tags', 'tags', 'b;a', 'b;a'],
    ['count', 'count', '-12.5', '-12.5'],
    ['flag', 'flag', 'false', 'false'],
    ['name', 'name', ' =1+1\n"ü" ', ' =1+1\n"ü" '],
    ['name', 'name', 'x'.repeat(65_536), 'x'.repeat(65_536)],
  ])('that fits is kept and read back: %s', async (field, property, value, stored) => {
    await using harness = await makePortal();
    const target = harness.target({ fields });
    for (const [wanted, there] of [[value, stored] as const, [null, null] as const]) {
      expect(await target.write([update('id-a', {}, { [field]: wanted })], never())).toMatchObject([
        { status: 'done' },
      ]);
      expect(shown(harness, property)).toBe(there);
      expect((await readAll(target))[0]?.cells[field]).toBe(wanted);
    }
    expect(await target.write([append('id-n', { [field]: value })], never())).toMatchObject([
      { status: 'done' },
    ]);
    expect((await readAll(target))[1]?.cells[field]).toBe(value);
  });

  test.each([
    ['day', '2026-11-21T00:00:00.000Z', /holds no time\. Map a datetime property/],
    ['day_text', '21.11.2026', /YYYY-MM-DD/],
    ['day_text', '2026-02-30', /YYYY-MM-DD/],
    ['stage', 'Won', /"Won" is none of the options of the property stage.*"new", "won".*check --fix/],
    ['tags', 'a;c', /none of the options/],
    ['count', '007', /holds a number/],
    ['count', '1e400', /holds a number/],
    ['flag', 'yes', /true or false/],
    ['datetime_text', 'tomorrow', /date and a time/],
    ['name', 'x'.repeat(65_537), /at most 65536 characters/],
    ['name', 'half \ud800', /half a character/],
  ])('that does not fit is held before anything is sent: %s', async (field, value, message) => {
    await using harness = await makePortal();
    const target = harness.target({ fields });
    const held = {
      status: 'held',
      code: 'target.value-not-storable',
      message: expect.stringMatching(message),
    };
    const changes = [update('id-a', {}, { [field]: value }), append('id-n', { [field]: value })];
    expect(await target.write(changes, never())).toMatchObject([held, held]);
    expect(harness.sandbox.requests.map(({ kind }) => kind)).toEqual(['properties', 'batch-read']);
  });

  test('that HubSpot stores in a spelling of its own is done; without effect it is held', async () => {
    await using harness = await makePortal(true);
    const target = harness.target({ fields });
    const outcomes = await target.write(
      [
        update('id-a', {}, { name: ' Anna SE ' }),
        update('id-a', {}, { stage: 'won' }),
        append('id-n', { name: 'New', city: 'Rome ' }),
      ],
      never(),
    );
    expect(outcomes).toMatchObject([{ status: 'done' }, { status: 'done' }, { status: 'done' }]);
    expect([shown(harness, 'name'), shown(harness, 'stage')]).toEqual(['Anna SE', 'won']);
    const again = await harness
      .target({ fields })
      .write([update('id-a', {}, { name: 'Anna SE ' }), update('id-a', {}, { stage: 'new' })], never());
    expect(again).toMatchObject([
      {
        status: 'held',
        code: 'target.value-not-storable',
        message:
          'HubSpot stored something other than what was written: name shows "Anna SE". The earlier value was restored.',
      },
      { status: 'done' },
    ]);
    expect([shown(harness, 'name'), shown(harness, 'stage')]).toEqual(['Anna SE', 'new']);
  });

  test('that a person typed is read as what it means', async () => {
    await using harness = await makePortal();
    const id = harness.sandbox.person.companies()[0]?.id ?? '';
    harness.sandbox.person.edit(id, { day: '2026-07-21', moment_text: 'next Tuesday', stage: 'new' });
    const [row] = await readAll(harness.target({ fields }));
    expect(row?.cells).toMatchObject({
      day: '2026-07-20T22:00:00.000Z',
      moment_text: { unreadable: 'next Tuesday' },
      stage: 'new',
      count: null,
    });
    harness.sandbox.person.edit(id, { moment_text: '21.11.2026 09:30' });
    expect((await readAll(harness.target({ fields })))[0]?.cells['moment_text']).toBe(
      '2026-11-21T08:30:00.000Z',
    );
  });
});
