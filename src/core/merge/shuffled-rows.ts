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
  readonly #changes = new Map<string, Changes>();

  constructor(fields: readonly FieldMapping[]) {
    this.#fields = fields;
  }

  /** Adds a row and its baseline. */
  see(base: Values, row: Cells): void {
    let [filled, changed] = [0, 0];
    for (const { field } of this.#fields) {
      if (!(field in row)) continue;
      const [was, is] = [base[field] ?? null, row[field] ?? null];
      if (was === null && is === null) continue;
      filled += 1;
      if (sameCell(was, is)) continue;
      changed += 1;
      const seen: Changes = this.#changes.get(field) ?? {
        rows: 0,
        balance: 0,
        before: new Set(),
        after: new Map(),
      };
      const [from, to] = [weight(was), weight(plainCell(is))];
      seen.rows += 1;
      seen.balance = (seen.balance + to - from) % modulus;
      seen.before.add(from);
      seen.after.set(to, (seen.after.get(to) ?? 0) + 1);
      this.#changes.set(field, seen);
    }
    if (filled > 1 && changed === filled) this.strangers += 1;
  }

  /** By field: changed rows whose values as a whole are the same as before. */
  permuted(): Readonly<Record<string, number>> {
    const balanced = [...this.#changes].filter(
      ([, { balance, before }]) => balance % modulus === 0 && before.size >= enoughKinds,
    );
    return Object.fromEntries(balanced.map(([field, { rows }]) => [field, rows]));
  }

  /** Fields in which cells may have been shifted: each value that moved was that of the next row that changed. */
  suspects(): readonly Suspect[] {
    return this.#fields.flatMap(({ field, direction }) => {
      const seen = this.#changes.get(field);
      // Of a field that only travels to the rows, no lead gets a neighbour's value.
      if (seen === undefined || direction === 'to-target') return [];
      const { rows, before, after } = seen;
      const moved = [...after].reduce((sum, [to, count]) => sum + (before.has(to) ? count : 0), 0);
      if (moved < enoughShifted - farthest) return [];
      return [{ field, share: (value) => (after.get(weight(value)) ?? 0) / rows }];
    });
  }
}

/** With fewer distinct values, such as yes and no, changes may balance by chance. */
const enoughKinds = 5;

/** A prime below 2^51 keeps sums exact. */
const modulus = 2_251_799_813_685_119;

function weight(value: Value): number {
  let number = 7;
  for (const character of canonical(value) ?? '')
    number = (number * 1_000_003 + (character.codePointAt(0) ?? 0)) % 2_147_483_647;
  return (number * 1_048_573) % modulus;
}
