import { LeadsyncError } from '../lib/errors.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { type ByteBudget, memoryBudget } from '../lib/memory.ts';

/** The most that a side may show before it counts as endless: a scan has to fit on the disk. */
export interface ScanBounds {
  /** Bytes of one side's staged records, roughly. */
  readonly bytes: number;
  /** Pages in a row without a new lead: a filter may leave some empty. */
  readonly barrenPages: number;
}

/** Room for some million leads with the fields of the API reference. */
export const usualScanBounds: ScanBounds = { bytes: 4 * 1024 ** 3, barrenPages: 20 };

/** What an empty page counts in a filtered list: a service may filter what it has cut into pages. */
const emptyOfFiltered = 1 / 500;

/**
 * How many pages in a row have shown no new lead, after further pages (the ids of each). `before`: the same until then;
 * `repeated`: the ids that earlier pages had.
 */
export function barrenInARow(
  before: number,
  pages: readonly (readonly string[])[],
  repeated: Iterable<string>,
  isFiltered = false,
): number {
  const seen = new Set(repeated);
  let inARow = before;
  for (const ids of pages) {
    const counts = ids.length === 0 && isFiltered ? emptyOfFiltered : 1;
    inARow = ids.every((id) => seen.has(id)) ? inARow + counts : 0;
    for (const id of ids) seen.add(id);
  }
  return inARow;
}

/** `leads.endless` or `target.endless`; retry never: another attempt would end the same way. */
export function endless(side: 'leads' | 'target', why: string): LeadsyncError {
  const who = side === 'leads' ? 'the service' : 'the target';
  return new LeadsyncError(
    `${side}.endless`,
    `${who} seems to have no end: ${why}. Reading was stopped, and nothing was changed`,
    { help: 'Look at what it shows; a smaller table, or leads.query, reduces it.' },
  );
}

/** The scan of a run, from its first page until it is planned, and the bytes that it takes of what all may take. */
export class ScanMemory implements Disposable {
  readonly budget: ByteBudget;
  /** Null: it is not in memory. */
  scan: LiveScan | null = null;
  /** Whether the scan has both sides. */
  isWhole = false;
  #taken = 0;

  constructor(budget = memoryBudget) {
    this.budget = budget;
  }

  /** Whether nobody else has any of it. */
  get isAlone(): boolean {
    return this.budget.limit - this.budget.left <= this.#taken;
  }

  get taken(): number {
    return this.#taken;
  }

  /** False, and nothing is taken, when there are not as many; below 0 they are given back. */
  take(bytes: number): boolean {
    const isTaken = this.budget.take(bytes);
    if (isTaken) this.#taken += bytes;
    return isTaken;
  }

  [Symbol.dispose](): void {
    this.budget.give(this.#taken);
    [this.#taken, this.scan, this.isWhole] = [0, null, false];
  }
}
