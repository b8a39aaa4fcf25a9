import fc from 'fast-check';
import { expect, test } from 'vitest';
import { otherWords, pairedWords } from '../../src/core/lead/words.ts';

test.each<[string, string[], string[], ReturnType<typeof otherWords>]>([
  [
    'two languages',
    ['neu', 'gewonnen', 'neu', ''],
    ['new', 'won', 'new'],
    { rows: ['neu', 'gewonnen'], leads: ['new', 'won'] },
  ],
  ['the same in capitals', ['NEW', 'Won'], ['new', 'won'], null],
  ['one new word among known ones', ['new', 'won', 'maybe'], ['new', 'won', 'lost'], null],
  ['a service without leads', ['neu'], [], null],
  ['a table without values', ['', ''], ['new'], null],
])('%s', (_, rows, leads, found) => {
  expect(otherWords(rows, leads)).toEqual(found);
});

test('words are paired where one is the other, or nearly, and each once', () => {
  expect(pairedWords(['Neu', 'Won', 'gewonnen', 'Wonn', 'neu'], ['won', 'new', 'lost', 'WON'])).toEqual([
    ['Neu', 'new'],
    ['Won', 'won'],
    ['gewonnen', null],
    ['Wonn', null],
  ]);
});

test('words that both sides have are never named as those of the rows alone', () => {
  const word = fc.constantFrom('new', 'Neu', 'won', 'gewonnen', 'NEW', '');
  fc.assert(
    fc.property(fc.array(word), fc.array(word), (rows, leads) => {
      const found = otherWords(rows, leads);
      const known = leads.map((one) => one.toLowerCase());
      for (const one of found?.rows ?? []) expect(known).not.toContain(one.toLowerCase());
      expect(otherWords(leads, leads)).toBeNull();
    }),
  );
});
