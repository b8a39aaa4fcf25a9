import { canonical, type Cells, isUnreadable } from '../../core/lead/value.ts';

export function contentKey(cells: Cells, fields: Iterable<string>): string {
  return JSON.stringify(
    [...fields].map((field) => {
      const cell = cells[field] ?? null;
      return isUnreadable(cell) ? [cell.unreadable] : canonical(cell);
    }),
  );
}

export class WantedRows<Row> {
  readonly #slots = new Map<string, { readonly rows: Row[]; wanted: number }>();

  get isEmpty(): boolean {
    return this.#slots.size === 0;
  }

  want(key: string): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) this.#slots.set(key, { rows: [], wanted: 1 });
    else slot.wanted++;
  }

  see(key: string, row: Row): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined && slot.rows.length < slot.wanted) slot.rows.push(row);
  }

  take(key: string): Row | undefined {
    return this.#slots.get(key)?.rows.shift();
  }
}
