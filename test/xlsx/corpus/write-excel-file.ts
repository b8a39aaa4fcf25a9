import writeExcelFile, { type SheetData } from 'write-excel-file/node';
import {
  abroadFormula,
  columns,
  countFormula,
  doubleFormula,
  firstRow,
  localDate,
  people,
  rate,
  redDot,
  sheetName,
} from './content.ts';

/** A workbook of the small writer: shared strings, few features, formulas without cached values. */
export function writeWithWriteExcelFile(): Promise<Buffer> {
  const leads: SheetData = [
    columns.map((value) => ({ value, fontWeight: 'bold' as const })),
    ...people.map((person, n) => [
      person.id === '' ? null : { value: person.id, type: String },
      {
        value: person.company,
        type: String,
        fontFamily: 'Georgia',
        fontSize: 13,
        fontStyle: 'italic' as const,
      },
      person.notes === '' ? null : { value: person.notes, type: String },
      {
        value: person.city,
        type: String,
        backgroundColor: '#ffeeaa',
        align: 'right' as const,
        borderStyle: 'thin' as const,
        borderColor: '#336699',
      },
      person.due === '' ? null : { value: localDate(person.due), type: Date, format: 'yyyy-mm-dd hh:mm' },
      { value: person.amount, type: Number, format: '#,##0.00' },
      { value: doubleFormula(firstRow + n), type: 'Formula' as const },
      { value: abroadFormula(firstRow + n), type: 'Formula' as const },
      { value: person.code, type: String, format: '@' },
      null,
    ]),
  ];
  const rates: SheetData = [
    ['What', 'Rate'],
    ['Abroad', { value: rate, type: Number }],
    [],
    ['Rome', { value: countFormula, type: 'Formula' }],
  ];
  const image = {
    content: redDot,
    contentType: 'image/png' as const,
    width: 40,
    height: 40,
    dpi: 96,
    anchor: { row: 2, column: 16 },
    title: 'dot',
    description: 'a red dot',
  };
  return writeExcelFile([
    {
      data: leads,
      sheet: sheetName,
      columns: [{}, { width: 31 }, {}, {}, { width: 20 }],
      stickyRowsCount: 1,
      orientation: 'landscape',
      images: [image],
    },
    { data: rates, sheet: 'Rates' },
  ]).toBuffer();
}
