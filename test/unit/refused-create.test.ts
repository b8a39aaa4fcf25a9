import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import type { Changes } from '../../src/core/merge/action.ts';
import { undoneMessages } from '../../src/core/merge/holds.ts';
import {
  existingLead,
  existsReason,
  overwritten,
  type Refused,
  RefusedCreates,
  refusedMessage,
  sentContent,
  sentKey,
  type Sighting,
  undoneRow,
} from '../../src/core/merge/refused-create.ts';
import { fields, policy } from './pair-state.ts';
import { lawRuns } from '../support/law-runs.ts';

const sighting = (known: Partial<Sighting> = {}): Sighting => ({
  leadId: 'lead-1',
  connection: 'main',
  row: 2,
  getsRow: false,
  cells: { companyName: 'Acme' },
  since: 100,
  ...known,
});
const at = 1_000;

describe('the id in a reply to a create', () => {
  test.each<[string, readonly Sighting[], Partial<Sighting> | null]>([
    ['met nowhere is new', [], null],
    ['of a known pair is not', [sighting()], { connection: 'main' }],
    ['of a pair of another connection is not', [sighting({ connection: 'wien' })], { connection: 'wien' }],
    ['in the scan of the run is not', [sighting({ since: null, row: null })], { row: null }],
    ['that another connection met since the request left is new', [sighting({ since: at })], null],
    [
      'met twice is told by its own table, and by its row',
      [sighting({ connection: 'wien' }), sighting({ row: null }), sighting({ row: 7, since: null })],
      { connection: 'main', row: 7 },
    ],
  ])('%s', (_, sightings, expected) => {
    const found = existingLead(sightings, at, 'main');
    if (expected === null) expect(found).toBeNull();
    else expect(found).toMatchObject(expected);
  });

  test('is new exactly when nothing met it before, whatever the order', () => {
    const met = fc.array(
      fc.record({ connection: fc.constantFrom('main', 'wien'), since: fc.option(fc.nat(2 * at)) }),
    );
    fc.assert(
      fc.property(met, (known) => {
        const sightings = known.map((one) => sighting(one));
        const isNew = sightings.every(({ since }) => since !== null && since >= at);
        expect(existingLead(sightings, at, 'main') === null).toBe(isNew);
        expect(existingLead(sightings.toReversed(), at, 'main') === null).toBe(isNew);
      }),
      { numRuns: lawRuns(200) },
    );
  });
});

describe('what a create wrote into a lead that was there', () => {
  const sent: Values = { companyName: 'Acme', stage: 'won' };
  test.each<[string, Cells, Cells, Record<string, unknown>]>([
    ['nothing, when it shows what it showed', { stage: 'new' }, { stage: 'new' }, {}],
    ['a value that was sent', { stage: 'new' }, { stage: 'won' }, { stage: { from: 'new', to: 'won' } }],
    ['a value into an empty field', { stage: null }, { stage: 'won' }, { stage: { from: null, to: 'won' } }],
    ['not what somebody else changed meanwhile', { stage: 'new' }, { stage: 'lost' }, {}],
    ['not what nobody knows how it was', {}, { stage: 'won' }, {}],
    ['not what was not sent', { city: 'Ulm' }, { city: 'Linz' }, {}],
  ])('%s', (_, before, stored, expected) => {
    expect(overwritten(sent, before, stored)).toMatchObject(expected);
    expect(Object.keys(overwritten(sent, before, stored))).toEqual(Object.keys(expected));
  });
});

describe('a person is told', () => {
  const again =
    'It is sent again when the row changes, or when you decide so: leadsync conflicts shows the number for leadsync resolve NUMBER --use row';
  const other = 'delete the row; if it is another company, change its name';
  const written = {
    stage: { from: 'new', to: 'won', rule: 'overwritten' },
    city: { from: null, to: 'Ulm', rule: 'overwritten' },
  } as const;
  test.each<[string, Partial<Sighting>, Changes, string]>([
    [
      'which row has it',
      {},
      {},
      `("Acme", row 2), which was there already. If the row is that lead, ${other}`,
    ],
    [
      'which connection has it',
      { connection: 'wien' },
      {},
      `("Acme", connection wien, row 2), which was there already. If the row is that lead, ${other}`,
    ],
    [
      'which connection has it without a row that is known',
      { connection: 'wien', row: null },
      {},
      `("Acme", connection wien), which was there already. If the row is that lead, ${other}`,
    ],
    [
      'that nothing has it',
      { row: null },
      {},
      '("Acme", it has no row), which was there already. If the row is that lead, type lead-1 into its id cell; if it is another company, change its name',
    ],
    [
      'that its row is on its way',
      { row: null, getsRow: true },
      {},
      `("Acme", its row is written in this run), which was there already. If the row is that lead, ${other}`,
    ],
    [
      'without a name',
      { cells: {} },
      {},
      `(row 2), which was there already. If the row is that lead, ${other}`,
    ],
    [
      'what was overwritten, and where that stands',
      {},
      written,
      `("Acme", row 2), which was there already. It overwrote Phase, which was "new"; city, which was (empty) (leadsync why lead-1 shows it). If the row is that lead, ${other}`,
    ],
  ])('%s', (_, one, overwrote, sentence) => {
    const why = existsReason(sighting(one), overwrote, 'main', [{ field: 'stage', column: 'Phase' }]);
    expect(refusedMessage(9, { code: 'lead.exists', why })).toBe(
      `no lead was created from row 9: the service answered with lead lead-1 ${sentence}. ${again}`,
    );
  });

  test('that an undo took the lead, which has its own ways out', () => {
    expect(refusedMessage(9, undoneRow)).toBe(undoneMessages['row.undone']);
  });
});

describe('the content of a create', () => {
  test('is what travels, can be read and is not empty', () => {
    const some = policy({
      fields: fields.map((one) => (one.field === 'stage' ? { ...one, direction: 'to-target' } : one)),
    });
    const shown = { companyName: 'Acme', stage: 'new', nextFollowUpAt: { unreadable: 'soon' } };
    expect(sentContent(shown, some)).toEqual({ companyName: 'Acme' });
    expect(sentContent({ companyName: '' }, policy())).toEqual({});
  });

  const content = fc.dictionary(
    fc.constantFrom('companyName', 'stage', 'city'),
    fc.constantFrom('a', 'b', '"a"'),
  );
  test('has the key of another exactly when it is the same', () => {
    const textOf = (values: Values): string =>
      JSON.stringify(Object.entries(values).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    fc.assert(
      fc.property(content, content, (a, b) => {
        expect(sentKey(a) === sentKey(b)).toBe(textOf(a) === textOf(b));
      }),
      { numRuns: lawRuns(300) },
    );
  });
});

test('what was refused is found and sent once more by what was sent; what was not is new', () => {
  const bad: Refused = { code: 'lead.create-refused', why: 'bad' };
  const refused = new RefusedCreates(new Map([['known', bad]]));
  expect([refused.find('known'), refused.find('new')]).toEqual([bad, null]);
  for (const key of ['known', 'new']) refused.release(key);
  expect([[...refused.met], [...refused.released]]).toEqual([['known'], ['known']]);
});
