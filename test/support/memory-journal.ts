import type { WriteJournal } from '../../src/targets/google-sheets/sheets-api.ts';

/** Notes that outlive a target, for the next one of the test. */
export class MemoryJournal implements WriteJournal {
  readonly #notes = new Map<number, Uint8Array>();
  #next = 0;

  keep(note: Uint8Array): Promise<number> {
    this.#notes.set(++this.#next, note);
    return Promise.resolve(this.#next);
  }

  kept(): Promise<readonly { readonly id: number; readonly note: Uint8Array }[]> {
    return Promise.resolve([...this.#notes].map(([id, note]) => ({ id, note })));
  }

  over(id: number): Promise<void> {
    this.#notes.delete(id);
    return Promise.resolve();
  }
}
