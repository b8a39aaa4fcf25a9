import type { WriteJournal } from '../../src/targets/google-sheets/sheets-api.ts';

/** Notes that outlive a target, for the next one of the test. */
export class MemoryJournal implements WriteJournal {
  readonly #notes = new Map<string, Uint8Array>();
  #next = 0;

  keep(note: Uint8Array): Promise<string> {
    const id = String(++this.#next);
    this.#notes.set(id, note);
    return Promise.resolve(id);
  }

  kept(): Promise<readonly { readonly id: string; readonly note: Uint8Array }[]> {
    return Promise.resolve([...this.#notes].map(([id, note]) => ({ id, note })));
  }

  over(id: string): Promise<void> {
    this.#notes.delete(id);
    return Promise.resolve();
  }
}
