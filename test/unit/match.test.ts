import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Candidate, chooseMatches } from '../../src/core/merge/match.ts';
import { blockKeys, likeness, matchForms, type MatchForms } from '../../src/core/merge/match-likeness.ts';
import { normalForm } from '../../src/core/merge/normal-form.ts';
import { lawRuns } from '../support/law-runs.ts';

describe('the normal form of a name', () => {
  test.each([
    ['ACME GmbH', 'acme', 'gmbh'],
    ['Acme G.m.b.H.', 'acme', 'gmbh'],
    ['Müller & Söhne GmbH & Co. KG', 'muller sohne', 'co gmbh kg'],
    ['Müller und Söhne', 'muller sohne', ''],
    ['Muster UG (haftungsbeschränkt)', 'muster', 'ug'],
    ['Acme Sp. z o.o.', 'acme', 'spzoo'],
    ['Acme S.A.', 'acme', 'sa'],
    ['Acme S. A.', 'acme', 'sa'],
    ['Acme S.à r.l.', 'acme', 'sarl'],
    ['Acme, s.r.o.', 'acme', 'sro'],
    ['Öztürk A.Ş.', 'ozturk', 'as'],
    ['Foo Pty. Ltd.', 'foo', 'pty'],
    ['Smith & Co', 'smith', 'co'],
    ["O'Brien Inc.", 'obrien', 'inc'],
    ['ООО Ромашка', 'ромашка', 'ооо'],
    ['㈱トヨタ', 'トヨタ', '株式会社'],
    ['トヨタ株式会社', 'トヨタ', '株式会社'],
    ['Ｌüｂｅｃｋ　AG', 'lubeck', 'ag'],
    ['Weiß', 'weiss', ''],
    ['Łódź', 'lodz', ''],
    ['AS Roma', 'as roma', ''],
    ['Ltd', 'ltd', ''],
    ['C & A', 'c a', ''],
    ['Acme GmbH Berlin', 'acme berlin', 'gmbh'],
    ['&', '', ''],
    ['Йод', 'йод', ''],
  ])('%s is %s', (text, key, legal) => {
    const form = normalForm(text, true);
    expect([form.key, form.legal]).toEqual([key, legal]);
  });

  test('an address on the web is its host, of anything but a name', () => {
    expect(normalForm('https://www.Acme.com/de?x=1', false).key).toBe('acme.com');
    expect(normalForm('acme.com', false).key).toBe('acme.com');
    expect(normalForm('St. Gallen', false).key).toBe('st gallen');
  });

  test('it is its own normal form, and neither case nor spaces nor a further legal form change it', () => {
    const word = fc.stringMatching(/^[qQ][a-zäöüßéłøA-Z0-9]{0,8}$/);
    const name = fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' '));
    fc.assert(
      fc.property(
        fc.oneof(name, fc.string()),
        name,
        fc.constantFrom('GmbH', 'Ltd.', 'S.A.', 's.r.o.'),
        (any, text, form) => {
          for (const one of [any, text]) {
            const { key } = normalForm(one, true);
            expect(normalForm(key, true).key).toBe(key);
          }
          const { key } = normalForm(text, true);
          expect(normalForm(text.toUpperCase(), true).key).toBe(key);
          expect(normalForm(` ${text.replaceAll(' ', '  ')}. `, true).key).toBe(key);
          expect(normalForm(`${text} ${form}`, true).key).toBe(key);
        },
      ),
      { numRuns: lawRuns(2_000) },
    );
  });
});

const flat = (): number => 1;
const forms = (companyName: string, city: string | null = null): MatchForms =>
  matchForms({ companyName, city }, ['companyName', 'city']) ?? [];
const score = (
  a: MatchForms,
  b: MatchForms,
  rarity: (field: number, word: string) => number = flat,
): number => Math.round(likeness(a, b, rarity).score * 100);

describe('how alike two records are', () => {
  test.each([
    [['Acme GmbH', 'Berlin'], ['ACME', 'berlin'], 100],
    [['Acme', 'Berlin'], ['Acme', null], 90],
    [['Acme', 'Berlin'], ['Acme', 'Graz'], 70],
    [['Acme GmbH', 'Berlin'], ['Acme AG', 'Berlin'], 94],
    [['Müller Bau', 'Köln'], ['Mueller Bau', 'Koeln'], 98],
    [['Bau Müller', 'Köln'], ['Müller Bau', 'Köln'], 100],
    [['Acme Berlin', 'Berlin'], ['Acme', 'Berlin'], 98],
    [['Data Soft', 'Linz'], ['DataSoft', 'Linz'], 100],
    [['Halle 1', 'Linz'], ['Halle 2', 'Linz'], 55],
    [['Acme', 'Frankfurt'], ['Acme', 'Frankfurt am Main'], 99],
  ] as const)('%j and %j: %i', ([name, city], [otherName, otherCity], expected) => {
    expect(score(forms(name, city), forms(otherName, otherCity))).toBe(expected);
  });

  test('a word that all have tells nothing: ACME Handels and Handels are two', () => {
    const rarity = (_: number, word: string): number => (word === 'handels' ? 0.1 : 1);
    expect(score(forms('ACME Handels GmbH', 'Graz'), forms('Handels GmbH', 'Graz'), rarity)).toBeLessThan(50);
    expect(score(forms('ACME Handels', 'Graz'), forms('ACME', 'Graz'), rarity)).toBeGreaterThan(90);
  });

  test('a record without what names it takes no part, also when all else is the same', () => {
    expect(matchForms({ companyName: ' & ', city: 'Ulm' }, ['companyName', 'city'])).toBeNull();
    expect(
      matchForms({ companyName: { unreadable: '#REF!' }, city: 'Ulm' }, ['companyName', 'city']),
    ).toBeNull();
  });

  const part = fc.constantFrom(
    'Acme',
    'Müller',
    'Mueller',
    'Bau',
    'Bäu',
    'Nord',
    '24',
    'Handel',
    'GmbH',
    'AG',
    'Berlin',
  );
  const anyForms = fc
    .tuple(
      fc.array(part, { minLength: 1, maxLength: 4 }).map((words) => words.join(' ')),
      fc.option(fc.constantFrom('Berlin', 'Bern', 'Frankfurt', 'Frankfurt am Main')),
    )
    .map(([name, city]) => forms(name, city));

  test('it does not matter which is asked first; each is itself; a score is between 0 and 1', () => {
    fc.assert(
      fc.property(anyForms, anyForms, (a, b) => {
        const [there, back] = [likeness(a, b, flat), likeness(b, a, flat)];
        expect(back.score).toBeCloseTo(there.score, 10);
        expect(back.isExact).toBe(there.isExact);
        expect(there.score).toBeGreaterThanOrEqual(0);
        expect(there.score).toBeLessThanOrEqual(1);
        expect(likeness(a, a, flat)).toMatchObject({ isExact: true });
        if (there.isExact) expect(there.isNamesake).toBe(true);
      }),
      { numRuns: lawRuns(3_000) },
    );
  });

  test('records that are exact share a key that is never passed over', () => {
    fc.assert(
      fc.property(anyForms, anyForms, (a, b) => {
        if (!likeness(a, b, flat).isExact) return;
        const whole = (one: MatchForms) =>
          blockKeys(one, flat).flatMap(({ key, isWhole }) => (isWhole ? [key] : []));
        expect(whole(a)).toEqual(whole(b));
      }),
      { numRuns: lawRuns(3_000) },
    );
  });
});

describe('which matches are chosen', () => {
  const anyCandidates = fc.uniqueArray(
    fc.record({
      lead: fc.nat(5),
      row: fc.nat(5),
      score: fc.integer({ min: 80, max: 100 }).map((percent) => percent / 100),
      isNamesake: fc.boolean(),
      isExact: fc.boolean(),
      isAccepted: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
    }),
    { selector: ({ lead, row }) => `${lead} ${row}`, maxLength: 14 },
  );
  const law = (
    check: (
      candidates: readonly Candidate[],
      choice: ReturnType<typeof chooseMatches<Candidate>>,
      isExact: boolean,
    ) => void,
  ): void =>
    fc.assert(
      fc.property(anyCandidates, fc.boolean(), (candidates, isExact) => {
        const whole = candidates.map((one) => ({ ...one, isNamesake: one.isNamesake || one.isExact }));
        check(whole, chooseMatches(whole, isExact), isExact);
      }),
      { numRuns: lawRuns(3_000) },
    );

  test('a lead and a row are in one link at most, and in one proposal; whatever is linked is in nothing else', () => {
    law((_, { links, proposed, ambiguous }) => {
      for (const ones of [[...links, ...proposed], links])
        for (const side of ['lead', 'row'] as const)
          expect(new Set(ones.map((one) => one[side])).size).toBe(ones.length);
      for (const { lead, row } of links)
        for (const one of [...proposed, ...ambiguous])
          expect(one.lead === lead || one.row === row).toBe(false);
    });
  });

  test('nothing is linked that is neither accepted nor exact and the only one of its name; without exact nothing unasked', () => {
    law((candidates, { links }, isExact) => {
      for (const one of links) {
        if (one.isAccepted) continue;
        expect(isExact && one.isExact).toBe(true);
        const namesakes = candidates.filter(
          (other) => other.isNamesake && (other.lead === one.lead || other.row === one.row),
        );
        expect(namesakes).toEqual([one]);
      }
    });
  });

  test('what is proposed is the best of both by far; everything else that is free is told; the order does not matter', () => {
    law((candidates, choice, isExact) => {
      const { links, proposed, ambiguous } = choice;
      const taken = (one: Candidate): boolean =>
        links.some(({ lead, row }) => lead === one.lead || row === one.row);
      const free = candidates.filter((one) => !taken(one));
      expect(new Set([...proposed, ...ambiguous])).toEqual(new Set(free));
      for (const one of free) {
        const others = free.filter(
          (other) => other !== one && (other.lead === one.lead || other.row === one.row),
        );
        expect(proposed.includes(one)).toBe(others.every((other) => one.score - other.score > 0.05));
      }
      const again = chooseMatches(candidates.toReversed(), isExact);
      expect(again).toEqual(choice);
    });
  });
});
