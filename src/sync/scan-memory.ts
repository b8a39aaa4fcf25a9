import type { LiveScan } from '../core/merge/live-scan.ts';
import { type ByteBudget, memoryBudget } from '../lib/byte-budget.ts';

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
