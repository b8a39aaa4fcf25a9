import { idText } from './cell-values.ts';
import { cellAt, type Grid, isFormula } from './grid.ts';

export function idAt(grid: Grid, row: number, column: number): string | null {
  // A formula may show another row's id in the next snapshot.
  const id = isFormula(cellAt(grid, row, column)) ? '' : idText(grid, row, column);
  return id === '' ? null : id;
}

export function rowsById(grid: Grid, column: number, header: number): Map<string, readonly number[]> {
  const rows = new Map<string, number[]>();
  for (let row = header + 1; row < grid.length; row++) {
    const id = idAt(grid, row, column);
    if (id === null) continue;
    const known = rows.get(id);
    if (known === undefined) rows.set(id, [row]);
    else known.push(row);
  }
  return rows;
}

export function counted(rows: Iterable<number>, content: (row: number) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) {
    const key = content(row);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}
