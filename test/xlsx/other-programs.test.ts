import { execFile } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import {
  anna,
  annaCells,
  append,
  bert,
  bertCells,
  headings,
  link,
  never,
  readAll,
  update,
  verdict,
  withRows,
} from '../contract/target-harness.ts';
import { makeXlsxHarness, workbookParts, type XlsxHarness } from '../contract/xlsx-harness.ts';

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const text = (at: string, value: string) => `<c r="${at}" t="inlineStr"><is><t>${value}</t></is></c>`;
const head = `<row r="1">${text('A1', 'Lead ID')}${text('B1', 'Company')}${text('C1', 'City')}${text('D1', 'Next follow-up')}</row>`;

async function withSheet(
  rows: string,
  body: (harness: XlsxHarness) => Promise<void>,
  around: { readonly before?: string; readonly behind?: string } = {},
): Promise<void> {
  await using harness = await makeXlsxHarness();
  const { before = '', behind = '' } = around;
  harness.write(
    workbookParts(
      `<worksheet xmlns="${main}">${before}<sheetData>${head}${rows}</sheetData>${behind}</worksheet>`,
    ),
  );
  await body(harness);
}

const merged = (ref: string) => ({ behind: `<mergeCells count="1"><mergeCell ref="${ref}"/></mergeCells>` });

test('an empty cell that a merge covers is unreadable, and is not written over', () =>
  withSheet(
    `<row r="2">${text('A2', 'a')}${text('B2', 'Anna')}${text('C2', 'Bonn')}</row><row r="3">${text('A3', 'b')}${text('B3', 'Bert')}<c r="C3"/></row>`,
    async (harness) => {
      const cells = (await readAll(harness.target())).map((row) => row.cells['city']);
      expect(cells).toEqual(['Bonn', { unreadable: 'merged with C2', why: 'merged' }]);
      const outcomes = await harness.target().write([update('b', {}, { city: 'Linz' })], never());
      expect(outcomes.map(verdict)).toEqual(['target.cell-not-writable']);
    },
    merged('C2:C3'),
  ));

test('an id cell that a merge covers is unreadable; a row of nothing but covered cells is no row', () =>
  withSheet(
    `<row r="2">${text('A2', 'a')}${text('B2', 'Anna')}</row><row r="3">${text('B3', 'Bert')}</row><row r="4"><c r="A4"/></row>`,
    async (harness) => {
      expect(await readAll(harness.target())).toMatchObject([
        { leadId: 'a' },
        { leadId: null, unreadableId: 'merged with A2', cells: { name: 'Bert' } },
      ]);
      const found = await readAll(harness.target());
      const outcomes = await harness.target().write([link('n', found[1]?.cells ?? {})], never());
      expect(outcomes.map(verdict)).toEqual(['row.changed']);
    },
    merged('A2:A4'),
  ));

test('a formula in the id column is read by its value; without one, and an error, it is unreadable', () =>
  withSheet(
    `<row r="2"><c r="A2" t="str"><f>"a"</f><v>a</v></c>${text('B2', 'Anna')}</row>
     <row r="3"><c r="A3"><f>X3&amp;"b"</f></c>${text('B3', 'Bert')}</row>
     <row r="4"><c r="A4" t="e"><f>X4</f><v>#REF!</v></c>${text('B4', 'Cora')}</row>
     <row r="5"><c r="A5" t="e"><v>#N/A</v></c>${text('B5', 'Dora')}</row>
     <row r="6">${text('A6', 'e')}<c r="B6"><f>X6</f></c><c r="C6" t="e"><v>#N/A</v></c></row>`,
    async (harness) => {
      const rows = await readAll(harness.target());
      expect(rows.map(({ leadId, unreadableId }) => leadId ?? [unreadableId])).toEqual([
        'a',
        ['formula =X3&"b"'],
        ['formula =X4 (shows #REF!)'],
        ['#N/A'],
        'e',
      ]);
      expect(rows[4]?.cells).toEqual({
        name: { unreadable: 'formula =X6', why: 'formula' },
        city: { unreadable: '#N/A', why: 'error' },
        due: null,
      });
      const before = readFileSync(harness.path);
      const links = rows.slice(1, 4).map(({ cells }, nth) => link(`n${nth}`, cells));
      expect((await harness.target().write(links, never())).map(verdict)).toEqual([
        'row.changed',
        'row.changed',
        'row.changed',
      ]);
      expect(readFileSync(harness.path)).toEqual(before);
    },
  ));

test('a cell without a format has that of its row, else of its column', () =>
  withSheet(
    `<row r="2">${text('A2', 'a')}<c r="D2"><v>46392.4166666667</v></c></row>
     <row r="3" s="1" customFormat="1">${text('A3', 'b')}<c r="D3"><v>46392.4166666667</v></c></row>
     <row r="4" s="1">${text('A4', 'c')}<c r="D4" s="0"><v>46392.4166666667</v></c></row>`,
    async (harness) => {
      const due = (await readAll(harness.target())).map(({ cells }) => cells['due']);
      const moment = '2027-01-05T09:00:00.000Z';
      expect(due).toEqual([moment, moment, { unreadable: '46392.4166666667' }]);
      const later = '2027-01-06T09:00:00.000Z';
      expect(
        (await harness.target().write([update('a', { due: moment }, { due: later })], never())).map(verdict),
      ).toEqual(['done']);
      expect(harness.parts()['xl/worksheets/sheet1.xml']).toMatch(/<c r="D2" s="1"><v>46393\.41/);
      expect((await readAll(harness.target()))[0]?.cells['due']).toBe(later);
    },
    { before: '<cols><col min="4" max="4" width="20" style="1"/></cols>' },
  ));

test('a workbook whose end is missing is not judged', () =>
  withRows(makeXlsxHarness, [headings, anna, bert], async (harness) => {
    const whole = readFileSync(harness.path);
    for (const length of [4, whole.length >> 1, whole.length - 1]) {
      writeFileSync(harness.path, whole.subarray(0, length));
      const fault = { code: 'target.incomplete', retry: 'later' };
      await expect(readAll(harness.target())).rejects.toMatchObject(fault);
      await expect(harness.target().write([append('n', {})], never())).rejects.toMatchObject(fault);
      expect(readFileSync(harness.path)).toEqual(whole.subarray(0, length));
    }
  }));

test('the column of a new field belongs to the table, looks like the headings and shows dates', async () => {
  await using harness = await makeXlsxHarness();
  const [name, city, due] = ['name', 'city', 'due'].map((field, nth) => ({
    field,
    column: ['Company', 'City', 'Next follow-up'][nth] ?? '',
    type: field === 'due' ? ('instant' as const) : ('text' as const),
    direction: 'two-way' as const,
  }));
  if (name === undefined || city === undefined || due === undefined) throw new Error('three fields');
  await harness.target({ fields: [name, due] }).open({ create: true }, never());
  await harness.target({ fields: [name, due] }).write([append('a', { name: 'Anna', due: null })], never());
  const later = { ...due, field: 'later', column: 'Later & <last>' };
  const target = harness.target({ fields: [name, city, due, later] });
  const { missing } = await target.open({ create: true, newFields: ['city', 'later'] }, never());
  expect(missing).toEqual([]);
  const parts = harness.parts();
  expect(parts['xl/tables/table1.xml']).toContain('ref="A1:E2"');
  expect(parts['xl/tables/table1.xml']).toMatch(
    /<tableColumns count="5">.*<tableColumn id="4" name="City"\/><tableColumn id="5" name="Later &amp; &lt;last&gt;"\/><\/tableColumns>/,
  );
  expect(parts['xl/worksheets/sheet1.xml']).toMatch(/<c r="D1" s="1" t="inlineStr">/);
  const values = { city: 'Bonn', later: '2027-01-05T09:00:00.000Z' };
  expect((await target.write([update('a', {}, values)], never())).map(verdict)).toEqual(['done']);
  expect(harness.parts()['xl/worksheets/sheet1.xml']).toMatch(/<c r="E2" s="2"><v>46392/);
  expect((await readAll(target))[0]?.cells).toMatchObject(values);
});

const run = promisify(execFile);

test('dates are dates after Gnumeric has saved a workbook that we made', { tags: 'ssconvert' }, async () => {
  await using harness = await makeXlsxHarness();
  const target = harness.target();
  await target.open({ create: true }, never());
  await target.write([append('id-a', annaCells), append('id-b', bertCells)], never());
  const saved = `${harness.path}.saved.xlsx`;
  await run('ssconvert', [harness.path, saved]);
  renameSync(saved, harness.path);
  expect(await readAll(harness.target())).toMatchObject([
    { leadId: 'id-a', cells: annaCells },
    { leadId: 'id-b', cells: bertCells },
  ]);
  const later = '2027-01-05T09:00:00.000Z';
  const changes = [update('id-a', annaCells, { due: later }), append('id-n', { name: 'N', due: later })];
  expect((await harness.target().write(changes, never())).map(verdict)).toEqual(['done', 'done']);
  await run('ssconvert', [harness.path, saved]);
  renameSync(saved, harness.path);
  expect((await readAll(harness.target())).map(({ cells }) => cells['due'])).toEqual([later, null, later]);
});

const openpyxl = `import openpyxl, sys
book = openpyxl.load_workbook(sys.argv[1])
book.save(sys.argv[1])`;

test('dates are dates after openpyxl has saved a workbook that we made', { tags: 'python3' }, async () => {
  await using harness = await makeXlsxHarness();
  const target = harness.target();
  await target.open({ create: true }, never());
  await target.write([append('id-a', annaCells), append('id-b', bertCells)], never());
  await run('/usr/bin/python3', ['-c', openpyxl, harness.path]);
  expect(await readAll(harness.target())).toMatchObject([{ cells: annaCells }, { cells: bertCells }]);
});

test('new rows push down what is written below the table', () =>
  withSheet(
    `<row r="2">${text('A2', 'a')}${text('B2', 'Anna')}</row><row r="5">${text('B5', 'A note')}</row>`,
    async (harness) => {
      const ids = ['n', 'o', 'p'];
      await harness.target().write(
        ids.map((id) => append(id, { name: id })),
        never(),
      );
      const rows = await readAll(harness.target());
      expect(rows.map(({ row, leadId }) => `${row} ${leadId}`)).toEqual([
        '2 a',
        '3 n',
        '4 o',
        '5 p',
        '8 null',
      ]);
    },
  ));
