import { hashContent } from '../core/lead/content-hash.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import type { Cells } from '../core/lead/value.ts';
import type { MatchMarks, MatchState } from '../store/held.ts';

type KnownMatch = MatchMarks & { readonly state: MatchState };

/**
 * The matches of earlier runs, and what people decided on them: a lead by its id while its `matchBy` fields are the same; a row by its whole
 * content, or by these fields alone when no other row shows them.
 */
export class Decisions {
  readonly #marked: readonly FieldMapping[];
  readonly #byLead: ReadonlyMap<string, readonly KnownMatch[]>;
  readonly #leads: { readonly nth: number; readonly known: readonly KnownMatch[] }[] = [];
  readonly #byKey = new Map<string, number[]>();
  readonly #byMark = new Map<string, number[]>();
  #states: ReadonlyMap<string, MatchState> = new Map();

  constructor(known: readonly KnownMatch[], marked: readonly FieldMapping[]) {
    this.#marked = marked;
    this.#byLead = Map.groupBy(known, ({ leadId }) => leadId);
    for (const { contentHash, rowMark } of known) {
      this.#byKey.set(contentHash, []);
      this.#byMark.set(rowMark, []);
    }
  }

  seeLead(leadId: string, cells: Cells, nth: number): void {
    const ofLead = this.#byLead.get(leadId);
    if (ofLead === undefined) return;
    const mark = hashContent(cells, this.#marked);
    const known = ofLead.filter(({ leadMark }) => leadMark === null || leadMark === mark);
    if (known.length > 0) this.#leads.push({ nth, known });
  }

  seeRow(contentHash: string, cells: Cells, nth: number): void {
    if (this.#byMark.size === 0) return;
    this.#byKey.get(contentHash)?.push(nth);
    this.#byMark.get(hashContent(cells, this.#marked))?.push(nth);
  }

  /** The pairs with a known match; call it once, after the last `seeLead` and `seeRow`. */
  pairs() {
    const states = new Map<string, MatchState>();
    const list = this.#leads.flatMap(({ nth: lead, known }) =>
      known.flatMap(({ contentHash, rowMark, state }) =>
        this.#rowsOf(contentHash, rowMark).flatMap((row) => {
          const key = `${lead} ${row}`;
          const isNew = !states.has(key);
          states.set(key, state);
          return isNew ? [{ lead, row }] : [];
        }),
      ),
    );
    this.#states = states;
    return { list, has: (lead: number, row: number) => states.has(`${lead} ${row}`) };
  }

  /** Null: seen for the first time. */
  of(lead: number, row: number): MatchState | null {
    return this.#states.get(`${lead} ${row}`) ?? null;
  }

  #rowsOf(contentHash: string, rowMark: string): readonly number[] {
    const asThen = this.#byKey.get(contentHash) ?? [];
    if (asThen.length > 0) return asThen;
    const alike = this.#byMark.get(rowMark) ?? [];
    return alike.length === 1 ? alike : [];
  }
}
