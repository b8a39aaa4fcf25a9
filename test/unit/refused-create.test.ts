import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import {
  existingLead,
  existsReason,
  overwritten,
  refusedMessage,
  sentContent,
  sentKey,
  type Sighting,
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
  const told = (one: Partial<Sighting>, written = {}): string =>
    refusedMessage(9, {
      code: 'lead.exists',
      why: existsReason(sighting(one), written, 'main', [{ field: 'stage', column: 'Phase' }]),
    });
  test.each<[string, Partial<Sighting>, RegExp]>([
    [
      'which row has it',
      {},
      /row 9: .* lead lead-1 \("?Acme"?, row 2\).*delete the row; if .* change its name/,
    ],
    [
      'which connection has it',
      { connection: 'wien' },
      /\("?Acme"?, connection wien, row 2\).*delete the row/,
    ],
    ['that nothing has it', { row: null }, /it has no row.*type lead-1 into its id cell/],
    [
      'that its row is on its way',
      { row: null, getsRow: true },
      /its row is written in this run.*delete the row/,
    ],
    ['without a name', { cells: {} }, /lead lead-1 \(row 2\)/],
  ])('%s', (_, one, sentence) => {
    expect(told(one)).toMatch(sentence);
    expect(told(one)).toMatch(/leadsync resolve NUMBER --use row$/);
  });

  test('what was overwritten, and where that stands', () => {
    const written = { stage: { from: 'new', to: 'won' } };
    expect(told({}, written)).toMatch(
      /It overwrote Phase, which was "?new"? \(leadsync why lead-1 shows it\)\./,
    );
  });
});

describe('the content of a create', () => {
  test('is what travels, can be read and is not empty', () => {
    const some = policy({
      fields: fields.map((one) => (one.field === 'stage' ? { ...one, direction: 'to-target' } : one)),
    });
    expect(
      sentContent({ companyName: 'Acme', stage: 'new', nextFollowUpAt: { unreadable: 'soon' } }, some),
    ).toEqual({
      companyName: 'Acme',
    });
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
