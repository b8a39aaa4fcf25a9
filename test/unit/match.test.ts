import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  blockKeys,
  type Candidate,
  chooseMatches,
  contradicts,
  likeness,
  type MatchForms,
  matchForms,
} from '../../src/core/merge/match-likeness.ts';
import { normalForm, soundOf } from '../../src/core/merge/normal-form.ts';
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
    ['Việt Nam', 'viet nam', ''],
    ['Łódź', 'lodz', ''],
    ['Ærø Œuvre Đuro Ðóra Þór Işık Ħal', 'aero oeuvre duro dora thor isik hal', ''],
    ['Ελλάς Άλφα', 'ελλας αλφα', ''],
    ['Bell’s Bell‘s Bell`s Bell´s', 'bells bells bells bells', ''],
    ['I.B.M. Österreich', 'ibm osterreich', ''],
    ['A1.B 4.C', 'a1 b 4 c', ''],
    ['Acme (株)', 'acme', '株式会社'],
    [' und ', 'und', ''],
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

  test.each([
    ['mueller', 'muler'],
    ['muller', 'muler'],
    ['schifffahrt', 'schifahrt'],
    ['goetheaue', 'gotheau'],
  ])('%s sounds as %s', (word, sound) => expect(soundOf(word)).toBe(sound));

  test('an address on the web is its host, of anything but a name', () => {
    expect(normalForm('https://www.Acme.com/de?x=1', false).key).toBe('acme.com');
    expect(normalForm('acme.com', false).key).toBe('acme.com');
    expect(normalForm('  http://www.acme-bau.com:8080#start ', false)).toEqual({
      key: 'acme-bau.com',
      words: ['acme-bau.com'],
      legal: '',
    });
    expect(normalForm('acme.com', true).key).toBe('acme com');
    expect(normalForm('acme.com und mehr', false).key).toBe('acme com mehr');
    expect(normalForm('St. Gallen', false).key).toBe('st gallen');
    expect(normalForm('Halle AG', false)).toEqual({ key: 'halle ag', words: ['halle', 'ag'], legal: '' });
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

type Named = readonly [name: string, city?: string | null, website?: string | null];
const forms = (...[companyName, city = null, website = null]: Named): MatchForms =>
  matchForms({ companyName, city, website }, ['companyName', 'city', 'website']) as MatchForms;

describe('how alike two records are', () => {
  test.each<[Named, Named, number]>([
    [['Acme GmbH', 'Berlin'], ['ACME', 'berlin'], 100],
    [['Acme', null], ['Acme', null], 100],
    [['Acme', 'Berlin'], ['Acme', null], 90],
    [['Acme', 'Berlin'], ['Acme', 'Graz'], 0],
    [['Acme GmbH', 'Berlin'], ['Acme AG', 'Berlin'], 94],
    [['Müller Bau', 'Köln'], ['Mueller Bau', 'Koeln'], 98],
    [['Mueller Bau', 'Köln'], ['Müller Bau', null], 90],
    [['Bau Müller', 'Köln'], ['Müller Bau', 'Köln'], 98],
    [['Acme Berlin', 'Berlin'], ['Acme', 'Berlin'], 98],
    [['Acme Berlin', null], ['Acme', 'Berlin'], 90],
    [['Data Soft', 'Linz'], ['DataSoft', 'Linz'], 98],
    [['Soft Data', 'Linz'], ['SoftData', 'Linz'], 98],
    [['Acme', 'Frankfurt'], ['Acme', 'Frankfurt am Main'], 98],
    [['Acme', 'Frankfurt am Main'], ['Acme', 'Frankfurt'], 98],
    [['Acme', 'Frankfurt an der Oder'], ['Acme', 'Frankfurt am Main'], 0],
    [['Acme', 'Graz'], ['Acme', 'Grazer Au'], 0],
    // Names that are the city, or a part of it, say no other thing.
    [['Frankfurt', 'Frankfurt'], ['Main', 'Frankfurt am Main'], 0],
    [['Acme', 'Graz', 'https://www.acme.com/de'], ['Acme', 'Graz', 'acme.com'], 100],
    // One typo, where the rest says the same.
    [['Siemens', 'Graz'], ['Simens', 'Graz'], 85],
    [['Siemens', 'Graz'], ['Siemnes', 'Graz'], 85],
    [['Siemens Bau', 'Graz'], ['Simens Bau', 'Graz'], 85],
    [['Maler Anton', 'Graz'], ['Maler Znton', 'Graz'], 85],
    [['Studio24', 'Graz'], ['Studio24a', 'Graz'], 85],
    [['24Studio7', 'Graz'], ['24Studo7', 'Graz'], 85],
    [['Siemens', null, 'acme.com'], ['Simens', null, 'acme.com'], 85],
    [['Siemens', 'Graz', 'acme.com'], ['Simens', null, 'acme.com'], 0],
    [['Siemens', 'Berlin', 'acme.com'], ['Simens', 'Berlln', 'acme.com'], 0],
    [['Siemens', 'Graz'], ['Siemens', 'Gratz'], 0],
    // Two letters are no typo, unless they changed places.
    [['Siemens', 'Graz'], ['Siemensab', 'Graz'], 0],
    [['Siemens', 'Graz'], ['Sixmexs', 'Graz'], 0],
    [['Siemens', 'Graz'], ['Siexxns', 'Graz'], 0],
    [['Siemens', 'Graz'], ['Siemxes', 'Graz'], 0],
    [['Siemens', 'Graz'], ['Simxens', 'Graz'], 0],
    [['Siemens', 'Graz'], ['Simenes', 'Graz'], 0],
    [['Siemens', 'Berlin'], ['Siemens', 'Berlln'], 85],
    [['Siemens', 'Berlin'], ['Simens', 'Berlln'], 0],
    [['Siemens', 'Graz'], ['Simens', null], 0],
    [['Siemens', null], ['Simens', null], 0],
    [['Siemens', 'Graz'], ['Simmons', 'Graz'], 0],
    [['Post', 'Graz'], ['Pest', 'Graz'], 0],
    // Another number is another one, and a word more another name.
    [['Halle 14', 'Linz'], ['Halle 15', 'Linz'], 0],
    [['Studio 1a2', 'Linz'], ['Studio 12', 'Linz'], 0],
    [['ACME Handels', 'Graz'], ['Handels', 'Graz'], 0],
  ])('%j and %j: %i', (one, other, expected) => {
    const { score } = likeness(forms(...one), forms(...other));
    expect(Math.round(score * 100)).toBe(expected);
  });

  test.each<[Named, Named, isNamesake: boolean, contradict: boolean]>([
    // A namesake; a field that both have says another thing.
    [['ACME GmbH', 'Graz'], ['Acme', 'graz'], true, false],
    [['Acme', 'Graz'], ['Acme', 'Linz'], true, true],
    [['Acme', 'Graz'], ['Acme', null], true, false],
    [['Acme', null], ['Acme', 'Graz'], true, false],
    [['Data Soft', 'Graz'], ['DataSoft', 'Graz'], false, true],
    [['Bolt', 'Graz'], ['Acme', 'Linz'], false, true],
  ])('%j and %j: of one name %j, contradicting %j', (one, other, isNamesake, contradict) => {
    const [a, b] = [forms(...one), forms(...other)];
    expect(likeness(a, b).isNamesake).toBe(isNamesake);
    expect(contradicts(a, b)).toBe(contradict);
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
        const [there, back] = [likeness(a, b), likeness(b, a)];
        expect(back.score).toBeCloseTo(there.score, 10);
        expect(back.isExact).toBe(there.isExact);
        expect(there.score).toBeGreaterThanOrEqual(0);
        expect(there.score).toBeLessThanOrEqual(1);
        expect(likeness(a, a)).toMatchObject({ isExact: true });
        if (there.isExact) expect(there.isNamesake).toBe(true);
      }),
      { numRuns: lawRuns(3_000) },
    );
  });

  const keysOf = (one: MatchForms, isWhole: boolean): ReadonlySet<string> =>
    new Set(blockKeys(one).flatMap((block) => (block.isWhole === isWhole ? [block.key] : [])));

  test('records of one name share a key that is never passed over', () => {
    fc.assert(
      fc.property(anyForms, anyForms, (a, b) => {
        const { score, fields } = likeness(a, b);
        if (score === 0 || fields[0] === 'typo') return;
        expect([...keysOf(a, true)].some((key) => keysOf(b, true).has(key))).toBe(true);
      }),
      { numRuns: lawRuns(10_000) },
    );
  });

  test.each<[Named, readonly string[], readonly string[]]>([
    [
      ['Nord Holz', 'Linz Urfahr'],
      ['nordholz', 'holznord', 'nordholzlinzurfahr', 'holzlinznordurfahr', 'nordholzlinz', 'holzlinznord'],
      ['bnord linz', 'bnor linz', 'eholz linz', 'bholz linz', 'bhol linz', 'enord linz'],
    ],
    [
      ['Post Graz', 'Graz'],
      ['postgraz', 'grazpost', 'postgrazgraz', 'post'],
      ['bpost graz', 'bpos graz', 'egraz graz', 'bgraz graz', 'bgra graz', 'epost graz'],
    ],
    [
      ['Acmex', null, 'bolt.com'],
      ['acmex', 'acmexbolt.com'],
      ['bac bolt.com', 'eex bolt.com', 'emex bolt.com'],
    ],
    [['Siemens'], ['siemens'], []],
    [['Post', 'Graz'], ['post', 'postgraz', 'grazpost'], []],
  ])(
    'the keys of %j: its name without spaces, and halves of it beside other fields',
    (one, whole, halves) => {
      expect([...keysOf(forms(...one), true)]).toEqual(whole);
      expect([...keysOf(forms(...one), false)]).toEqual(halves);
    },
  );

  test('records of one city share a key when a letter of the name is another one, is missing, or is one too many', () => {
    const name = fc.stringMatching(/^[a-z]{5,14}$/);
    fc.assert(
      fc.property(name, fc.nat(13), fc.constantFrom('', 'x', 'xy'), (whole, at, by) => {
        const typed = whole.slice(0, at) + by + whole.slice(at + 1);
        const [a, b] = [forms(whole, 'Graz'), forms(typed, 'Graz')];
        if (likeness(a, b).fields[0] !== 'typo') return;
        expect([...keysOf(a, false)].some((key) => keysOf(b, false).has(key))).toBe(true);
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
