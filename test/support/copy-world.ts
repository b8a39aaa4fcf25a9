import {
  type Candidate,
  copyCandidates,
  type CopyVerdict,
  type Doubt,
  judgeCopy,
  type PutBackCell,
  type Span,
  Spans,
} from '../../src/core/merge/older-copy.ts';

/** A value, and the moment from which on a side showed it. */
interface Version {
  readonly from: number;
  readonly value: string;
}

/** What one side of a table has shown, cell by cell and run by run: enough to judge any copy of it by the definition. */
export class CopyWorld {
  readonly #versions = new Map<string, Version[]>();
  readonly #made = new Map<string, number>();

  constructor(rows: number, fields: number, first: (row: number, field: number) => string) {
    for (let row = 0; row < rows; row++) this.add(`row ${row}`, fields, 0, (field) => first(row, field));
  }

  get rows(): readonly string[] {
    return [...this.#made.keys()];
  }

  get cells(): readonly string[] {
    return [...this.#versions.keys()];
  }

  add(row: string, fields: number, made: number, first: (field: number) => string): void {
    this.#made.set(row, made);
    for (let field = 0; field < fields; field++)
      this.#versions.set(`${row}/${field}`, [{ from: made, value: first(field) }]);
  }

  now(cell: string): string {
    return this.#versions.get(cell)?.at(-1)?.value ?? '';
  }

  /** Both sides agree on another value; this side shows it from a moment on. */
  move(cell: string, from: number, value: string): void {
    if (this.now(cell) !== value) this.#versions.get(cell)?.push({ from, value });
  }

  /** An earlier value of a cell, if there is one: what somebody sets back. */
  earlier(cell: string): string | undefined {
    return this.#versions.get(cell)?.at(-2)?.value;
  }

  /** All that the side showed at a moment. */
  copyOf(moment: number): Map<string, string> {
    const copy = new Map<string, string>();
    for (const [cell, versions] of this.#versions) {
      const version = versions.findLast(({ from }) => from <= moment);
      if (version !== undefined) copy.set(cell, version.value);
    }
    return copy;
  }

  /** What the code says of what is shown; a row is there when any of its cells is. */
  judge(shown: ReadonlyMap<string, string>, doubt?: Doubt): CopyVerdict {
    const { cells, records } = this.#putBack(shown);
    const candidates = copyCandidates(cells, records, doubt);
    const kept = new Spans();
    for (const span of this.#kept(shown)) kept.add(span);
    return judgeCopy(candidates, kept, doubt);
  }

  /** How much is put back and kept at a moment, counted by the definition alone. */
  count(
    shown: ReadonlyMap<string, string>,
    moment: number,
  ): Candidate & { readonly kept: number; readonly cells: number } {
    const then = this.copyOf(moment);
    let [cells, records, kept] = [0, 0, 0];
    for (const cell of this.cells) {
      const [was, is, newest] = [then.get(cell), shown.get(cell), this.now(cell)];
      if (was === undefined || is === undefined || was === newest) continue;
      if (is === was) cells += 1;
      else if (is === newest) kept += 1;
    }
    for (const [row, made] of this.#made) {
      if (made <= moment) continue;
      if (shown.has(`${row}/0`)) kept += 1;
      else records += 1;
    }
    return { moment, putBack: cells + records, kept, cells };
  }

  #putBack(shown: ReadonlyMap<string, string>): { readonly cells: PutBackCell[]; readonly records: Span[] } {
    const cells = [...this.#spans(shown, (is, value, newest) => is !== newest && is === value)];
    const missing = [...this.#made].filter(([row]) => !shown.has(`${row}/0`));
    return {
      cells: [...Map.groupBy(cells, ({ cell }) => cell)].map(([cell, spans]) => {
        const [leadId = '', field = ''] = cell.split('/');
        return { leadId, field, spans: spans.map((span) => ({ ...span, leftAt: span.to })) };
      }),
      records: missing.map(([, made]) => ({ from: 0, to: made - 1 })),
    };
  }

  *#kept(shown: ReadonlyMap<string, string>): Iterable<Span> {
    yield* this.#spans(shown, (is, value, newest) => is === newest && value !== newest);
    for (const [row, made] of this.#made) if (shown.has(`${row}/0`)) yield { from: 0, to: made - 1 };
  }

  *#spans(
    shown: ReadonlyMap<string, string>,
    counts: (is: string, value: string, newest: string) => boolean,
  ): Iterable<Span & { readonly cell: string }> {
    for (const [cell, versions] of this.#versions) {
      const [is, newest] = [shown.get(cell), this.now(cell)];
      if (is === undefined) continue;
      for (const [nth, { from, value }] of versions.slice(0, -1).entries()) {
        const to = (versions[nth + 1]?.from ?? 0) - 1;
        if (counts(is, value, newest)) yield { cell, from, to };
      }
    }
  }
}
