import { openXlsx, saveXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { writtenByExcelts } from './corpus/excelts.ts';
import { sheetName } from './corpus/content.ts';
import { zip, type ZipStyle } from './corpus/zip.ts';
import { features, judgeFeatures, type Feature } from './judge/features.ts';
import { compareParts, readParts, type Parts } from './judge/parts.ts';

const workbook = writtenByExcelts('autofilter');
const parts = readParts(workbook);
const sheet = 'xl/worksheets/sheet1.xml';

const lostIn = (after: Parts): Feature[] =>
  [...judgeFeatures(parts, after, sheetName)]
    .filter(([, { verdict }]) => verdict === 'lost')
    .map(([name]) => name);
const edited = (part: string, change: (text: string) => string): Parts =>
  new Map(parts).set(part, Buffer.from(change(parts.get(part)?.toString() ?? '')));

test('the workbook of the table has every feature', () => {
  const verdicts = judgeFeatures(parts, parts, sheetName);
  expect(features.filter((name) => verdicts.get(name)?.verdict !== 'kept')).toEqual([]);
});

test.each<[Feature, string, (text: string) => string]>([
  ["user's own columns", sheet, (xml) => xml.replace('<v>100</v>', '<v>101</v>')],
  ['formula, same sheet', sheet, (xml) => xml.replace('<f>F2*2</f>', '')],
  ['formula, other sheet', sheet, (xml) => xml.replace('Rates!$B$2', '1')],
  ['fonts', sheet, (xml) => xml.replace('r="B3" s="2"', 'r="B3"')],
  ['number formats', 'xl/styles.xml', (xml) => xml.replace('yyyy-mm-dd hh:mm', 'dd.mm.yyyy')],
  ['fills', 'xl/styles.xml', (xml) => xml.replace('FFFFEEAA', 'FFFFEEAB')],
  ['borders, alignment', 'xl/styles.xml', (xml) => xml.replace('horizontal="right"', 'horizontal="left"')],
  ['text-formatted 0042', 'xl/sharedStrings.xml', (xml) => xml.replace('>0042<', '>42<')],
  ['conditional formats with fill', 'xl/styles.xml', (xml) => xml.replace('FFFF9999', 'FFFF9998')],
  ['data validation', sheet, (xml) => xml.replace(/<dataValidations.*<\/dataValidations>/, '')],
  ['freeze pane', sheet, (xml) => xml.replace('state="frozen"', '')],
  ['column width', sheet, (xml) => xml.replace('width="31.5"', 'width="9"')],
  ['hidden column', sheet, (xml) => xml.replace(' hidden="1"', '')],
  ['row height', sheet, (xml) => xml.replace('ht="33"', 'ht="15"')],
  ['autofilter', sheet, (xml) => xml.replace(/<autoFilter[^>]*>/, '')],
  ['named range', 'xl/workbook.xml', (xml) => xml.replace('$F$6', '$F$5')],
  ['merged cells', sheet, (xml) => xml.replace(/<mergeCells.*<\/mergeCells>/, '')],
  ['table with style', 'xl/tables/table1.xml', (xml) => xml.replace('TableStyleLight9', 'TableStyleLight1')],
  ['tab colour', sheet, (xml) => xml.replace('FF00AA00', 'FF00AA01')],
  ['orientation', sheet, (xml) => xml.replace('landscape', 'portrait')],
  ['header and footer', sheet, (xml) => xml.replace('Leads of the team', 'Leads')],
  ['hidden sheet', 'xl/workbook.xml', (xml) => xml.replace('state="hidden"', '')],
  ['comment', 'xl/comments1.xml', (xml) => xml.replace('Eva', 'Ada')],
  ['hyperlink', 'xl/worksheets/_rels/sheet1.xml.rels', (xml) => xml.replace('/anna', '/bert')],
  ['chart', 'xl/charts/chart1.xml', (xml) => xml.replace('Amount', 'Amounts')],
  ['image', 'xl/media/image1.png', () => 'another picture'],
  ['+ protected sheet', 'xl/worksheets/sheet6.xml', (xml) => xml.replace(/<sheetProtection[^>]*>/, '')],
  ['+ pivot table', 'xl/pivotTables/pivotTable1.xml', (xml) => `${xml} `],
  ['+ several sheets', 'xl/workbook.xml', (xml) => xml.replace('name="Sales"', 'name="Sold"')],
])('the judge sees the loss of: %s', (feature, part, change) => {
  const after = edited(part, change);
  expect(after.get(part)).not.toEqual(parts.get(part));
  expect(lostIn(after)).toContain(feature);
  expect(compareParts(parts, after).changed).toEqual([part]);
});

test('the judge sees what a library loses that writes the whole workbook anew', async () => {
  const saved = readParts(Buffer.from(await saveXlsx(await openXlsx(workbook))));
  expect(lostIn(saved)).toEqual(expect.arrayContaining(['fonts', 'fills', 'number formats']));
});

test.each<ZipStyle>([
  {},
  { stored: true },
  { dataDescriptors: true },
  { zip64: true },
  { extraField: true },
  { comment: 'x' },
])('the judge reads what the writer of zips writes: %o', (style) => {
  expect(compareParts(parts, readParts(zip(parts, style)))).toEqual({
    added: [],
    missing: [],
    changed: [],
    reordered: false,
  });
});
