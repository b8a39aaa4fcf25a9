import type { FileTableOptions } from '../file/file-format.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { columnLetters } from '../shared/cell-name.ts';
import { escapeCellText, escapeXml } from './xml.ts';
import { xlsxFaults } from './fault.ts';
import { newZip, type RandomAccess } from './zip.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { splice } from '../file/splice.ts';
import { headingsOf } from '../shared/columns.ts';
import { showRange } from '../shared/table-range.ts';
import { SheetReader, type SheetRow } from './rows.ts';
import { openWorkbook } from './workbook.ts';
import type { PartEdit } from './write-plan.ts';

const head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relationships = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const contentTypes = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Indexes into the styles part below. */
const headingStyle = 1;
const instantStyle = 2;
const textStyle = 3;

/** A new workbook with one sheet: frozen headings, and a table with filters that grows with its rows. */
export function newWorkbook(options: FileTableOptions): AsyncGenerator<Buffer> {
  const { name, sheet, idColumn, statusColumn, pauseColumn, fields } = options;
  const columns: NewColumn[] = [
    { heading: idColumn, style: textStyle, width: 38 },
    ...fields.map(({ field, column, type, values }) => ({
      heading: column,
      values,
      style: fieldKinds[type].isMoment ? instantStyle : textStyle,
      width: Math.max(field === 'companyName' ? 38 : 18, column.length + 4),
    })),
  ];
  if (statusColumn !== undefined)
    columns.push({ heading: statusColumn, style: textStyle, width: Math.max(20, statusColumn.length + 4) });
  if (pauseColumn !== undefined)
    columns.push({ heading: pauseColumn, style: textStyle, width: pauseColumn.length + 6 });
  const parts = {
    '[Content_Types].xml': types(/\.xlsm$/i.test(name)),
    '_rels/.rels': relations('officeDocument:xl/workbook.xml'),
    'xl/workbook.xml': workbook(sheet ?? 'Leads'),
    'xl/_rels/workbook.xml.rels': relations('worksheet:worksheets/sheet1.xml', 'styles:styles.xml'),
    'xl/styles.xml': styles,
    'xl/worksheets/sheet1.xml': worksheet(columns),
    'xl/worksheets/_rels/sheet1.xml.rels': relations('table:../tables/table1.xml'),
    'xl/tables/table1.xml': table(columns),
  };
  const named = Object.entries(parts).map(([name, text]) => ({ name, text: head + text }));
  return newZip(named, xlsxFaults(name));
}

function types(macros: boolean): string {
  const kind = macros ? 'application/vnd.ms-excel.sheet.macroEnabled' : `${contentTypes}.sheet`;
  const parts = [
    ['/xl/workbook.xml', `${kind}.main+xml`],
    ['/xl/worksheets/sheet1.xml', `${contentTypes}.worksheet+xml`],
    ['/xl/styles.xml', `${contentTypes}.styles+xml`],
    ['/xl/tables/table1.xml', `${contentTypes}.table+xml`],
  ];
  return `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${parts
    .map(([part, type]) => `<Override PartName="${part}" ContentType="${type}"/>`)
    .join('')}</Types>`;
}

/** @param targets as `type:path` */
function relations(...targets: readonly string[]): string {
  const each = targets.map((target, index) => {
    const [type, path] = target.split(':');
    return `<Relationship Id="rId${index + 1}" Type="${relationships}/${type}" Target="${path}"/>`;
  });
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${each.join('')}</Relationships>`;
}

function workbook(sheetName: string): string {
  return `<workbook xmlns="${main}" xmlns:r="${relationships}"><bookViews><workbookView/></bookViews><sheets><sheet name="${escapeXml(sheetName)}" sheetId="1" r:id="rId1"/></sheets></workbook>`;
}

const styles = `<styleSheet xmlns="${main}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/><family val="2"/></font><font><b/><sz val="11"/><name val="Calibri"/><family val="2"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyAlignment="1"><alignment horizontal="left"/></xf><xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

interface NewColumn {
  readonly heading: string;
  readonly style: number;
  readonly width: number;
  /** Offered as a list; other values give a warning only. */
  readonly values?: readonly string[] | undefined;
}

function worksheet(columns: readonly NewColumn[]): string {
  const last = columnLetters(columns.length - 1);
  const widths = columns.map(
    ({ width, style }, at) =>
      `<col min="${at + 1}" max="${at + 1}" width="${width}" style="${style}" customWidth="1"/>`,
  );
  const headings = columns.map(
    ({ heading }, at) =>
      `<c r="${columnLetters(at)}1" s="${headingStyle}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(escapeCellText(heading))}</t></is></c>`,
  );
  return `<worksheet xmlns="${main}" xmlns:r="${relationships}"><sheetPr><pageSetUpPr fitToPage="1"/></sheetPr><dimension ref="A1:${last}1"/><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/><selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews><cols>${widths.join('')}</cols><sheetData><row r="1">${headings.join('')}</row></sheetData>${lists(columns)}<pageSetup orientation="landscape" fitToHeight="0"/><tableParts count="1"><tablePart r:id="rId1"/></tableParts></worksheet>`;
}

/** Data validation for every row of the sheet (ECMA-376 part 1, 18.3.1.33). */
function lists(columns: readonly NewColumn[]): string {
  const rules = columns.flatMap(({ values }, at) => {
    // A list within a rule holds no commas, and 255 characters in all: words with a meaning may be more.
    if (values === undefined || values.some((value) => value.includes(',')) || values.join().length > 255)
      return [];
    const choices = escapeXml(`"${values.join(',').replaceAll('"', '""')}"`);
    const cells = `${columnLetters(at)}2:${columnLetters(at)}1048576`;
    return [
      `<dataValidation type="list" errorStyle="warning" allowBlank="1" showErrorMessage="1" sqref="${cells}"><formula1>${choices}</formula1></dataValidation>`,
    ];
  });
  return rules.length === 0
    ? ''
    : `<dataValidations count="${rules.length}">${rules.join('')}</dataValidations>`;
}

/** A table needs one row below its headings, even if empty. */
function table(columns: readonly NewColumn[]): string {
  const range = `A1:${columnLetters(columns.length - 1)}2`;
  const named = columns.map(
    ({ heading }, at) => `<tableColumn id="${at + 1}" name="${escapeXml(escapeCellText(heading))}"/>`,
  );
  return `<table xmlns="${main}" id="1" name="Leads" displayName="Leads" ref="${range}" totalsRowShown="0"><autoFilter ref="${range}"/><tableColumns count="${columns.length}">${named.join('')}</tableColumns><tableStyleInfo name="TableStyleMedium2" showFirstColumn="0" showLastColumn="0" showRowStripes="1" showColumnStripes="0"/></table>`;
}

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
