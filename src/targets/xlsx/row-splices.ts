import type { FieldType } from '../../core/lead/value.ts';
import type { Splice } from '../file/splice.ts';
import type { RowContent } from '../shared/row-content.ts';
import type { CellWriter } from './cell-writer.ts';
import type { SheetLayout, SheetRow } from './rows.ts';
import { attribute, attributePlace } from './xml-scanner.ts';

/** The look of new cells. */
export interface RowModel {
  /** The last row with data, whose formats new rows take; null: none. */
  readonly row: SheetRow | null;
  /** Formats from further up, for columns without a cell in that row. */
  readonly styles: ReadonlyMap<number, number | null>;
  /** The format of another date column, for dates without one; null: none. */
  readonly dateStyle: number | null;
}

/** Writes rows of a sheet in the format of the row above. */
export class RowWriter {
  readonly #layout: SheetLayout;
  readonly #cells: CellWriter;
  readonly #model: RowModel;

  constructor(layout: SheetLayout, cells: CellWriter, model: RowModel) {
    this.#layout = layout;
    this.#cells = cells;
    this.#model = model;
  }

  /** The splices that put the content into an existing row; its other cells stay. */
  existing(row: SheetRow, content: RowContent): Splice[] {
    const splices: Splice[] = [];
    const added: number[] = [];
    for (const [column, { value, type }] of inOrder(content)) {
      const cell = row.cells.find((candidate) => candidate.column === column);
      const isEmpty = value === null || value === '';
      if (isEmpty && (cell === undefined || cell.raw === '')) continue;
      if (cell !== undefined) {
        splices.push(
          splice(cell.start, cell.end, this.#cells.replaced(cell, this.#style(column, type), value, type)),
        );
      } else {
        const next = row.cells.find((candidate) => candidate.column > column);
        const at = next?.start ?? row.contentEnd;
        added.push(column);
        splices.push(
          splice(at, at, this.#cells.added(row.row, column, this.#style(column, type), value, type)),
        );
      }
    }
    if (row.contentEnd < row.end) return [...this.#widened(row, added), ...splices];
    // `<row/>`: all splices are at its end.
    const cells = splices.map(({ bytes }) => bytes.toString()).join('');
    return cells === '' ? [] : [splice(row.start, row.end, this.#row(utf8(row.attributes), cells, added))];
  }

  /** The XML of a new row, with the model's formats in all its columns. */
  fresh(row: number, content: RowContent): string {
    const wanted = new Map(content);
    for (const cell of this.#model.row?.cells ?? []) {
      if (cell.style !== null && !wanted.has(cell.column))
        wanted.set(cell.column, { value: null, type: 'text' });
    }
    const cells = inOrder(wanted)
      .map(([column, { value, type }]) => ({ column, value, type, style: this.#style(column, type) }))
      .filter(({ value, style }) => style !== null || (value !== null && value !== ''))
      .map(({ column, value, type, style }) => this.#cells.added(row, column, style, value, type));
    const like = ['s', 'customFormat', 'ht', 'customHeight'].map((name) => {
      const value = attribute(this.#model.row?.attributes ?? '', name);
      return value === null ? '' : ` ${name}="${value}"`;
    });
    return this.#row(` r="${row}"${like.join('')}`, cells.join(''), []);
  }

  #row(attributes: string, cells: string, added: readonly number[]): string {
    const p = this.#layout.prefix;
    return `<${p}row${added.length === 0 ? attributes : widenSpans(attributes, added)}>${cells}</${p}row>`;
  }

  /** `spans` lists a row's columns; it must not be too narrow. */
  #widened(row: SheetRow, added: readonly number[]): Splice[] {
    const attributes = utf8(row.attributes);
    const widened = widenSpans(attributes, added);
    if (widened === attributes) return [];
    return [splice(row.start, row.contentStart, `<${this.#layout.prefix}row${widened}>`)];
  }

  #style(column: number, type: FieldType): number | null {
    const known = this.#known(column);
    return known === null && type === 'instant' ? this.#model.dateStyle : known;
  }

  #known(column: number): number | null {
    const above = this.#model.row?.cells.find((cell) => cell.column === column);
    if (above !== undefined) return above.style;
    const known = this.#model.styles.get(column);
    if (known !== undefined) return known;
    return this.#layout.columnStyles.find(({ from, to }) => column >= from && column <= to)?.style ?? null;
  }
}

function widenSpans(attributes: string, added: readonly number[]): string {
  const place = attributePlace({ attributes, attributesStart: 0 }, 'spans');
  const spans = place === null ? null : /^(\d+):(\d+)$/.exec(attributes.slice(place.start, place.end));
  if (place === null || spans === null || added.length === 0) return attributes;
  const from = Math.min(Number(spans[1]), ...added.map((column) => column + 1));
  const to = Math.max(Number(spans[2]), ...added.map((column) => column + 1));
  return `${attributes.slice(0, place.start)}${from}:${to}${attributes.slice(place.end)}`;
}

function inOrder<T>(content: ReadonlyMap<number, T>): [number, T][] {
  return [...content].toSorted(([a], [b]) => a - b);
}

function utf8(raw: string): string {
  return Buffer.from(raw, 'latin1').toString('utf8');
}

export function splice(start: number, end: number, text: string): Splice {
  return { start, end, bytes: Buffer.from(text, 'utf8') };
}
