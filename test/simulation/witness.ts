import type { LeadPage } from '../../src/ports/leads-service.ts';

/** What was seen of one id: the runs whose complete scans did not show it, and whether the service said 404 since. */
interface Absence {
  readonly runs: Set<number>;
  gone: boolean;
}

/**
 * Writes down what the scans showed, apart from what the product makes of it, and objects to each deletion that two
 * complete scans of different runs, and a 404, do not prove (docs/guarantees.md, 4).
 */
export class Witness {
  readonly faults: string[] = [];
  /** Which run it is: counted up when one begins. */
  run = 0;
  /** The lists are not of all leads, as things are. */
  isFiltered: boolean;
  readonly #leads = new Map<string, Absence>();
  readonly #rows = new Map<string, Absence>();
  readonly #known = new Set<string>();
  /** The scan that goes on at a cursor: which ids it has shown, and whether one came twice. */
  readonly #scans = new Map<string, { readonly ids: readonly string[]; readonly torn: boolean }>();

  constructor(isFiltered: boolean) {
    this.isFiltered = isFiltered;
  }

  page(cursor: string | null, page: LeadPage): void {
    // A process that dies before it stored a page asks for it again.
    if (cursor === null) this.#scans.clear();
    const before = cursor === null ? { ids: [], torn: false } : this.#scans.get(cursor);
    const own = page.leads.map(({ id }) => id);
    this.#see(this.#leads, own);
    if (before === undefined) return;
    const ids = [...before.ids, ...own];
    const torn = before.torn || page.invalidItems > 0 || new Set(ids).size < ids.length;
    if (page.nextCursor !== null) {
      this.#scans.set(page.nextCursor, { ids, torn });
      return;
    }
    if (!torn && !this.isFiltered && ids.length > 0) this.#miss(this.#leads, ids);
  }

  /** `rows`: with or without an id. An empty table proves nothing. */
  table(ids: readonly string[], rows: number): void {
    this.#see(this.#rows, ids);
    if (rows > 0) this.#miss(this.#rows, ids);
  }

  /** Behind a filter no scan tells that a lead is missing: there each run in which its id is not found counts. */
  got(id: string, isThere: boolean): void {
    if (this.isFiltered && !isThere) this.#missed(this.#leads, id);
    const absence = this.#leads.get(id);
    if (absence !== undefined) absence.gone = !isThere;
  }

  /** The row of this lead is about to be marked or removed. */
  removesRow(id: string): void {
    const { runs, gone } = this.#leads.get(id) ?? { runs: new Set(), gone: false };
    if (runs.size < 2 || !gone)
      this.faults.push(
        `the row of ${id} was marked or removed after ${runs.size} complete scans without the lead${gone ? '' : ', and no 404'}`,
      );
  }

  deletesLead(id: string): void {
    const runs = this.#rows.get(id)?.runs.size ?? 0;
    if (runs < 2) this.faults.push(`the lead ${id} was deleted after ${runs} readings without its row`);
  }

  #see(of: Map<string, Absence>, ids: readonly string[]): void {
    for (const id of ids) {
      this.#known.add(id);
      of.delete(id);
    }
  }

  #miss(of: Map<string, Absence>, ids: readonly string[]): void {
    const shown = new Set(ids);
    for (const id of this.#known) {
      if (!shown.has(id)) this.#missed(of, id);
    }
  }

  #missed(of: Map<string, Absence>, id: string): void {
    const absence = of.get(id) ?? { runs: new Set<number>(), gone: false };
    absence.runs.add(this.run);
    of.set(id, absence);
  }
}
