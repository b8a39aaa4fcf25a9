import { type Cells, isUnreadable, sameCell, type Value, type Values } from '../lead/value.ts';

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
export const enoughShifted = 10;

/** A shift moves values by this many rows at most. */
export const farthest = 3;

/**
 * In bits. A row that shows its neighbour's value tells the more the rarer this value is among the new ones; one that does
 * not, and one that kept its own beside another, tells against a shift what two rows tell for it. Ten rows tell 9.7 bits
 * at least, even of two values: the row that changes next shows the other one.
 */
const [mostBits, bitsAgainst, enoughBits] = [4, 8, 9];

/**
 * Finds values that moved against their ids: rows in which a field shows what a row nearby had, as after "delete cells,
 * shift up". Constant memory.
 */
export class ShiftedRows {
  readonly #suspects: readonly Suspect[];
  readonly #runs = new Map<string, MatchingRun>();
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
        this.#run(suspect, by).see(above, row, suspect);
        this.#run(suspect, -by).see(row, above, suspect);
      }
    }
    this.#near = [...this.#near, row];
  }

  /** By field: the run that tells most. */
  found(): Readonly<Record<string, Shift>> {
    const runs = [...this.#runs.values()].filter(({ shift }) => shift !== null);
    const byStrength = runs.toSorted((a, b) => a.strength - b.strength);
    return Object.fromEntries(byStrength.flatMap(({ field, shift }) => (shift ? [[field, shift]] : [])));
  }

  #run({ field }: Suspect, by: number): MatchingRun {
    const key = `${by} ${field}`;
    const known = this.#runs.get(key) ?? new MatchingRun(field, by);
    this.#runs.set(key, known);
    return known;
  }
}

/** The rows of late that show what those beside them had. */
class MatchingRun {
  readonly field: string;
  shift: Shift | null = null;
  /** Bits of `shift`. */
  strength = 0;
  readonly #by: number;
  #bits = 0;
  #first = 0;
  #changed = 0;

  constructor(field: string, by: number) {
    this.field = field;
    this.#by = by;
  }

  see({ row, base, cells }: BaselineRow, beside: BaselineRow, { field, share }: Suspect): void {
    const [was, is, had] = [base[field], cells?.[field], beside.base[field]];
    // What is not shown, or cannot be read, tells nothing.
    if (was === undefined || is === undefined || had === undefined || isUnreadable(is)) return;
    if (!sameCell(is, had)) this.#bits = Math.max(0, this.#bits - bitsAgainst);
    else if (!sameCell(was, is)) this.#add(row, Math.min(mostBits, -Math.log2(share(is))));
  }

  #add(row: number, bits: number): void {
    if (this.#bits === 0) [this.#first, this.#changed] = [row, 0];
    this.#bits += bits;
    this.#changed += 1;
    const isShift = this.#changed >= enoughShifted && this.#bits >= enoughBits;
    if (!isShift || this.#bits <= this.strength) return;
    this.strength = this.#bits;
    this.shift = { first: this.#first, last: row, by: this.#by, changed: this.#changed };
  }
}
