import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RowChange, TargetRow } from '../../src/ports/target.ts';
import { append, never, readAll, remove, update, verdict } from '../contract/target-harness.ts';
import {
  contentTypesXml,
  handMade,
  handMadeHeadings,
  main,
  relationsXml,
  rowsXml,
  sheetXml,
  styles,
  types,
} from './corpus/hand-made.ts';
import { JudgedWorkbook } from './judge/workbook.ts';
import { readParts } from './judge/parts.ts';
import { all, attribute } from './judge/xml.ts';
import { targetOf } from './three-rounds.ts';

const sheet1 = 'xl/worksheets/sheet1.xml';
const table1 = 'xl/tables/table1.xml';
const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;

interface Played {
  readonly rows: readonly TargetRow[];
  readonly verdicts: readonly string[];
  readonly book: JudgedWorkbook;
  readonly texts: (reference: string) => string | undefined;
}

async function play(file: Buffer, changes: readonly RowChange[]): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
  try {
    const path = join(folder, 'leads.xlsx');
    await writeFile(path, file);
    const rows = await readAll(targetOf(path));
    const outcomes = await targetOf(path).write(changes, never());
    const book = new JudgedWorkbook(readParts(await readFile(path)));
    const { cells } = book.sheet('Leads');
    return { rows, verdicts: outcomes.map(verdict), book, texts: (reference) => cells.get(reference)?.text };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const withTable = (ref: string, filter: string, attributes: string, rows: string) =>
  handMade({
    '[Content_Types].xml': contentTypesXml([
      ['xl/workbook.xml', types.workbook],
      [sheet1, types.sheet],
      ['xl/styles.xml', types.styles],
      [table1, 'application/vnd.openxmlformats-officedocument.spreadsheetml.table+xml'],
    ]),
    'xl/worksheets/_rels/sheet1.xml.rels': relationsXml(['rId1', 'table', '../tables/table1.xml']),
    [table1]: `<table xmlns="${main}" id="1" name="T" displayName="T" ref="${ref}" ${attributes}><autoFilter ref="${filter}"/><tableColumns count="6">${handMadeHeadings
      .map((name, n) => `<tableColumn id="${n + 1}" name="${name}"/>`)
      .join('')}</tableColumns></table>`,
    [sheet1]: sheetXml(rows, '<tableParts count="1"><tablePart r:id="rId1"/></tableParts>'),
  });

describe('what stands around the rows', () => {
  const fresh = append('id-x', { name: 'X', city: 'Y', due: null });

  test("a table's totals row is no lead; new rows push it down", async () => {
    const totals = `<row r="7">${text('B7', 'Total')}<c r="F7"><f>SUBTOTAL(103,T[Sync])</f><v>0</v></c></row>`;
    const played = await play(withTable('A1:F7', 'A1:F6', 'totalsRowCount="1"', rowsXml() + totals), [fresh]);
    expect(played.rows.map(({ row }) => row)).toEqual([2, 3, 4, 5, 6]);
    expect(played.verdicts).toEqual(['done']);
    expect([played.texts('A7'), played.texts('A8') ?? '', played.texts('B8')]).toEqual(['id-x', '', 'Total']);
    const root = played.book.root(table1);
    expect([attribute(root, 'ref'), ...all(root, 'autoFilter').map((e) => attribute(e, 'ref'))]).toEqual([
      'A1:F8',
      'A1:F7',
    ]);
  });

  test('a table grows by the rows that follow it at once', async () => {
    const played = await play(withTable('A1:F6', 'A1:F6', '', rowsXml()), [fresh]);
    expect(played.texts('A7')).toBe('id-x');
    const root = played.book.root(table1);
    expect([attribute(root, 'ref'), ...all(root, 'autoFilter').map((e) => attribute(e, 'ref'))]).toEqual([
      'A1:F7',
      'A1:F7',
    ]);
  });

  test("a row with the user's own sum is pushed down and sums the new rows, too; the filter grows", async () => {
    const sum = `<row r="8" ht="20">${text('C8', 'Tötal')}<c r="G8" s="1"><f>SUM(G2:G6)+SUM(Other!G2:G6)</f><v>0</v></c></row>`;
    const filter = '<autoFilter ref="A1:G6"/>';
    const file = handMade({ [sheet1]: sheetXml(rowsXml() + sum, filter) });
    const played = await play(file, [fresh, append('id-y', { name: 'Y' }), append('id-z', { name: 'Z' })]);
    expect(['A7', 'A8', 'A9', 'C11'].map(played.texts)).toEqual(['id-x', 'id-y', 'id-z', 'Tötal']);
    const { root } = played.book.sheet('Leads');
    expect(all(root, 'f').map(({ textContent }) => textContent)).toEqual(['SUM(G2:G9)+SUM(Other!G2:G6)']);
    expect(all(root, 'autoFilter').map((e) => attribute(e, 'ref'))).toEqual(['A1:G9']);
    expect(all(root, 'row').map((row) => attribute(row, 'r'))).toEqual(
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 11].map(String),
    );
  });

  const sums = `<row r="7">${text('C7', 'Total')}<c r="F7"><f>SUM(F2:F6)</f><v>0</v></c></row>`;

  test('notes below the sums, or below the table alone, are pushed down with what they calculate', async () => {
    const notes = `<row r="8"><c r="F8"><f>F7*0.19+F$2</f><v>0</v></c></row><row r="9" ht="30"/><row r="10">${text('C10', 'Source: fair')}</row>`;
    const two = [fresh, append('id-y', { name: 'Y' })];
    const played = await play(handMade({ [sheet1]: sheetXml(rowsXml() + sums + notes) }), two);
    expect(['A7', 'A8', 'C9', 'C12'].map(played.texts)).toEqual(['id-x', 'id-y', 'Total', 'Source: fair']);
    const { root } = played.book.sheet('Leads');
    expect(all(root, 'f').map(({ textContent }) => textContent)).toEqual(['SUM(F2:F8)', 'F9*0.19+F$2']);
    expect(all(root, 'row').map((row) => attribute(row, 'ht'))).toContain('30');
    const note = `<row r="8">${text('C8', 'a note')}</row>`;
    const noted = await play(handMade({ [sheet1]: sheetXml(rowsXml() + note) }), two);
    expect(['A7', 'A8', 'C10'].map(noted.texts)).toEqual(['id-x', 'id-y', 'a note']);
    const far = `<row r="20">${text('C20', 'a note')}</row>`;
    const apart = await play(handMade({ [sheet1]: sheetXml(rowsXml() + far) }), two);
    expect(['A7', 'A8', 'C20'].map(apart.texts)).toEqual(['id-x', 'id-y', 'a note']);
  });

  test.each([
    ['a formula refers to them', '<c r="G2"><f>F$7/2</f><v>0</v></c></row>', '', ''],
    ['a link is among them', '</row>', '', '<hyperlinks><hyperlink ref="C9"/></hyperlinks>'],
    ['cells are merged', '</row>', '', '<mergeCells count="1"><mergeCell ref="C9:E9"/></mergeCells>'],
    [
      'a formula refers to them by the name of the sheet',
      '<c r="G2"><f>Leads!F$7/2</f><v>0</v></c></row>',
      '',
      '',
    ],
    ['they name their sheet', '</row>', '<c r="F9"><f>Leads!F7*2</f><v>0</v></c>', ''],
    [
      'entries are checked by them',
      '</row>',
      '',
      '<dataValidations count="1"><dataValidation type="list" sqref="E2:E6"><formula1>$C$9:$C$12</formula1></dataValidation></dataValidations>',
    ],
    [
      'they have a format of their own',
      '</row>',
      '',
      '<conditionalFormatting sqref="F2:F6 F7"><cfRule type="expression" dxfId="0" priority="1"><formula>F2&gt;3</formula></cfRule></conditionalFormatting>',
    ],
    ['they have something beside the table', '</row>', text('J9', 'a list'), ''],
  ])('sums and notes stay where %s', async (_, ending, beside, after) => {
    const rows = rowsXml().replace('</row><row r="3">', `${ending}<row r="3">`);
    const note = `<row r="9">${text('C9', 'note')}${beside}</row>`;
    const played = await play(handMade({ [sheet1]: sheetXml(rows + sums + note, after) }), [fresh]);
    expect([played.texts('A7') ?? '', played.texts('C7'), played.texts('C9')]).toEqual(['', 'Total', 'note']);
    expect(played.texts('A8')).toBe('id-x');
  });

  test('sums stay where a formula above the headings, or in a prepared row, refers to them', async () => {
    const lower = (xml: string) =>
      xml.replaceAll(
        /(<row r="|<c r="[A-Z]+)(\d+)/g,
        (_, start: string, row: string) => start + (Number(row) + 2),
      );
    const title = '<row r="1"><c r="A1"><f>F9</f><v>0</v></c></row>';
    const titled = await play(handMade({ [sheet1]: sheetXml(title + lower(rowsXml() + sums)) }), [fresh]);
    expect([titled.texts('A9') ?? '', titled.texts('C9'), titled.texts('A10')]).toEqual([
      '',
      'Total',
      'id-x',
    ]);
    const prepared = '<row r="7"><c r="H7"><f>F8</f><v>0</v></c></row>';
    const below = sums.replaceAll('7"', '8"');
    const two = [fresh, append('id-y', { name: 'Y' })];
    const free = await play(handMade({ [sheet1]: sheetXml(rowsXml() + prepared + below) }), two);
    expect(['A7', 'C8', 'A9'].map(free.texts)).toEqual(['id-x', 'Total', 'id-y']);
  });

  test('what only looks like a cell is the same in formulas that are pushed down', async () => {
    const formula = `LOG10(F7)&amp;"see A8"&amp;'Q8 2026'!B2&amp;'Q8'!B8&amp;Q8!B8&amp;T[Q8]&amp;F8`;
    const rows = `<row r="8"><c r="C8"><f>${formula}</f><v>0</v></c><c r="F8"><v>1</v></c></row>`;
    const played = await play(handMade({ [sheet1]: sheetXml(rowsXml() + sums + rows) }), [fresh]);
    const { root } = played.book.sheet('Leads');
    expect(all(root, 'f').map(({ textContent }) => textContent)).toEqual([
      'SUM(F2:F7)',
      `LOG10(F8)&"see A8"&'Q8 2026'!B2&'Q8'!B8&Q8!B8&T[Q8]&F9`,
    ]);
  });

  test('the list of formulas names the cells that are pushed down where they are', async () => {
    const chain = 'xl/calcChain.xml';
    const file = handMade({
      '[Content_Types].xml': contentTypesXml([
        ['xl/workbook.xml', types.workbook],
        [sheet1, types.sheet],
        ['xl/styles.xml', types.styles],
        [chain, 'application/vnd.openxmlformats-officedocument.spreadsheetml.calcChain+xml'],
      ]),
      'xl/_rels/workbook.xml.rels': relationsXml(
        ['rId1', 'worksheet', 'worksheets/sheet1.xml'],
        ['rId2', 'styles', 'styles.xml'],
        ['rId3', 'calcChain', 'calcChain.xml'],
      ),
      [sheet1]: sheetXml(rowsXml() + sums),
      [chain]: `<calcChain xmlns="${main}"><c r="F7" i="2"/><c r="F7" i="1" l="1"/><c r="F2"/></calcChain>`,
    });
    const { book } = await play(file, [fresh, append('id-y', { name: 'Y' })]);
    expect(all(book.root(chain), 'c').map((cell) => attribute(cell, 'r'))).toEqual(['F7', 'F9', 'F2']);
  });

  test('hidden and filtered rows are read like others, and a new row is not hidden', async () => {
    const hidden = rowsXml()
      .replace('<row r="6">', '<row r="6" hidden="1">')
      .replace('<row r="3">', '<row r="3" hidden="1">');
    const criteria =
      '<autoFilter ref="A1:F6"><filterColumn colId="3"><filters><filter val="Aachen"/></filters></filterColumn></autoFilter>';
    const played = await play(handMade({ [sheet1]: sheetXml(hidden, criteria) }), [fresh]);
    expect(played.rows).toHaveLength(5);
    const rows = all(played.book.sheet('Leads').root, 'row');
    expect(rows.map((row) => attribute(row, 'hidden'))).toEqual([null, null, '1', null, null, '1', null]);
  });

  test('merged cells of a row are left alone, a merged row below is skipped', async () => {
    const merges = '<mergeCells count="2"><mergeCell ref="D2:D3"/><mergeCell ref="A8:F8"/></mergeCells>';
    const played = await play(handMade({ [sheet1]: sheetXml(rowsXml(), merges) }), [
      update('id-a', {}, { city: 'Rome' }),
      remove('id-b', {}),
      fresh,
      append('id-y', { name: 'Y' }),
    ]);
    expect(played.verdicts).toEqual(['target.cell-not-writable', 'target.cell-not-writable', 'done', 'done']);
    expect(['A7', 'A8', 'A9'].map((at) => played.texts(at) ?? '')).toEqual(['id-x', '', 'id-y']);
    expect(['D2', 'A3', 'D3'].map(played.texts)).toEqual(['Aachen', 'id-b', 'Bonn']);
  });

  test('a formula in a column of ours is never overwritten; other cells of its row are', async () => {
    const formula = '<c r="D2" t="str"><f t="shared" ref="D2:D3" si="0">LOWER("AACHEN")</f><v>aachen</v></c>';
    const user = '<c r="D3" t="str"><f t="shared" si="0"/><v>aachen</v></c>';
    const rows = rowsXml()
      .replace(/<c r="D2".*?<\/c>/, formula)
      .replace(/<c r="D3".*?<\/c>/, user);
    const played = await play(handMade({ [sheet1]: sheetXml(rows) }), [
      update('id-a', {}, { city: 'Rome' }),
      update('id-a', {}, { name: 'AA' }),
      remove('id-b', {}),
    ]);
    expect(played.verdicts).toEqual(['target.cell-not-writable', 'done', 'target.cell-not-writable']);
    expect(['B2', 'D2', 'D3'].map(played.texts)).toEqual(['AA', 'aachen', 'aachen']);
  });

  test('no row is made beyond the last one that a sheet can have', async () => {
    const rows = rowsXml()
      .replace('<row r="6">', '<row r="1048576">')
      .replaceAll(/r="([A-F])6"/g, 'r="$11048576"');
    const withId = rows.replace('<row r="1048576">', `<row r="1048576">${text('A1048576', 'id-last')}`);
    const rome = update('id-a', {}, { city: 'Rome' });
    const played = await play(handMade({ [sheet1]: sheetXml(withId) }), [fresh, rome]);
    expect(played.verdicts).toEqual(['target.full', 'done']);
    expect(played.texts('D2')).toBe('Rome');
  });
});

test.each<[string, readonly (readonly [style: number, value: string])[], string | null]>([
  [
    'that most have, though the last one has none',
    [
      [2, '46000'],
      [2, '46001'],
      [1, '46002'],
      [0, 'soon'],
    ],
    '2',
  ],
  [
    'of the only date, above texts',
    [
      [2, '46000'],
      [0, 'soon'],
      [0, 'later'],
    ],
    '2',
  ],
  [
    'that most have, not that of the last one',
    [
      [2, '46000'],
      [2, '46001'],
      [1, '46002'],
    ],
    '2',
  ],
  [
    'of no empty cell',
    [
      [1, ''],
      [1, ''],
      [2, '46000'],
      [0, 'soon'],
    ],
    '2',
  ],
])('a new row takes the date format %s', async (_, cells, expected) => {
  const rows = cells.map(([style, value], n) => {
    const at = `E${n + 2}`;
    const due = style === 0 ? text(at, value) : `<c r="${at}" s="${style}">${value && `<v>${value}</v>`}</c>`;
    return `<row r="${n + 2}">${text(`A${n + 2}`, `id-${n}`)}${text(`B${n + 2}`, `Company ${n}`)}${due}</row>`;
  });
  const headings = handMadeHeadings.map((heading, n) => text(`${'ABCDEF'[n]}1`, heading)).join('');
  // A second format of dates, as people write them.
  const more = styles
    .replace('<cellXfs count="2">', '<cellXfs count="3">')
    .replace(
      '</cellXfs>',
      '<xf numFmtId="14" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>',
    );
  const file = handMade({
    'xl/styles.xml': more,
    [sheet1]: sheetXml(`<row r="1">${headings}</row>${rows.join('')}`),
  });
  const due = '2026-12-03T23:00:00.000Z';
  const { verdicts, book } = await play(file, [append('id-x', { name: 'X', city: null, due })]);
  expect(verdicts).toEqual(['done']);
  const added = all(book.root(sheet1), 'c').find((cell) => attribute(cell, 'r') === `E${cells.length + 2}`);
  expect(added && [attribute(added, 's'), attribute(added, 't')]).toEqual([expected, null]);
});
