import type { FieldMapping } from '../lead/mapping.ts';
import { canonical, type Cells, plainCell, sameCell, type Value, type Values } from '../lead/value.ts';

/**
 * Looks for what a sort of part of a table leaves behind: rows in which nothing is as it was, and fields whose values
 * are the same as before, but in other rows. Holds no row: values are counted by numbers that do not depend on the order.
 */
export class ShuffledRows {
  /** Rows in which nothing is as it was when lead and row were last in step, in at least two columns. */
  strangers = 0;
  readonly #fields: readonly FieldMapping[];
  readonly #changes = new Map<string, { rows: number; balance: number; readonly before: Set<number> }>();

  constructor(fields: readonly FieldMapping[]) {
    this.#fields = fields;
  }

  /** A row with the values that it and its lead last agreed on. */
  see(base: Values, row: Cells): void {
    let [filled, changed] = [0, 0];
    for (const { field } of this.#fields) {
      if (!(field in row)) continue;
      const [was, is] = [base[field] ?? null, row[field] ?? null];
      if (was === null && is === null) continue;
      filled += 1;
      if (sameCell(was, is)) continue;
      changed += 1;
      const seen = this.#changes.get(field) ?? { rows: 0, balance: 0, before: new Set() };
      if (seen.before.size < enoughKinds) seen.before.add(weight(was));
      seen.rows += 1;
      seen.balance = (seen.balance + weight(plainCell(is)) - weight(was)) % modulus;
      this.#changes.set(field, seen);
    }
    if (filled > 1 && changed === filled) this.strangers += 1;
  }

  /** The fields in which rows changed and as a whole hold the same values as before; in how many rows each. */
  permuted(): Readonly<Record<string, number>> {
    const balanced = [...this.#changes].filter(
      ([, { balance, before }]) => balance % modulus === 0 && before.size >= enoughKinds,
    );
    return Object.fromEntries(balanced.map(([field, { rows }]) => [field, rows]));
  }
}

/** With fewer different values, such as yes and no, changes may well balance by themselves. */
const enoughKinds = 5;

/** A prime below 2^51, so that sums of weights stay exact. */
const modulus = 2_251_799_813_685_119;

/** A number for a value; two different ones share it about never. */
function weight(value: Value): number {
  let number = 7;
  for (const character of canonical(value) ?? '')
    number = (number * 1_000_003 + (character.codePointAt(0) ?? 0)) % 2_147_483_647;
  return (number * 1_048_573) % modulus;
}
