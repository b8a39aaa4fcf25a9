import type { FileTableOptions } from '../file/file-format.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { splice } from '../file/splice.ts';
import { headingsOf } from '../shared/columns.ts';
import { showRange } from '../shared/table-range.ts';
import { columnLetters } from '../shared/cell-name.ts';
import { xlsxFaults } from './fault.ts';
import { SheetReader, type SheetRow } from './rows.ts';
import { openWorkbook } from './workbook.ts';
import type { PartEdit } from './write-plan.ts';
import { escapeCellText, escapeXml } from './xml-text.ts';
import type { RandomAccess } from './zip-directory.ts';

/**
 * The headings for a sheet in which no cell has anything; null: one has, or the workbook cannot be read, which its readers
 * report.
 */
export async function planXlsxHeadings(
  file: RandomAccess,
  options: FileTableOptions,
): Promise<PartEdit | null> {
  try {
    const { sheet, pack } = await openWorkbook(file, options, xlsxFaults(options.name));
    const reader = new SheetReader({ sheet, pack });
    let first: SheetRow | undefined;
    for await (const rows of reader.rows()) {
      if (rows.some(({ cells }) => cells.some(({ raw, formula }) => raw !== '' || formula !== null)))
        return null;
      first ??= rows[0];
    }
    const { prefix: p, dataStart, dataEnd, dimension } = reader.layout;
    const headings = headingsOf(options);
    const cells = headings.map(
      (heading, at) =>
        `<${p}c r="${columnLetters(at)}1" t="inlineStr"><${p}is><${p}t xml:space="preserve">${escapeXml(escapeCellText(heading))}</${p}t></${p}is></${p}c>`,
    );
    const row = `<${p}row r="1">${cells.join('')}</${p}row>`;
    const isClosed = dataEnd === dataStart.start;
    const written = isClosed
      ? splice(dataStart.start, dataStart.end, `<${p}sheetData>${row}</${p}sheetData>`)
      : first?.row === 1
        ? splice(first.start, first.end, row)
        : splice(dataStart.end, dataStart.end, row);
    const range = { left: 0, top: 1, right: headings.length - 1, bottom: 1 };
    const used = dimension === null ? [] : [splice(dimension.start, dimension.end, showRange(range))];
    return { part: sheet.name, splices: [...used, written] };
  } catch (error) {
    if (error instanceof LeadsyncError) return null;
    throw error;
  }
}
