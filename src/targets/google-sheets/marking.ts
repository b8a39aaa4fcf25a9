import type { sheets_v4 } from '@googleapis/sheets';
import type { MarkToWrite } from '../../ports/target.ts';
import type { GoogleSheetsOptions } from './google-sheets-options.ts';
import type { TabDescription } from './tab-description.ts';
import { isRefused } from './tab-faults.ts';
import { markedTab, ownRecord } from './tab-setup.ts';

type Request = sheets_v4.Schema$Request;

/** Sends a mark with the first request that writes rows: atomic with it. */
export class Marking {
  readonly #arrived: () => void;
  #request: Request | null;

  constructor(request: Request, arrived: () => void) {
    this.#request = request;
    this.#arrived = arrived;
  }

  get isDue(): boolean {
    return this.#request !== null;
  }

  /** With the mark while it is due. If Google refuses, without it: rows matter more than a mark. */
  async send(requests: readonly Request[], update: (all: Request[]) => Promise<void>): Promise<void> {
    const request = this.#request;
    if (request === null) return update([...requests]);
    try {
      await update([...requests, request]);
      this.#arrived();
    } catch (error) {
      if (!isRefused(error)) throw error;
      this.#request = null;
      return update([...requests]);
    }
    this.#request = null;
  }
}

/** The marking for a run's first write; null: already marked, or not wanted. */
export function markingOf(
  options: GoogleSheetsOptions,
  tab: TabDescription,
  mark: MarkToWrite | undefined,
): Marking | null {
  if (mark === undefined || ownRecord(options, tab)?.mark === mark.text) return null;
  const request = markedTab(options, tab, mark.text);
  return request && new Marking(request, mark.arrived);
}
