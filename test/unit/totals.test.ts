import { expect, test } from 'vitest';
import { rowsSummed, TotalsRows } from '../../src/core/lead/table-rows.ts';

test.each([
  ['SUM(F4:F43)', 44, 40],
  ['sum($F$4:$F$43)', 44, 40],
  ['SUBTOTAL(9,F4:F43)', 46, 40],
  ['"Total: "&COUNTA(B4:B43)&" customers"', 44, 40],
  ['ROUND(SUM(F4:F43)/1000,1)', 44, 40],
  ['SUM(F4:F44)', 44, 0],
  ['SUM(C44:F44)', 44, 0],
  ['SUM(B4:F43)', 44, 0],
  ['SUM(Other!F4:F43)', 44, 0],
  ['VLOOKUP(A44,F4:F43,1)', 44, 0],
  ['SUM(F43,"F4:F42")', 44, 0],
  ['SUM(F:F)', 44, 0],
])('%s in row %i sums %i rows above', (formula, row, rows) => {
  expect(rowsSummed(formula, row)).toBe(rows);
});

test('a row of sums is one that sums the rows above; a running total is none', () => {
  const rows = new TotalsRows();
  const formulas = (f: string, g = 'B4*2'): [number, string][] => [
    [5, f],
    [6, g],
  ];
  const seen = [
    rows.see(4, formulas('E4')),
    rows.see(5, formulas('SUM(F$4:F4)+E5')),
    rows.see(6, formulas('SUM(F$4:F5)+E6')),
    rows.see(7, formulas('SUM(F$4:F6)', 'SUM(G4:G6)')),
    rows.see(9, formulas('SUM(F4:F6)')),
  ];
  expect(seen).toEqual([false, false, false, true, true]);
});
