import { people, serial, sheetName } from './content.ts';
import { zip, type ZipStyle } from './zip.ts';

export const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
export const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const contentTypes = 'http://schemas.openxmlformats.org/package/2006/content-types';
const office = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

export type PackageParts = Map<string, Buffer | string>;

/** Headings of a hand-made sheet, columns A to F. */
export const handMadeHeadings = ['Lead ID', 'Company', 'Notes', 'City', 'Next follow-up', 'Sync'];

/** Values of a hand-made sheet below its headings; numbers are dates as serials of the 1900 epoch. */
export const handMadeRows: readonly (readonly (string | number)[])[] = people.map((person) => [
  person.id,
  person.company,
  person.notes,
  person.city,
  person.due === '' ? '' : serial(person.due),
  '',
]);

export const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export type CellXml = (reference: string, value: string | number) => string;

/** Style 1 of `styles` below is a date. */
export const plainCell: CellXml = (reference, value) =>
  typeof value === 'number'
    ? `<c r="${reference}" s="1"><v>${value}</v></c>`
    : `<c r="${reference}" t="inlineStr"><is><t xml:space="preserve">${escaped(value)}</t></is></c>`;

/** The rows of a sheet, headings first; empty values have no cell. */
export function rowsXml(cell: CellXml = plainCell, firstRow = 1): string {
  return [handMadeHeadings, ...handMadeRows]
    .map((values, n) => {
      const cells = values.map((value, column) =>
        value === '' ? '' : cell(`${'ABCDEF'[column]}${firstRow + n}`, value),
      );
      return `<row r="${firstRow + n}">${cells.join('')}</row>`;
    })
    .join('');
}

export const sheetXml = (rows: string, after = '') =>
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<worksheet xmlns="${main}" xmlns:r="${relations}"><sheetData>${rows}</sheetData>${after}</worksheet>`;

export const workbookXml = (inside = '', sheets = `<sheet name="${sheetName}" sheetId="1" r:id="rId1"/>`) =>
  `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<workbook xmlns="${main}" xmlns:r="${relations}">${inside}<sheets>${sheets}</sheets></workbook>`;

export const relationsXml = (...entries: readonly (readonly [id: string, type: string, target: string])[]) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Relationships xmlns="${packageRelations}">${entries
    .map(([id, type, target]) => `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

export const contentTypesXml = (overrides: readonly (readonly [part: string, type: string])[], more = '') =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Types xmlns="${contentTypes}">${more}<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${overrides
    .map(([part, type]) => `<Override PartName="/${part}" ContentType="${type}"/>`)
    .join('')}</Types>`;

export const types = {
  workbook: `${office}.sheet.main+xml`,
  macroWorkbook: 'application/vnd.ms-excel.sheet.macroEnabled.main+xml',
  sheet: `${office}.worksheet+xml`,
  strings: `${office}.sharedStrings+xml`,
  styles: `${office}.styles+xml`,
  calcChain: `${office}.calcChain+xml`,
};

export const styles = `<?xml version="1.0" encoding="UTF-8"?>\n<styleSheet xmlns="${main}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm"/></numFmts><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>`;

/** The parts of the least workbook that has dates, with parts of a test's own in their place or besides. */
export function packageParts(own: Readonly<Record<string, Buffer | string>> = {}): PackageParts {
  return new Map(
    Object.entries({
      '[Content_Types].xml': contentTypesXml([
        ['xl/workbook.xml', types.workbook],
        ['xl/worksheets/sheet1.xml', types.sheet],
        ['xl/styles.xml', types.styles],
      ]),
      '_rels/.rels': relationsXml(['rId1', 'officeDocument', 'xl/workbook.xml']),
      'xl/workbook.xml': workbookXml(),
      'xl/_rels/workbook.xml.rels': relationsXml(
        ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
        ['rId2', 'styles', 'styles.xml'],
      ),
      'xl/styles.xml': styles,
      'xl/worksheets/sheet1.xml': sheetXml(rowsXml()),
      ...own,
    }),
  );
}

export function handMade(own: Readonly<Record<string, Buffer | string>> = {}, style: ZipStyle = {}): Buffer {
  return zip(packageParts(own), style);
}
