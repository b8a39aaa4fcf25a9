import {
  canonical,
  type Cells,
  isUnreadable,
  plainCell,
  sameCell,
  type Value,
  type Values,
} from '../lead/value.ts';
import { hash } from 'node:crypto';
import type { FieldMapping } from '../lead/mapping.ts';

/** A row that has a baseline. `cells` null: it is gone. */
export interface BaselineRow {
  /** The number by which its neighbours are known: where it is, or where it was. */
  readonly place: number;
  /** Where it is. */
  readonly row: number;
  readonly base: Values;
  readonly cells: Cells | null;
}

/** A run of rows in which a field shows what the row `by` below (negative: above) had. */
export interface Shift {
  readonly first: number;
  readonly last: number;
  readonly by: number;
  /** Rows in it that changed. */
  readonly changed: number;
}

/** A field whose changes may be a shift. */
export interface Suspect {
  readonly field: string;
  /** How much of its changed rows shows this value now, up to 1. */
  readonly share: (value: Value) => number;
}

/** Fewer changed rows may well be edits. */
const enoughShifted = 10;

/** A shift moves values by this many rows at most. */
const farthest = 3;

/**
 * In bits. A row that shows its neighbour's value tells the more the rarer this value is among the new ones; one that does
 * not, and one that kept its own beside another, tells against a shift what two rows tell for it. Ten rows tell 9.7 bits
 * at least, even of two values: the row that changes next shows the other one.
 */
const [mostBits, bitsAgainst] = [4, 8];

/** The rows of late that show what those beside them had. */
interface MatchingRun {
  bits: number;
  first: number;
  changed: number;
}

/**
 * Finds values that moved against their ids: rows in which a field shows what a row nearby had, as after "delete cells,
 * shift up". Constant memory.
 */
export class ShiftedRows {
  readonly #suspects: readonly Suspect[];
  readonly #runs = new Map<string, MatchingRun>();
  readonly #most = new Map<string, { readonly bits: number; readonly shift: Shift }>();
  #near: readonly BaselineRow[] = [];

  constructor(suspects: readonly Suspect[]) {
    this.#suspects = suspects;
  }

  /** Adds a row; they come in the order of their places. */
  see(row: BaselineRow): void {
    this.#near = this.#near.filter((above) => above.place >= row.place - farthest);
    for (const above of this.#near) {
      const by = row.place - above.place;
      if (by === 0) continue;
      for (const suspect of this.#suspects) {
        this.#compare(suspect, by, above, row);
        this.#compare(suspect, -by, row, above);
      }
    }
    this.#near = [...this.#near, row];
  }

  /** By field: the run that tells most. */
  found(): Readonly<Record<string, Shift>> {
    return Object.fromEntries([...this.#most].map(([field, { shift }]) => [field, shift]));
  }

  #compare(
    { field, share }: Suspect,
    by: number,
    { row, base, cells }: BaselineRow,
    beside: BaselineRow,
  ): void {
    const [was, is, had] = [base[field], cells?.[field], beside.base[field]];
    // What is not shown, or cannot be read, tells nothing.
    if (was === undefined || is === undefined || had === undefined || isUnreadable(is)) return;
    const key = `${by} ${field}`;
    const run = this.#runs.get(key) ?? { bits: 0, first: row, changed: 0 };
    this.#runs.set(key, run);
    if (!sameCell(is, had)) run.bits = Math.max(0, run.bits - bitsAgainst);
    else if (!sameCell(was, is)) {
      if (run.bits === 0) [run.first, run.changed] = [row, 0];
      run.bits += Math.min(mostBits, -Math.log2(share(is)));
      run.changed += 1;
      const { bits, first, changed } = run;
      if (changed >= enoughShifted && bits > (this.#most.get(field)?.bits ?? bitsAgainst))
        this.#most.set(field, { bits, shift: { first, last: row, by, changed } });
    }
  }
}

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
