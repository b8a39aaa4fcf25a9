import { expect, test } from 'vitest';
import { barrenInARow, usualScanBounds } from '../../src/sync/scan-bounds.ts';

const empty = (count: number): readonly (readonly string[])[] => Array.from({ length: count }, () => []);
const most = usualScanBounds.barrenPages;

test.each([
  ['empty pages', empty(21), [], false, true],
  ['empty pages, as far as they may go', empty(20), [], false, false],
  ['empty pages of a filtered list', empty(9_999), [], true, false],
  ['very many empty pages of a filtered list', empty(10_002), [], true, true],
  ['pages with known ids', Array.from({ length: 21 }, () => ['a']), ['a'], true, true],
  ['a new lead in between', [...empty(20), ['a'], ...empty(20)], [], false, false],
] as const)('%s', (_, pages, repeated, isFiltered, isEndless) => {
  expect(barrenInARow(0, pages, repeated, isFiltered) > most).toBe(isEndless);
});
