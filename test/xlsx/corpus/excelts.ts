import { Workbook, type Worksheet } from '@cj-tech-master/excelts';
import { installChartSupport } from '@cj-tech-master/excelts/chart';
import {
  abroad,
  abroadFormula,
  columns,
  countFormula,
  doubleFormula,
  firstRow,
  lastRow,
  localDate,
  people,
  rate,
  redDot,
  sheetName,
} from './content.ts';

const line = { style: 'thin', color: { argb: 'FF336699' } } as const;

/**
 * A workbook with everything that this writer can do. `table`: the leads are a table, which then owns the filter; else
 * the sheet has an autofilter and the table stands on another sheet.
 */
export async function writeWithExcelts({
  table,
  date1904,
}: {
  table: boolean;
  date1904: boolean;
}): Promise<Buffer> {
  installChartSupport();
  const workbook = new Workbook();
  workbook.properties.date1904 = date1904;
  const sheet = workbook.addWorksheet(sheetName, {
    properties: { tabColor: { argb: 'FF00AA00' } },
    pageSetup: { orientation: 'landscape' },
    headerFooter: { oddHeader: '&CLeads of the team', oddFooter: '&P of &N' },
    views: [{ state: 'frozen', xSplit: 1, ySplit: 1 }],
  });
  writeLeads(sheet, table);
  decorate(workbook, sheet);
  if (!table) sheet.autoFilter = `A1:J${lastRow}`;
  writeRates(workbook);
  workbook.addWorksheet('Hidden notes', { state: 'hidden' }).getCell('A1').value = 'not for everyone';
  const locked = workbook.addWorksheet('Locked');
  locked.getCell('A1').value = 'do not touch';
  await locked.protect('secret', {});
  workbook.definedNames.add(`${sheetName}!$F$${firstRow}:$F$${lastRow}`, 'Amounts');
  return Buffer.from(await workbook.xlsx.writeBuffer());
}

function writeLeads(sheet: Worksheet, table: boolean): void {
  const rows = people.map((person, n) => [
    person.id === '' ? null : person.id,
    person.company,
    person.notes === '' ? null : person.notes,
    person.city,
    person.due === '' ? null : localDate(person.due),
    person.amount,
    { formula: doubleFormula(firstRow + n), result: person.amount * 2 },
    { formula: abroadFormula(firstRow + n), result: abroad(person.city, person.amount) },
    person.code,
    null,
  ]);
  if (table) {
    sheet.addTable({
      name: 'LeadsTable',
      ref: 'A1',
      headerRow: true,
      style: { theme: 'TableStyleMedium4', showRowStripes: true },
      columns: columns.map((name) => ({ name, filterButton: true })),
      rows,
    });
  } else {
    sheet.addRows([[...columns], ...rows]);
  }
  for (let row = firstRow; row <= lastRow; row++) {
    sheet.getCell(`E${row}`).numFmt = 'yyyy-mm-dd hh:mm';
    sheet.getCell(`F${row}`).numFmt = '#,##0.00 [$€-407]';
    sheet.getCell(`I${row}`).numFmt = '@';
    sheet.getCell(`B${row}`).font = { name: 'Georgia', size: 13, italic: true, color: { argb: 'FFAA2200' } };
    sheet.getCell(`D${row}`).fill = { type: 'pattern', pattern: 'solid', fgColor: { argb: 'FFFFEEAA' } };
    sheet.getCell(`D${row}`).border = { top: line, bottom: line, left: line, right: line };
    sheet.getCell(`D${row}`).alignment = { horizontal: 'right', vertical: 'top', wrapText: true };
  }
  sheet.getRow(1).font = { bold: true };
}

function decorate(workbook: Workbook, sheet: Worksheet): void {
  sheet.getCell('B2').note = 'Called twice, ask for Eva';
  sheet.getCell('C2').value = { text: 'mine', hyperlink: 'https://example.com/anna' };
  sheet.addConditionalFormatting({
    ref: 'F2:F50',
    rules: [
      {
        type: 'cellIs',
        operator: 'greaterThan',
        formulae: [250],
        priority: 1,
        style: { fill: { type: 'pattern', pattern: 'solid', bgColor: { argb: 'FFFF9999' } } },
      },
    ],
  });
  sheet.getCell('C5').dataValidation = { type: 'list', allowBlank: true, formulae: ['"mine,yours,new one"'] };
  sheet.getColumn(2).width = 31.5;
  sheet.getColumn(9).hidden = true;
  sheet.getRow(3).height = 33;
  sheet.mergeCells('M20:N21');
  sheet.getCell('M20').value = 'A note by hand';
  const image = workbook.addImage({ buffer: redDot, extension: 'png' });
  sheet.addImage(image, { tl: { col: 15, row: 1 }, ext: { width: 40, height: 40 } });
  sheet.addColumnChart(
    { series: [{ name: 'Amount', categories: `${sheetName}!$B$2:$B$6`, values: `${sheetName}!$F$2:$F$6` }] },
    'P5:W20',
  );
}

function writeRates(workbook: Workbook): void {
  const rates = workbook.addWorksheet('Rates');
  rates.addTable({
    name: 'RatesTable',
    ref: 'A1',
    headerRow: true,
    style: { theme: 'TableStyleLight9', showRowStripes: true },
    columns: [{ name: 'What' }, { name: 'Rate' }],
    rows: [['Abroad', rate]],
  });
  rates.getCell('B4').value = { formula: countFormula, result: 0 };
  const sales = workbook.addWorksheet('Sales');
  sales.addRows([
    ['Region', 'Quarter', 'Sum'],
    ['North', 'Q1', 10],
    ['South', 'Q1', 20],
    ['North', 'Q2', 30],
  ]);
  workbook.addWorksheet('Pivot').addPivotTable({
    sourceSheet: sales,
    rows: ['Region'],
    columns: ['Quarter'],
    values: ['Sum'],
    metric: 'sum',
  });
}
