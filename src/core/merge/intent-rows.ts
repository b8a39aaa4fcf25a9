import { canonicalJson, type Cell, type Cells, sameCell } from '../lead/value.ts';
import { filled } from './likeness.ts';
import type { Intent, Steps } from './match-lost-creates.ts';

/** Rows an intent may have been created from. `certain`: the only one, and no other intent's. */
export interface IntentRows<Row> {
  readonly rows: readonly Row[];
  readonly certain: boolean;
}

/**
 * Finds the rows without id that unfinished creates came from: first, rows that show exactly what was sent; then, for
 * rows edited or removed meanwhile, the remaining rows that share the most filled cells, and at least half. Yields
 * between two intents.
 */
export function* findIntentRows<Row extends { readonly contentHash: string; readonly cells: Cells }>(
  intents: readonly Intent[],
  rows: readonly Row[],
): Steps<ReadonlyMap<number, IntentRows<Row>>> {
  const found = new Map<number, IntentRows<Row>>();
  const byKey = Map.groupBy(rows, ({ contentHash }) => contentHash);
  const free = new Set(rows);
  for (const { id, contentHash } of intents) {
    const exact = byKey.get(contentHash)?.shift();
    if (exact === undefined) continue;
    free.delete(exact);
    found.set(id, { rows: [exact], certain: true });
  }
  const edited = intents.filter((intent) => !found.has(intent.id));
  if (edited.length === 0) return found;
  const likeness = new Likeness([...free]);
  const claims: { readonly id: number; readonly rows: readonly Row[] }[] = [];
  for (const { id, row } of edited) {
    yield;
    claims.push({ id, rows: likeness.most(row) });
  }
  const claimants = new Map<Row, number>();
  for (const [claimed, same] of Map.groupBy(claims, (claim) => claim.rows)) {
    for (const row of claimed) claimants.set(row, (claimants.get(row) ?? 0) + same.length);
  }
  for (const claim of claims) {
    const [only, ...others] = claim.rows;
    const certain = only !== undefined && others.length === 0 && claimants.get(only) === 1;
    found.set(claim.id, { rows: claim.rows, certain });
  }
  return found;
}

/** Finds the rows that share the most cells with a record, by an index. */
class Likeness<Row extends { readonly cells: Cells }> {
  readonly #rows: readonly Row[];
  /** By field and value: indexes of the rows that show it. */
  readonly #places = new Map<string, number[]>();
  /** Cached per content. */
  readonly #known = new Map<string, readonly Row[]>();

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
    for (const [place, row] of rows.entries()) {
      for (const one of filled(row.cells).map(keyOf)) {
        const places = this.#places.get(one);
        if (places === undefined) this.#places.set(one, [place]);
        else places.push(place);
      }
    }
  }

  /** In row order; none when the most is less than half of the record's filled cells. */
  most(record: Cells): readonly Row[] {
    const cells = filled(record);
    const key = JSON.stringify(cells.map(keyOf).toSorted());
    let rows = this.#known.get(key);
    if (rows === undefined) this.#known.set(key, (rows = this.#find(cells)));
    return rows;
  }

  #find(cells: ReturnType<typeof filled>): readonly Row[] {
    const rarestFirst = cells
      .map((one) => this.#places.get(keyOf(one)) ?? [])
      .toSorted((a, b) => a.length - b.length);
    const shared = new Map<number, number>();
    let most = Math.max(1, cells.length / 2);
    for (const [looked, places] of rarestFirst.entries()) {
      // A row not met so far shares at most the remaining cells.
      if (cells.length - looked < most) break;
      for (const place of places) {
        if (shared.has(place)) continue;
        const row = this.#rows[place]?.cells ?? {};
        const count = cells.filter(([field, cell]) => sameCell(row[field] ?? null, cell)).length;
        shared.set(place, count);
        most = Math.max(most, count);
      }
    }
    const found = [...shared].flatMap(([place, count]) => (count === most ? [place] : []));
    return found.toSorted((a, b) => a - b).flatMap((place) => this.#rows[place] ?? []);
  }
}

function keyOf([field, cell]: readonly [string, Cell]): string {
  return JSON.stringify([field, canonicalJson(cell)]);
}
