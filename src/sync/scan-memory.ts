import type { LiveScan } from '../core/merge/live-scan.ts';
import { type ByteBudget, memoryBudget } from '../lib/byte-budget.ts';

/** The scan of a run, while a process has it in memory, and the bytes that it takes of what all may take. */
export class ScanMemory implements Disposable {
  readonly budget: ByteBudget;
  #taken = 0;
  #held: { readonly of: string; readonly scan: LiveScan } | null = null;

  constructor(budget = memoryBudget) {
    this.budget = budget;
  }

  /** Null: it is not in memory. `of`: the run and its round. */
  find(of: string): LiveScan | null {
    return this.#held?.of === of ? this.#held.scan : null;
  }

  hold(of: string, scan: LiveScan): void {
    this.#held = { of, scan };
  }

  /** Whether nobody else has any of it. */
  get isAlone(): boolean {
    return this.budget.limit - this.budget.left <= this.#taken;
  }

  /** False, and nothing is taken, when there are not as many. */
  take(bytes: number): boolean {
    const isTaken = this.budget.take(bytes);
    if (isTaken) this.#taken += bytes;
    return isTaken;
  }

  [Symbol.dispose](): void {
    this.budget.give(this.#taken);
    [this.#taken, this.#held] = [0, null];
  }
}
