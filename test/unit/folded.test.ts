import fc from 'fast-check';
import { expect, test } from 'vitest';
import { folded } from '../../src/cli/output.ts';

const text = fc.array(fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom('a', 'ö', ',', '.') }), {
  minLength: 1,
  maxLength: 40,
});

test('a folded line keeps its words in order, and no line is wider than the terminal', () => {
  fc.assert(
    fc.property(
      text,
      fc.integer({ min: 24, max: 120 }),
      fc.integer({ min: 0, max: 6 }),
      (words, width, by) => {
        const line = ' '.repeat(by) + words.join(' ');
        const lines = folded(line, width).split('\n');
        expect(lines.join(' ').split(/\s+/).filter(Boolean)).toEqual(words);
        expect(lines.every((one) => one.length <= width)).toBe(true);
        expect(lines.slice(1).every((one) => one.startsWith(' '.repeat(by + 4)))).toBe(true);
      },
    ),
  );
});

test.each([
  ['  ! rows 4 and 5 are apart', 20, ['  ! rows 4 and 5 are', '      apart']],
  ['  created  40 leads, 30 rows', 30, ['  created  40 leads, 30 rows']],
  ['  npx leadsync sync --allow first-leads', 20, ['  npx leadsync sync --allow first-leads']],
  ['leadsync sync syncs it, now', 20, ['leadsync sync syncs', '    it, now']],
  ['/a/path/without/spaces/that/is/long', 20, ['/a/path/without/spaces/that/is/long']],
])('%s', (line, width, lines) => {
  expect(folded(line, width).split('\n')).toEqual(lines);
});
