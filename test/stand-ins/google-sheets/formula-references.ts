import { columnLetters, findSheet } from './a1-range.ts';
import { changeCells, type Formula, type Sheet, type Spreadsheet, wholeSheet } from './sheet-state.ts';

/** The position of a row or column after a change of its sheet; null: deleted. */
export type Placement = (index: number) => number | null;

const reference =
  /"(?:[^"]|"")*"|((?:'(?:[^']|'')*'|[A-Za-z_]\w*)!)?(\$?)([A-Za-z]{1,3})(\$?)([1-9]\d*)(?![\w(])/g;

/** Adjusts all formulas of the spreadsheet: references into `sheet` follow their cells. */
export function followReferences(
  state: Spreadsheet,
  sheet: Sheet,
  axis: 'ROWS' | 'COLUMNS',
  place: Placement,
): void {
  for (const each of state.sheets) {
    if (!each.rows.some((row) => row.cells.some((cell) => isFormula(cell?.entered)))) continue;
    changeCells(each, wholeSheet(each), (cell) => {
      if (!isFormula(cell.entered)) return cell;
      const formula = mapReferences(cell.entered.formula, (row, column, title) => {
        const target = title === null ? each : findSheet(state, title);
        if (target !== sheet) return { row, column };
        const [newRow, newColumn] = axis === 'ROWS' ? [place(row), column] : [row, place(column)];
        return newRow === null || newColumn === null ? null : { row: newRow, column: newColumn };
      });
      return formula === cell.entered.formula ? cell : { ...cell, entered: { formula } };
    });
  }
}

/** The formula of a row that a sort moved: relative references to this sheet move with it. */
export function moveFormula({ formula }: Formula, rowsDown: number): Formula {
  return {
    formula: mapReferences(formula, (row, column, _title, absoluteRow) => {
      const moved = absoluteRow ? row : row + rowsDown;
      return moved < 0 ? null : { row: moved, column };
    }),
  };
}

export function isFormula(entered: unknown): entered is Formula {
  return typeof entered === 'object' && entered !== null && 'formula' in entered;
}

function mapReferences(
  formula: string,
  map: (
    row: number,
    column: number,
    title: string | null,
    absoluteRow: boolean,
  ) => { row: number; column: number } | null,
): string {
  return formula.replace(
    reference,
    (
      whole: string,
      sheet: string | undefined,
      dollarColumn: string,
      letters: string | undefined,
      dollarRow: string,
      number: string,
    ) => {
      // A quoted text may look like a reference.
      if (letters === undefined) return whole;
      let column = 0;
      for (const letter of letters.toUpperCase()) column = column * 26 + letter.charCodeAt(0) - 64;
      const title =
        sheet
          ?.slice(0, -1)
          .replace(/^'(.*)'$/s, '$1')
          .replaceAll("''", "'") ?? null;
      const to = map(Number(number) - 1, column - 1, title, dollarRow === '$');
      if (to === null) return '#REF!';
      return `${sheet ?? ''}${dollarColumn}${columnLetters(to.column)}${dollarRow}${to.row + 1}`;
    },
  );
}
