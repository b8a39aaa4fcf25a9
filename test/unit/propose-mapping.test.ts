import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { bestAssignment } from '../../src/setup/best-assignment.ts';
import { proposeMapping } from '../../src/setup/propose-mapping.ts';
import { fieldWords, idWords } from '../../src/setup/synonyms.ts';
import { headingKey } from '../../src/core/lead/heading-line.ts';
import { lawRuns } from '../support/law-runs.ts';

const fields = defaultFields.map(({ field }) => field);

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
  test.each([
    [
      'Firma, Branche, Ort, Bundesland, Vertriebsphase, Wiedervorlage, Lead ID',
      'Lead ID, Firma, Branche?, Ort, Bundesland, Vertriebsphase, Wiedervorlage',
    ],
    ['Company name,City,Status,Next call', '-, Company name, -, City, -, Status?, Next call'],
    ['Unternehmen,Nächster Kontakt', '-, Unternehmen, -, -, -, -, Nächster Kontakt'],
    ['lead_id,company_name,next_follow_up_at', 'lead_id, company_name, -, -, -, -, next_follow_up_at'],
    ['LeadID,companyName,nextFollowUpAt', 'LeadID, companyName, -, -, -, -, nextFollowUpAt'],
    ['Naechster Kontakt,UNTERNEHMEN,stadt', '-, UNTERNEHMEN, -, stadt, -, -, Naechster Kontakt'],
    // A slip of the pen, and words beside the known one, are asked about.
    ['Compnay,Wiedervorlage (alt),Stage *', '-, Compnay?, -, -, -, Stage *, Wiedervorlage (alt)?'],
    // The plainer name wins; what could be either is not sure.
    ['Customer,Company', '-, Company, -, -, -, -, -'],
    ['Kunde,Firma', '-, Kunde?, -, -, -, -, -'],
    ['Name,Firma', '-, Firma, -, -, -, -, -'],
    ['Name,ID', 'ID?, Name?, -, -, -, -, -'],
    // One heading for two fields: the one that has nothing else gets it.
    ['State,Region', '-, -, -, -, Region, State?, -'],
    ['Phone,Notes,Price', '-, -, -, -, -, -, -'],
    ['Acme GmbH,Berlin,2026-01-05', '-, -, -, -, -, -, -'],
  ])('%s', (headings, wanted) => {
    const found = proposed(headings.split(/, ?/));
    expect(['id', ...fields].map((field) => found[field] ?? '-').join(', ')).toBe(wanted);
  });

  test('a field that is not in the reference is known by its name', () => {
    expect(proposed(['Contact email', 'Owner'], ['contactEmail', 'owner', 'notes'])).toEqual({
      contactEmail: 'Contact email',
      owner: 'Owner',
    });
  });

  test('a heading of two columns is the match of no field', () => {
    const { doubled, fields: found } = proposeMapping(['Company', ' company ', 'City'], fields);
    expect(doubled).toEqual(['Company']);
    expect(found.get('companyName')).toBeNull();
    expect(found.get('city')).toEqual({ heading: 'City', isSure: true });
  });

  test('no word is sure for two fields, and each sure one alone is found and is sure', () => {
    const sure = Object.entries({ id: idWords, ...fieldWords }).flatMap(([field, { sure: words }]) =>
      words.map((word) => ({ field, word })),
    );
    const wrong = sure.filter(({ field, word }) => proposed([word])[field] !== word);
    expect(wrong).toEqual([]);
  });
});

const words = [idWords, ...Object.values(fieldWords)].flatMap(({ sure, unsure }) => [...sure, ...unsure]);
const headingsOf = fc.array(
  fc.oneof(fc.constantFrom(...words), fc.string({ maxLength: 12 }), fc.constantFrom('', ' ', 'Preis €')),
  { maxLength: 14 },
);

test('law: no heading is used twice, none is made up, and none that two columns have is used', () => {
  fc.assert(
    fc.property(headingsOf, (headings) => {
      const { id, fields: found, doubled } = proposeMapping(headings, fields);
      const used = [id, ...found.values()].flatMap((match) => (match === null ? [] : match.heading));
      expect(new Set(used.map(headingKey)).size).toBe(used.length);
      for (const heading of used) {
        expect(headings.filter((one) => headingKey(one) === headingKey(heading))).toEqual([heading]);
        expect(doubled.map(headingKey)).not.toContain(headingKey(heading));
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

test('law: no other assignment has a larger sum', () => {
  const tenths = fc.integer({ min: -2, max: 10 }).map((number) => number / 10);
  const table = fc
    .tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 0, max: 5 }))
    .chain(([rows, columns]) =>
      fc.array(fc.array(tenths, { minLength: columns, maxLength: columns }), {
        minLength: rows,
        maxLength: rows,
      }),
    );
  const best = (scores: readonly (readonly number[])[], row: number, used: readonly number[]): number => {
    const given = scores[row];
    if (given === undefined) return 0;
    const without = best(scores, row + 1, used);
    return Math.max(
      without,
      ...given.flatMap((score, column) =>
        score <= 0 || used.includes(column) ? [] : score + best(scores, row + 1, [...used, column]),
      ),
    );
  };
  fc.assert(
    fc.property(table, (scores) => {
      const chosen = bestAssignment(scores);
      const used = chosen.filter((column) => column !== null);
      expect(new Set(used).size).toBe(used.length);
      const sum = chosen.reduce<number>((all, column, row) => all + (scores[row]?.[column ?? -1] ?? 0), 0);
      expect(sum).toBeCloseTo(best(scores, 0, []), 9);
    }),
    { numRuns: lawRuns(500) },
  );
});
