import { fieldKinds } from '../../core/lead/field-kinds.ts';
import type { FieldType, Value } from '../../core/lead/value.ts';
import { type Splice, splice } from '../file/splice.ts';
import { isGeneralNumber, columnLetters } from '../shared/cell-name.ts';
import type { RowContent } from '../shared/row-content.ts';
import { cellAt, columnStyle, type SheetCell, type SheetRow } from './rows.ts';
import type { XlsxSheet } from './sheet.ts';
import { attribute, attributePlace, escapeCellText, escapeXml } from './xml.ts';

/** The look of new cells. */
export interface RowModel {
  /** The last row with data, whose formats new rows take; null: none. */
  readonly row: SheetRow | null;
  /** Formats from further up, for columns without a cell in that row; of a column of dates the one that most of them have. */
  readonly styles: ReadonlyMap<number, number | null>;
  /** The format of another date column, for dates without one; null: none. */
  readonly dateStyle: number | null;
}

export type RowWriter = ReturnType<typeof rowWriter>;

/** Writes rows of a sheet, all of whose rows were read, in the format of the row above. */
export function rowWriter(
  { layout, dates, clock }: Pick<XlsxSheet, 'layout' | 'dates' | 'clock'>,
  model: RowModel,
) {
  const p = layout.prefix;

  function styleOf(column: number, type: FieldType): number | null {
    const usual = model.styles.get(column) ?? null;
    if (fieldKinds[type].isMoment && usual !== null && dates.has(usual)) return usual;
    const above = model.row === null ? undefined : cellAt(model.row, column)?.style;
    const known = above === undefined ? model.styles.get(column) : above;
    const style = known === undefined ? columnStyle(layout, column) : known;
    return style === null && fieldKinds[type].isMoment ? model.dateStyle : style;
  }

  /** Replaces a cell and keeps its format; without one, uses the column's. */
  function replaced(cell: SheetCell, value: Value, type: FieldType): Splice {
    const kept = cell.attributes.replaceAll(/\s+(?:t|cm|vm)\s*=\s*(?:"[^"]*"|'[^']*')/g, '');
    const style = cell.style ?? (cell.raw === '' ? styleOf(cell.column, type) : null);
    const isNamed = style === null || attribute(kept, 's') !== null;
    const attributes = isNamed ? utf8(kept) : `${utf8(kept)} s="${style}"`;
    return splice(cell.start, cell.end, written(attributes, style, value, type, cell));
  }

  /** A cell in an empty place. */
  function added(row: number, column: number, value: Value, type: FieldType): string {
    const style = styleOf(column, type);
    const attributes = ` r="${columnLetters(column)}${row}"${style === null ? '' : ` s="${style}"`}`;
    return written(attributes, style, value, type, null);
  }

  function written(
    attributes: string,
    style: number | null,
    value: Value,
    type: FieldType,
    old: SheetCell | null,
  ): string {
    if (value === null || value === '') return `<${p}c${attributes}/>`;
    const kind = fieldKinds[type];
    const number = kind.isMoment ? serial(value, style) : sameNumber(value, style, old);
    if (number !== null) return `<${p}c${attributes}><${p}v>${number}</${p}v></${p}c>`;
    const text = escapeXml(escapeCellText(kind.write(value, clock.timeZone)));
    return `<${p}c${attributes} t="inlineStr"><${p}is><${p}t xml:space="preserve">${text}</${p}t></${p}is></${p}c>`;
  }

  /** The day number, if the cell shows dates and it reads back as the same moment. */
  function serial(instant: string, style: number | null): number | null {
    return dates.has(style ?? 0) ? clock.fromInstant(instant) : null;
  }

  /** Numbers stay numbers, for formulas, if they read back as the same text. */
  function sameNumber(text: string, style: number | null, old: SheetCell | null): string | null {
    if (old === null || old.type !== 'n' || old.raw === '' || dates.has(style ?? 0)) return null;
    return isGeneralNumber(text) ? text : null;
  }

  return {
    /** The splices that put the content into an existing row; its other cells stay. */
    existing(row: SheetRow, content: RowContent): Splice[] {
      const splices: Splice[] = [];
      const columns: number[] = [];
      for (const [column, { value, type }] of inOrder(content)) {
        const cell = cellAt(row, column);
        const isEmpty = value === null || value === '';
        if (isEmpty && (cell === undefined || cell.raw === '')) continue;
        if (cell !== undefined) {
          splices.push(replaced(cell, value, type));
          continue;
        }
        const at = row.cells.find((next) => next.column > column)?.start ?? row.contentEnd;
        columns.push(column);
        splices.push(splice(at, at, added(row.row, column, value, type)));
      }
      const old = utf8(row.attributes);
      const attributes = withSpans(old, columns);
      if (row.contentEnd < row.end) {
        if (attributes === old) return splices;
        return [splice(row.start, row.contentStart, `<${p}row${attributes}>`), ...splices];
      }
      // `<row/>`: all splices are at its end.
      const cells = splices.map(({ bytes }) => bytes.toString()).join('');
      return cells === '' ? [] : [splice(row.start, row.end, `<${p}row${attributes}>${cells}</${p}row>`)];
    },

    /** The XML of a new row, with the model's formats in all its columns. */
    fresh(row: number, content: RowContent): string {
      const wanted = new Map(content);
      for (const { column, style } of model.row?.cells ?? [])
        if (style !== null && !wanted.has(column)) wanted.set(column, { value: null, type: 'text' });
      const cells = inOrder(wanted)
        .filter(([column, { value, type }]) => Boolean(value) || styleOf(column, type) !== null)
        .map(([column, { value, type }]) => added(row, column, value, type));
      const like = ['s', 'customFormat', 'ht', 'customHeight'].map((name) => {
        const value = attribute(model.row?.attributes ?? '', name);
        return value === null ? '' : ` ${name}="${value}"`;
      });
      return `<${p}row r="${row}"${like.join('')}>${cells.join('')}</${p}row>`;
    },
  };
}

/** A row's attributes with these columns (0-based) in `spans`, which must not be too narrow. */
function withSpans(attributes: string, columns: readonly number[]): string {
  const place = attributePlace({ attributes, attributesStart: 0 }, 'spans');
  const spans = place === null ? null : /^(\d+):(\d+)$/.exec(attributes.slice(place.start, place.end));
  if (place === null || spans === null || columns.length === 0) return attributes;
  const from = Math.min(Number(spans[1]), ...columns.map((column) => column + 1));
  const to = Math.max(Number(spans[2]), ...columns.map((column) => column + 1));
  return `${attributes.slice(0, place.start)}${from}:${to}${attributes.slice(place.end)}`;
}

function inOrder<T>(content: ReadonlyMap<number, T>): [number, T][] {
  return [...content].toSorted(([a], [b]) => a - b);
}

function utf8(raw: string): string {
  return Buffer.from(raw, 'latin1').toString('utf8');
}
