import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idWords, leadFields } from '../../src/core/lead/lead-fields.ts';
import { headingKey } from '../../src/core/lead/mapping.ts';
import { canBeIds } from '../../src/core/lead/lead-id.ts';
import { proposeMapping } from '../../src/core/lead/propose-mapping.ts';
import { lawRuns } from '../support/law-runs.ts';

const fields = Object.keys(leadFields);

/** The proposal in short: `heading` when it is sure, `heading?` when it is not. */
function proposed(headings: readonly string[], of = fields): Record<string, string> {
  const { id, fields: found } = proposeMapping(headings, of);
  const all = [['id', id] as const, ...found];
  return Object.fromEntries(
    all.flatMap(([field, match]) =>
      match === null ? [] : [[field, `${match.heading}${match.isSure ? '' : '?'}`]],
    ),
  );
}

describe('what headings are meant for', () => {
  test.each<[string, Record<string, string>]>([
    [
      'Firma, Branche, Ort, Bundesland, Vertriebsphase, Wiedervorlage, Lead ID',
      {
        id: 'Lead ID',
        companyName: 'Firma',
        segment: 'Branche?',
        city: 'Ort',
        region: 'Bundesland',
        stage: 'Vertriebsphase',
        nextFollowUpAt: 'Wiedervorlage',
      },
    ],
    [
      'Company name,City,Status,Next call',
      { companyName: 'Company name', city: 'City', stage: 'Status?', nextFollowUpAt: 'Next call' },
    ],
    ['Unternehmen,Nächster Kontakt', { companyName: 'Unternehmen', nextFollowUpAt: 'Nächster Kontakt' }],
    [
      'lead_id,company_name,next_follow_up_at',
      { id: 'lead_id', companyName: 'company_name', nextFollowUpAt: 'next_follow_up_at' },
    ],
    [
      'LeadID,companyName,nextFollowUpAt',
      { id: 'LeadID', companyName: 'companyName', nextFollowUpAt: 'nextFollowUpAt' },
    ],
    [
      'Naechster Kontakt,UNTERNEHMEN,stadt',
      { companyName: 'UNTERNEHMEN', city: 'stadt', nextFollowUpAt: 'Naechster Kontakt' },
    ],
    // Words beside the known one are a guess; a slip of the pen is none.
    ['Compnay,Wiedervorlage (alt),Stage *', { stage: 'Stage *', nextFollowUpAt: 'Wiedervorlage (alt)?' }],
    // The plainer name wins; what could be either is not sure.
    ['Customer,Company', { companyName: 'Company' }],
    ['Kunde,Firma', { companyName: 'Kunde?' }],
    ['Name,Firma', { companyName: 'Firma' }],
    ['Name,ID', { id: 'ID?', companyName: 'Name?' }],
    // One heading for two fields: the one that has nothing else gets it.
    ['State,Region', { region: 'Region', stage: 'State?' }],
    ['Notes,Price,Size', {}],
    ['Acme GmbH,Berlin,2026-01-05', {}],
  ])('%s', (headings, wanted) => {
    expect(proposed(headings.split(/, ?/))).toEqual(wanted);
  });

  test('a field that is not in the reference is known by its name', () => {
    expect(proposed(['Contact email', 'Owner'], ['contactEmail', 'owner', 'notes'])).toEqual({
      contactEmail: 'Contact email',
      owner: 'Owner',
    });
  });

  test('a heading of two columns is the match of no field', () => {
    const { fields: found } = proposeMapping(['Company', ' company ', 'City'], fields);
    expect(found.get('companyName')).toBeNull();
    expect(found.get('city')).toEqual({ heading: 'City', isSure: true });
  });

  test('no word is sure for two fields, and each sure one alone is found and is sure', () => {
    const sure = Object.entries({ id: idWords, ...leadFields }).flatMap(([field, { sure: words }]) =>
      words.split(/,\s+/).map((word) => ({ field, word })),
    );
    const wrong = sure.filter(({ field, word }) => proposed([word])[field] !== word);
    expect(wrong).toEqual([]);
  });
});

const words = [idWords, ...Object.values(leadFields)].flatMap(({ sure, unsure }) =>
  `${sure}, ${unsure}`.split(/,\s+/),
);
const headingsOf = fc.array(
  fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 12 }), fc.constantFrom('', ' ', 'Preis €')),
  { maxLength: 14 },
);

test('law: no heading is used twice, none is made up, and none that two columns have is used', () => {
  fc.assert(
    fc.property(headingsOf, (headings) => {
      const { id, fields: found } = proposeMapping(headings, fields);
      const used = [id, ...found.values()].flatMap((match) => (match === null ? [] : match.heading));
      expect(new Set(used.map(headingKey)).size).toBe(used.length);
      for (const heading of used) {
        expect(headings.filter((one) => headingKey(one) === headingKey(heading))).toEqual([heading]);
      }
    }),
    { numRuns: lawRuns(300) },
  );
});

test('law: the order of the columns decides nothing that is sure', () => {
  fc.assert(
    fc.property(headingsOf, (headings) => {
      const sure = (of: readonly string[]) =>
        Object.values(proposed(of)).filter((heading) => !heading.endsWith('?'));
      expect(sure(headings.toReversed()).toSorted()).toEqual(sure(headings).toSorted());
    }),
    { numRuns: lawRuns(300) },
  );
});

const uuid = '0199e71d-9dc9-7f99-94c0-24e5c9cdc74a';
const other = '019b067c-c559-7a74-a202-09ee535022d7';

test.each([
  [['K-10001', 'K-10002'], [uuid], true, false],
  [['10001', '10002'], [uuid], false, false],
  [[`{${other.toUpperCase()}}`, '', 'Summe'], [uuid], true, true],
  [['', ' '], [uuid], true, true],
  [[], [], true, true],
  [['10001'], ['7', '8'], false, true],
  // All leads are known: customer numbers that look like ids are none.
  [['10001'], ['7', '8'], true, false],
  [['10001', '8'], ['7', '8'], true, true],
  [['L-1', 'note', 'another'], ['L-1'], true, false],
  [['K-1'], [], true, false],
  [[uuid], [], true, true],
])('cells %j can be ids of a service with %j (all of them: %s): %s', (cells, ids, isAll, wanted) => {
  expect(canBeIds(cells, ids, isAll)).toBe(wanted);
});
