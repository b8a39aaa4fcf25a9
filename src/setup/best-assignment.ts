/**
 * Gives each row a column of its own, so that the sum of the scores is as large as it can be (the Hungarian method, cubic
 * time). A score of 0 or less is no candidate. Of equal sums the same is always chosen.
 * @param scores by row and column; rows of equal length
 * @returns the column of each row; null: none
 */
export function bestAssignment(scores: readonly (readonly number[])[]): readonly (number | null)[] {
  const rows = scores.length;
  // A column of its own for each row, for those that go without.
  const found = scores[0]?.length ?? 0;
  const columns = found + rows;
  const cost = (row: number, column: number) => -Math.max(0, scores[row]?.[column] ?? 0);
  const rowPrice = new Float64Array(rows + 1);
  const columnPrice = new Float64Array(columns + 1);
  /** The row that has a column, both counted from 1; 0: none. */
  const owner = new Int32Array(columns + 1);
  for (let row = 1; row <= rows; row++) {
    const least = new Float64Array(columns + 1).fill(Number.POSITIVE_INFINITY);
    const before = new Int32Array(columns + 1);
    const isDone = new Uint8Array(columns + 1);
    owner[0] = row;
    let column = 0;
    do {
      isDone[column] = 1;
      const current = owner[column] ?? 0;
      let [step, next] = [Number.POSITIVE_INFINITY, 0];
      for (let other = 1; other <= columns; other++) {
        if (isDone[other] === 1) continue;
        const price = cost(current - 1, other - 1) - (rowPrice[current] ?? 0) - (columnPrice[other] ?? 0);
        if (price < (least[other] ?? 0)) {
          least[other] = price;
          before[other] = column;
        }
        if ((least[other] ?? 0) < step) [step, next] = [least[other] ?? 0, other];
      }
      for (let other = 0; other <= columns; other++) {
        if (isDone[other] === 1) {
          rowPrice[owner[other] ?? 0] = (rowPrice[owner[other] ?? 0] ?? 0) + step;
          columnPrice[other] = (columnPrice[other] ?? 0) - step;
        } else least[other] = (least[other] ?? 0) - step;
      }
      column = next;
    } while (owner[column] !== 0);
    for (; column !== 0; column = before[column] ?? 0) owner[column] = owner[before[column] ?? 0] ?? 0;
  }
  return scores.map((given, row) => {
    const column = owner.indexOf(row + 1, 1) - 1;
    return (given[column] ?? 0) > 0 ? column : null;
  });
}
