import { describe, expect, test } from 'vitest';
import type { Cells } from '../../src/core/lead/value.ts';
import { explainFirstLeads, FirstLeadsTally } from '../../src/core/merge/first-leads.ts';

const fields = [{ field: 'companyName' }, { field: 'city' }];

/** A list from row 2 on: names, or a name and a city. */
function look(
  list: readonly (string | readonly [string | null, string | null])[],
  mapped = fields,
  leads: readonly Cells[] = [],
) {
  const tally = new FirstLeadsTally(mapped, () => leads);
  for (const [nth, one] of list.entries()) {
    const [companyName, city] = typeof one === 'string' ? [one, 'Bonn'] : one;
    tally.see(nth + 2, { companyName, city });
  }
  return tally.found();
}

test('no row: nothing to ask', () => {
  expect(look([])).toBeNull();
});

describe('which rows are shown', () => {
  test.each<[number, string]>([
    [3, 'of 3 rows of the table: "C1" (row 2), "C2" (row 3), "C3" (row 4).'],
    [5, '"C1" (row 2), "C2" (row 3), "C3" (row 4), "C4" (row 5), "C5" (row 6).'],
    [6, '"C3" (row 4), "C4" (row 5), "C5" (row 6), "C6" (row 7).'],
    [2000, 'make 2,000 leads'],
    [2000, '"C3" (row 4), …, "C1998" (row 1999), "C1999" (row 2000), "C2000" (row 2001).'],
  ])('of %i: %s', (length, expected) => {
    const found = look(Array.from({ length }, (_, nth) => `C${nth + 1}`));
    expect(found && explainFirstLeads(found, 0)).toContain(expected);
  });

  test('of one, and nothing is odd about it: no more than that', () => {
    const found = look(['C1']);
    expect(found && explainFirstLeads(found, 0)).toBe(
      'this first sync would make 1 lead in the service of 1 row of the table: "C1" (row 2).\n    Take out of the table what is no lead; nothing was made so far',
    );
  });

  test('a name of forty letters is told whole', () => {
    const found = look(['x'.repeat(40)]);
    expect(found && explainFirstLeads(found, 0)).toContain(`"${'x'.repeat(40)}" (row 2)`);
  });

  test('a long name is cut between letters', () => {
    const found = look(['😀'.repeat(50)]);
    expect(found && explainFirstLeads(found, 0)).toContain(`"${'😀'.repeat(20)}…" (row 2)`);
  });
});

describe('what looks unusual', () => {
  test.each([
    ['Summe', 'total'],
    ['Gesamtsumme:', 'total'],
    ['Total: 2 customers', 'total'],
    ['TOTAL', 'total'],
    ['Grand total 17', 'total'],
    ['Subtotal', 'total'],
    ['Σ', 'total'],
    ['Σ Kunden', 'total'],
    ['  Summe', 'total'],
    ['Source: fair of 2026', 'total'],
    ['Quelle: Messe', 'total'],
    ['# exported 2027', 'total'],
    ['* without VAT', 'total'],
    ['4711', 'number'],
    ['04.12.2026', 'number'],
    ['1.234,50 €', 'number'],
    ['Total Energies SE', null],
    ['Summe & Partner GmbH', null],
    ['3M', null],
    ['1&1 AG', null],
    ['Standard AG', null],
    ['Noteworthy Ltd', null],
    ['京セラ', null],
    ['Σωτήρης ΑΕ', null],
    ['C# Academy', null],
    ['Open Source', null],
  ])('%s: %s', (name, what) => {
    expect(Object.keys(look([name])?.odd ?? {})).toEqual(what === null ? [] : [what]);
  });

  test.each<[string, readonly (readonly [string, string | null])[], readonly [number, number][]]>([
    [
      'the same',
      [
        ['Acme GmbH', 'Bonn'],
        ['Acme GmbH', 'Bonn'],
      ],
      [[3, 2]],
    ],
    [
      'spelled otherwise',
      [
        ['Müller GmbH', 'Köln'],
        ['MÜLLER  gmbh ', 'köln'],
      ],
      [[3, 2]],
    ],
    [
      'with a legal form that is spelled out',
      [
        ['Acme Ltd', 'Leeds'],
        ['Acme Limited', 'Leeds'],
      ],
      [[3, 2]],
    ],
    [
      'in another city',
      [
        ['Acme GmbH', 'Bonn'],
        ['Acme GmbH', 'Ulm'],
      ],
      [],
    ],
    [
      'with another legal form',
      [
        ['Acme GmbH', 'Bonn'],
        ['Acme AG', 'Bonn'],
      ],
      [],
    ],
    [
      'without a city',
      [
        ['Acme GmbH', 'Bonn'],
        ['Acme GmbH', null],
      ],
      [[3, 2]],
    ],
    [
      'the first without a city',
      [
        ['Acme GmbH', null],
        ['Acme GmbH', 'Bonn'],
      ],
      [[3, 2]],
    ],
    [
      'the second of two branches',
      [
        ['Acme', 'Bonn'],
        ['Acme', 'Ulm'],
        ['Acme', 'Ulm'],
      ],
      [[4, 3]],
    ],
    [
      'three of them',
      [
        ['Acme', 'Bonn'],
        ['Acme', 'Bonn'],
        ['Acme', 'Bonn'],
      ],
      [
        [3, 2],
        [4, 2],
      ],
    ],
    [
      'nameless',
      [
        ['', 'Bonn'],
        ['', 'Bonn'],
      ],
      [],
    ],
  ])('twins, %s', (_, list, expected) => {
    expect((look(list)?.odd.twin?.rows ?? []).map(({ row, first }) => [row, first])).toEqual(expected);
  });

  test('leads without a name are neither numbers nor twins', () => {
    const found = look([
      [null, 'Bonn'],
      [null, 'Bonn'],
    ]);
    expect(found?.first.map(({ name }) => name)).toEqual(['', '']);
    expect(found?.odd).toEqual({});
  });

  test('a city is missed only where cities are mapped', () => {
    const list = [['Acme', null]] as const;
    expect(look(list)?.odd.noCity?.count).toBe(1);
    expect(look(list, [{ field: 'companyName' }])?.odd).toEqual({});
  });

  test.each<[string, string | null, boolean]>([
    ['Roth', 'Ulm', true],
    ['ROTH gmbh', 'ulm', true],
    ['Roth', null, true],
    ['Beck', 'Bonn', true],
    ['Roth', 'Bonn', false],
    ['Rothe', 'Ulm', false],
  ])('the company of a lead that is there: %s in %s: %s', (name, city, isKnown) => {
    const found = look([[name, city]], fields, [
      { companyName: 'Roth GmbH', city: 'Ulm' },
      { companyName: 'Beck AG', city: null },
      { companyName: null, city: 'Ulm' },
    ]);
    const { known } = found?.odd ?? {};
    expect(known?.count ?? 0).toBe(Number(isKnown));
    if (isKnown && name === 'Roth')
      expect(found && explainFirstLeads(found, 0)).toContain(
        '1 row shows the company of a lead that is there, and would be a second one: "Roth" (row 2, lead "Roth GmbH"). With `match: propose` you decide which are one.',
      );
  });

  test('each kind is a line, what is no company first; three rows of it are named', () => {
    const found = look([
      ...['A', 'B', 'C', 'D', 'E'].map((name) => [name, null] as const),
      ['A', null],
      'Summe',
      '12',
    ]);
    expect(found && explainFirstLeads(found, 2).split('\n    ').slice(1)).toEqual([
      '1 row looks like a total or a note, not a company: "Summe" (row 8).',
      '1 name is a number or date: "12" (row 9).',
      '1 company stands in the list twice: "A" (row 7, as row 2).',
      '6 rows have no city: "A" (row 2), "B" (row 3), "C" (row 4), and 3 more.',
      '2 more rows are held, because a lead or another row looks the same (leadsync plan lists them).',
      'Take out of the table what is no lead; nothing was made so far',
    ]);
  });

  test('several of a kind', () => {
    const found = look(['A', 'A', 'B', 'B', 'Summe', 'Total', '12', '13']);
    expect(found && explainFirstLeads(found, 1).split('\n    ').slice(1, -1)).toEqual([
      '2 rows look like a total or a note, not a company: "Summe" (row 6), "Total" (row 7).',
      '2 names are a number or date: "12" (row 8), "13" (row 9).',
      '2 companies stand in the list twice: "A" (row 3, as row 2), "B" (row 5, as row 4).',
      '1 more row is held, because a lead or another row looks the same (leadsync plan lists them).',
    ]);
    const [, told] = explainFirstLeads(look([['A', null]]) ?? expect.fail(), 0).split('\n    ');
    expect(told).toBe('1 row has no city: "A" (row 2).');
  });
});
