import type { FileTableOptions } from '../file/file-format.ts';
import { isAround } from '../shared/table-range.ts';
import type { PlacedRange } from './cell-reference.ts';
import { readUsed, type SheetTable } from './tables.ts';
import { type NewColumn, placeNewColumns } from '../shared/columns.ts';
import { type Splice, splice } from '../file/splice.ts';
import type { RowContent } from '../shared/row-content.ts';
import { rowWriter } from './row-writer.ts';
import { replaced } from './grown-ranges.ts';
import { openXlsxSheet, placeOf, textsOf } from './sheet.ts';
import type { PartEdit } from './write-plan.ts';
import { attributePlace, escapeCellText, escapeXml, withChild } from './xml.ts';
import type { RandomAccess } from './zip.ts';

/** Adds headings of new columns in their neighbour's format. A table that they adjoin grows with them. */
export async function planXlsxColumns(
  file: RandomAccess,
  options: FileTableOptions,
  fields: ReadonlySet<string>,
): Promise<readonly PartEdit[]> {
  const sheet = await openXlsxSheet(file, options);
  const { header, book, layout } = sheet;
  const isOurs = ({ range }: PlacedRange | SheetTable) => isAround(range, placeOf(sheet));
  const others = sheet.tables.filter((table) => !isOurs(table));
  const isUsed = await readUsed(sheet.rows, header.row, layout, others);
  const texts = book.pack.guarded(book.sheet, () => textsOf(header, sheet.cells));
  const added = placeNewColumns(texts, isUsed, options, fields);
  const last = added.at(-1);
  if (last === undefined) return [];

  const beside = header.cells.findLast(({ raw }) => raw !== '')?.style ?? null;
  const styles = new Map(added.map(({ index }) => [index, beside]));
  const writer = rowWriter(sheet, { row: null, styles, dateStyle: null });
  const content: RowContent = new Map(
    added.map(({ heading, index }) => [index, { value: heading, type: 'text' }]),
  );
  const { dimension, autoFilter } = layout;
  const right = Math.max(dimension?.range.right ?? 0, last.index);
  return [
    {
      part: book.sheet.name,
      splices: [
        ...writer.existing(header, content),
        ...replaced(dimension, dimension && { ...dimension.range, right }),
        ...(autoFilter !== null && isOurs(autoFilter) ? wider(autoFilter, added) : []),
      ],
    },
    ...sheet.tables
      .filter(isOurs)
      .map((table) => ({ part: table.part.name, splices: grownTable(table, added) })),
  ].filter(({ splices }) => splices.length > 0);
}

/** The columns that follow a range without a gap. */
function following({ range }: PlacedRange, added: readonly NewColumn[]): readonly NewColumn[] {
  const beyond = added.filter(({ index }) => index > range.right);
  return beyond.filter(({ index }, nth) => index === range.right + 1 + nth);
}

function wider(place: PlacedRange, added: readonly NewColumn[]): Splice[] {
  const { range } = place;
  return replaced(place, { ...range, right: range.right + following(place, added).length });
}

function grownTable({ whole, filter, columns, lastId }: SheetTable, added: readonly NewColumn[]): Splice[] {
  const more = following(whole, added);
  const counted = columns && attributePlace(columns, 'count');
  if (more.length === 0 || columns === null || counted === null) return [];
  const elements = more.map(
    ({ heading }, nth) =>
      `<${columns.prefix}tableColumn id="${lastId + 1 + nth}" name="${escapeXml(escapeCellText(heading))}"/>`,
  );
  const count = whole.range.right - whole.range.left + 1 + more.length;
  return [
    ...wider(whole, added),
    ...(filter === null ? [] : wider(filter, added)),
    splice(counted.start, counted.end, String(count)),
    withChild(columns, elements.join('')),
  ];
}
