import { contains } from '../shared/table-range.ts';
import { showRange } from './cell-reference.ts';
import { type NewColumn, placeNewColumns } from '../file/new-columns.ts';
import { type Splice, splice } from '../file/splice.ts';
import type { RowContent } from '../shared/row-content.ts';
import { rowWriter } from './row-writer.ts';
import { openXlsxSheet, textsOf, type XlsxTargetOptions } from './sheet.ts';
import type { SheetTable } from './tables.ts';
import type { PartEdit } from './write-plan.ts';
import { withChild } from './xml-elements.ts';
import { attributePlace } from './xml-scanner.ts';
import { escapeCellText, escapeXml } from './xml-text.ts';
import type { RandomAccess } from './zip-directory.ts';

/**
 * Adds headings of new columns in their neighbour's format. A table that they adjoin grows with them. @throws
 * LeadsyncError as openXlsxSheet does.
 */
export async function planXlsxColumns(
  file: RandomAccess,
  options: XlsxTargetOptions,
  fields: ReadonlySet<string>,
): Promise<readonly PartEdit[]> {
  const sheet = await openXlsxSheet(file, options);
  const { header, book, layout, columns } = sheet;
  const used = new Set<number>();
  for await (const batch of sheet.rows)
    for (const { cells } of batch)
      for (const { column, raw, formula } of cells) if (raw !== '' || formula !== null) used.add(column);
  const isOurs = ({ whole: { range } }: SheetTable) =>
    range.top === header.row && contains(range, header.row, columns.id);
  const others = sheet.tables.filter((table) => !isOurs(table)).map(({ whole }) => whole.range);
  const taken = [...sheet.merged, ...layout.filled, ...others];
  const isUsed = (index: number) =>
    used.has(index) || taken.some(({ left, right }) => index >= left && index <= right);
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
  const { dimension } = layout;
  const right = Math.max(dimension?.range.right ?? 0, last.index);
  const grown =
    dimension === null || right === dimension.range.right
      ? []
      : [splice(dimension.start, dimension.end, showRange({ ...dimension.range, right }))];
  return [
    { part: book.sheet.name, splices: [...writer.existing(header, content), ...grown] },
    ...sheet.tables
      .filter(isOurs)
      .map((table) => ({ part: table.part.name, splices: grownTable(table, added) })),
  ].filter(({ splices }) => splices.length > 0);
}

function grownTable({ whole, filter, columns, lastId }: SheetTable, added: readonly NewColumn[]): Splice[] {
  const following = added.filter(({ index }, nth) => index === whole.range.right + 1 + nth);
  const counted = columns && attributePlace(columns, 'count');
  if (following.length === 0 || columns === null || counted === null) return [];
  const wider = ({ range, start, end }: typeof whole) =>
    splice(start, end, showRange({ ...range, right: range.right + following.length }));
  const elements = following.map(
    ({ heading }, nth) =>
      `<${columns.prefix}tableColumn id="${lastId + 1 + nth}" name="${escapeXml(escapeCellText(heading))}"/>`,
  );
  const count = whole.range.right - whole.range.left + 1 + following.length;
  return [
    wider(whole),
    ...(filter === null ? [] : [wider(filter)]),
    splice(counted.start, counted.end, String(count)),
    withChild(columns, elements.join('')),
  ];
}
