import { hash } from 'node:crypto';
import type { FieldMapping } from '../lead/mapping.ts';
import { canonical, type Cells, plainCell, sameCell, type Value, type Values } from '../lead/value.ts';
import { enoughShifted, farthest, type Suspect } from './shifted-rows.ts';

/** What changed in a field, values by their weights. */
interface Changes {
  rows: number;
  balance: number;
  readonly before: Set<number>;
  /** How many rows show it now. */
  readonly after: Map<number, number>;
}

/**
 * Detects a sort of part of a table: rows in which every column changed, and fields whose values only exchanged rows; and
 * fields in which cells may have been shifted. Remembers of a changed cell no more than a number.
 */
export class ShuffledRows {
  /** Rows in which at least two columns, and every one, differ from the baseline. */
  strangers = 0;
  readonly #fields: readonly FieldMapping[];
  readonly #changes = new Map<FieldMapping, Changes>();

  constructor(fields: readonly FieldMapping[]) {
    this.#fields = fields;
  }

  /** Adds a row and its baseline. */
  see(base: Values, row: Cells): void {
    let [filled, changed] = [0, 0];
    for (const mapping of this.#fields) {
      const { field } = mapping;
      if (!(field in row)) continue;
      const [was, is] = [base[field] ?? null, row[field] ?? null];
      if (was === null && is === null) continue;
      filled += 1;
      if (sameCell(was, is)) continue;
      changed += 1;
      const seen: Changes = this.#changes.get(mapping) ?? {
        rows: 0,
        balance: 0,
        before: new Set(),
        after: new Map(),
      };
      const [from, to] = [weight(was), weight(plainCell(is))];
      seen.rows += 1;
      seen.balance += to - from;
      seen.before.add(from);
      seen.after.set(to, (seen.after.get(to) ?? 0) + 1);
      this.#changes.set(mapping, seen);
    }
    if (filled > 1 && changed === filled) this.strangers += 1;
  }

  /** By field: changed rows whose values as a whole are the same as before. */
  permuted(): Readonly<Record<string, number>> {
    const balanced = [...this.#changes].filter(
      ([, { balance, before }]) => balance === 0 && before.size >= enoughKinds,
    );
    return Object.fromEntries(balanced.map(([{ field }, { rows }]) => [field, rows]));
  }

  /** Fields in which cells may have been shifted: each value that moved was that of the next row that changed. */
  suspects(): readonly Suspect[] {
    const suspects = [...this.#changes].filter(([{ direction }, { before, after }]) => {
      const moved = [...after].reduce((sum, [to, count]) => sum + (before.has(to) ? count : 0), 0);
      // Of a field that only travels to the rows, no lead gets a neighbour's value.
      return direction !== 'to-target' && moved >= enoughShifted - farthest;
    });
    return suspects.map(([{ field }, { rows, after }]) => ({
      field,
      share: (value) => (after.get(weight(value)) ?? 0) / rows,
    }));
  }
}

/** With fewer distinct values, such as yes and no, changes may balance by chance. */
const enoughKinds = 5;

/**
 * A number as good as unique to a value. A hash that keeps sums of codes would take edits for a sort: as many days up as
 * down. Sums of 32 bits stay exact for 2,000,000 rows.
 */
function weight(value: Value): number {
  return hash('sha256', canonical(value) ?? '', 'buffer').readUInt32BE();
}
