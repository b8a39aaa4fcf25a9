import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CellArea } from '../../src/targets/google-sheets/grid.ts';
import { isProtected, protectedColumns } from '../../src/targets/google-sheets/tab-description.ts';

const size = 6;
const side = fc.integer({ min: 0, max: size });
const area: fc.Arbitrary<CellArea> = fc
  .record({ startRow: side, startColumn: side, height: side, width: side, isOpen: fc.boolean() })
  .map(({ startRow, startColumn, height, width, isOpen }) => ({
    startRow,
    startColumn,
    ...(isOpen ? {} : { endRow: startRow + height + 1 }),
    endColumn: startColumn + width + 1,
  }));
const protection = fc
  .record({ area, except: fc.array(area, { maxLength: 3 }) })
  .map(({ area: whole, except }) => ({ ...whole, except }));

test('law: a column is named exactly when one of its cells below the headings is protected', () => {
  fc.assert(
    fc.property(
      fc.array(protection, { maxLength: 3 }),
      fc.integer({ min: 1, max: size }),
      (protections, rowCount) => {
        const tab = { protections, rowCount };
        const columns = [...Array(size).keys()];
        const closed = columns.filter((column) =>
          [...Array(rowCount).keys()].some((row) => row > 0 && isProtected(tab, row, column)),
        );
        expect(protectedColumns(tab, columns.toReversed())).toEqual(closed);
      },
    ),
    { numRuns: 1_000 },
  );
});
