import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RowChange } from '../../src/ports/target.ts';
import { writeHeading } from '../../src/targets/file/workbook-target.ts';
import {
  append,
  link,
  mark,
  never,
  readAll,
  remove,
  status,
  update,
  verdict,
} from '../contract/target-harness.ts';
import { makeXlsxHarness, workbookParts, type XlsxHarness } from '../contract/xlsx-harness.ts';

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const sheet1 = 'xl/worksheets/sheet1.xml';
const text = (reference: string, content: string) =>
  `<c r="${reference}" t="inlineStr"><is><t>${content}</t></is></c>`;
const heading = `<row r="1">${['Lead ID', 'Company', 'City', 'Next follow-up', 'Sync', 'Own']
  .map((name, at) => text(`${'ABCDEF'[at]}1`, name))
  .join('')}</row>`;
const anna = (cells: string) => `<row r="2">${text('A2', 'id-a')}${cells}</row>`;

async function withSheet(
  rows: string,
  after: string,
  body: (harness: XlsxHarness) => Promise<void>,
): Promise<void> {
  await using harness = await makeXlsxHarness();
  harness.write(
    workbookParts(`<worksheet xmlns="${main}"><sheetData>${rows}</sheetData>${after}</worksheet>`),
  );
  await body(harness);
}

const write = (harness: XlsxHarness, ...changes: RowChange[]) =>
  harness.target({ statusColumn: 'Sync' }).write(changes, never());

test.each([
  ['text', '<c r="B2"><v>42</v></c>', { name: '42' }],
  ['15 digits', '<c r="B2"><v>0.30000000000000004</v></c>', { name: '0.3' }],
  ['a truth', '<c r="B2" t="b"><v>1</v></c>', { name: 'TRUE' }],
  ['a date in a text column', '<c r="B2" s="1"><v>45982</v></c>', { name: '2025-11-21' }],
  ['an error', '<c r="B2" t="e"><v>#N/A</v></c>', { name: { unreadable: '#N/A' } }],
  [
    'a formula',
    '<c r="B2" t="str"><f>C2&amp;"!"</f><v>Rome!</v></c>',
    { name: { unreadable: 'formula =C2&"!" (shows Rome!)' } },
  ],
  [
    'a shared formula',
    '<c r="B2"><f t="shared" si="0"/><v>3</v></c>',
    { name: { unreadable: 'formula (shows 3)' } },
  ],
  ['a date', '<c r="D2" s="1"><v>45982.5</v></c>', { due: '2025-11-21T11:00:00.000Z' }],
  ['a date as text', text('D2', '21.11.2025 12:00'), { due: '2025-11-21T11:00:00.000Z' }],
  ['an ISO date cell', '<c r="D2" t="d"><v>2025-11-21T12:00:00</v></c>', { due: '2025-11-21T11:00:00.000Z' }],
  ['a number that is no date', '<c r="D2"><v>45982</v></c>', { due: { unreadable: '45982' } }],
  ['a time without a day', '<c r="D2" s="1"><v>0.5</v></c>', { due: { unreadable: '0.5' } }],
])('reads %s', (_, cell, cells) =>
  withSheet(heading + anna(cell), '', async (harness) => {
    const [row] = await readAll(harness.target());
    expect(row).toMatchObject({ row: 2, leadId: 'id-a', cells });
  }),
);

test.each([
  ['a formula', '<c r="C2" t="str"><f>B2</f><v>x</v></c>', ''],
  ['merged cells', text('C2', 'x'), '<mergeCells count="1"><mergeCell ref="C2:F2"/></mergeCells>'],
  [
    'a cell that an array formula fills',
    '<c r="B2"><f t="array" ref="B2:C2">F2:G2</f><v>1</v></c><c r="C2"><v>2</v></c>',
    '',
  ],
])('holds what would write over %s, and changes nothing', (_, cell, after) =>
  withSheet(heading + anna(cell), after, async (harness) => {
    const before = harness.parts();
    const outcomes = await write(harness, update('id-a', {}, { city: 'Rome' }), remove('id-a', {}));
    expect(outcomes).toMatchObject([
      { status: 'held', code: 'target.cell-not-writable' },
      { status: 'held', code: 'target.cell-not-writable' },
    ]);
    expect(harness.parts()).toEqual(before);
  }),
);

test('a formula in the status column stays, and does not keep a row from getting its id', () =>
  withSheet(
    heading +
      anna('<c r="E2" t="str"><f>B2</f><v>mine</v></c>').replace(text('A2', 'id-a'), text('B2', 'Anna')),
    '',
    async (harness) => {
      const cells = { name: 'Anna', city: null, due: null };
      expect((await write(harness, link('id-a', cells, {}, 'in step'))).map(verdict)).toEqual(['done']);
      expect((await write(harness, status('id-a', 'held: x'))).map(verdict)).toEqual([
        'target.cell-not-writable',
      ]);
      expect(harness.show()?.[1]?.slice(0, 2)).toEqual(['id-a', 'Anna']);
      expect(harness.parts()[sheet1]).toContain('<f>B2</f>');
    },
  ));

test('writes beside a formula, and has it counted anew', () =>
  withSheet(
    heading + anna(`${text('C2', 'Bonn')}<c r="F2"><f>LEN(C2)</f><v>4</v></c>`),
    '',
    async (harness) => {
      expect((await write(harness, update('id-a', {}, { city: 'Rome' }))).map(verdict)).toEqual(['done']);
      expect(harness.parts()[sheet1]).toContain('<c r="F2"><f>LEN(C2)</f><v>4</v></c>');
      expect(harness.parts()['xl/workbook.xml']).toContain('</sheets><calcPr fullCalcOnLoad="1"/>');
    },
  ));

test('a number stays a number as long as it reads back the same', () =>
  withSheet(heading + anna('<c r="B2"><v>1</v></c><c r="C2"><v>2</v></c>'), '', async (harness) => {
    await write(harness, update('id-a', {}, { name: '17', city: '017' }));
    expect(harness.parts()[sheet1]).toContain('<c r="B2"><v>17</v></c><c r="C2" t="inlineStr">');
    expect((await readAll(harness.target()))[0]?.cells).toMatchObject({ name: '17', city: '017' });
  }));

test('a moment that the clock shows twice is written as text when it is the later one', () =>
  withSheet(heading + anna('<c r="D2" s="1"><v>45982</v></c>'), '', async (harness) => {
    for (const due of ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']) {
      await write(harness, update('id-a', {}, { due }));
      expect((await readAll(harness.target()))[0]?.cells['due']).toBe(due);
    }
    expect(harness.parts()[sheet1]).toContain('2026-10-25T01:30:00.000Z');
  }));

test('new rows fill formatted empty rows and those that wait with formulas, and push down what others wrote', () => {
  const rows =
    anna(text('B2', 'Anna')) +
    '<row r="3"><c r="B3" s="1"/></row><row r="4"><c r="F4"><f>LEN(B4)</f><v>0</v></c></row>' +
    `<row r="5">${text('F5', 'a note')}</row><row r="8"/>`;
  return withSheet(heading + rows, '<autoFilter ref="A1:F4"/>', async (harness) => {
    await write(harness, ...['1', '2', '3', '4', '5'].map((n) => append(`id-${n}`, { name: n })));
    const found = (await readAll(harness.target())).map(({ row, leadId }) => [row, leadId]);
    expect(found).toEqual([
      [2, 'id-a'],
      [3, 'id-1'],
      [4, 'id-2'],
      [5, 'id-3'],
      [6, 'id-4'],
      [7, 'id-5'],
    ]);
    expect(harness.parts()[sheet1]).toContain(
      '<c r="F10" t="inlineStr"><is><t xml:space="preserve">a note</t></is></c>',
    );
    expect(harness.parts()[sheet1]).toContain('<f>LEN(B4)</f>');
    expect(harness.parts()[sheet1]).toContain('<autoFilter ref="A1:F7"/>');
  });
});

test('a filter grows with rows that follow it', () =>
  withSheet(heading + anna(''), '<autoFilter ref="A1:F2"/>', async (harness) => {
    await write(harness, append('id-b', { name: 'B' }), append('id-c', { name: 'C' }));
    expect(harness.parts()[sheet1]).toContain('<autoFilter ref="A1:F4"/>');
  }));

test.each([
  ['', '', 'C3,', ''],
  ['A3:B5', '', 'C3 (and let the filter A3:B5 reach it),', 'A3:C5'],
  ['A3:D5', '', 'C3,', 'A3:D5'],
  // What stands below without a heading is a person's own.
  ['A3:B5', text('C4', 'a note'), 'D3 (and let the filter A3:B5 reach it),', 'A3:B5'],
  // A merged title above the headings takes no column.
  ['', 'merged', 'C3,', ''],
])(
  'without an id column the message names the free cell, and the filter grows: %s %s',
  (filter, beside, cell, grown) => {
    const isMerged = beside === 'merged';
    const rows = `<row r="1">${text('A1', 'List')}</row><row r="3">${text('A3', 'No.')}${text('B3', 'Company')}</row>
    <row r="4">${text('B4', 'Anna')}${isMerged ? '' : beside}</row>`;
    const merged = isMerged ? '<mergeCells count="1"><mergeCell ref="A1:F1"/></mergeCells>' : '';
    const after = `${filter === '' ? '' : `<autoFilter ref="${filter}"/>`}${merged}`;
    return withSheet(rows, after, async (harness) => {
      await expect(harness.target().open({ create: true }, never())).rejects.toMatchObject({
        code: 'target.id-column-missing',
        help: expect.stringContaining(`write "Lead ID" into ${cell}`),
      });
      const file = { path: join(harness.folder, 'leads.xlsx'), timeZone: 'UTC', idColumn: '', fields: [] };
      const around = { dataDir: harness.folder, msgraph: {}, msgraphUrl: '' };
      await writeHeading(file, around, { heading: 'Lead ID', beside: 'Company' }, never());
      expect((await readAll(harness.target())).map(({ row, leadId }) => [row, leadId])).toEqual([[4, null]]);
      expect(/<autoFilter ref="(.*?)"/.exec(harness.parts()[sheet1] ?? '')?.[1] ?? '').toBe(grown);
      expect(harness.parts()[sheet1]).toMatch(
        new RegExp(`<c r="${cell.slice(0, 2)}"[^>]*><is><t[^>]*>Lead ID<`),
      );
    });
  },
);

test('open in Excel: come back later', () =>
  withSheet(heading + anna(''), '', async (harness) => {
    writeFileSync(
      join(harness.folder, '~$leads.xlsx'),
      Buffer.concat([Buffer.from([4]), Buffer.from('Anna')]),
    );
    await expect(write(harness, mark('id-a', {}, 'deleted'))).rejects.toMatchObject({
      code: 'target.busy',
      retry: 'later',
      message: expect.stringContaining('(Anna)'),
    });
  }));

test('a large workbook is read and written piece by piece, with the same outcomes and faults', async () => {
  await using harness = await makeXlsxHarness();
  const noise = Array.from({ length: 6_000 }, (_, n) => [
    `id-${n}`,
    randomBytes(60).toString('base64'),
    'Bonn',
  ]);
  harness.edit(() => [['Lead ID', 'Company', 'City'], ...noise]);
  expect(await readAll(harness.target())).toHaveLength(6_000);
  const outcomes = await write(
    harness,
    update('id-5999', { city: 'Bonn' }, { city: 'Rome' }),
    update('id-7', { city: 'Rome' }, { city: 'Oslo' }),
    append('id-new', { name: 'New' }),
  );
  expect(outcomes.map(verdict)).toEqual(['done', 'row.changed', 'done']);
  expect(
    harness
      .show()
      ?.slice(-2)
      .map((row) => [row[0], row[2]]),
  ).toEqual([
    ['id-5999', 'Rome'],
    ['id-new', ''],
  ]);

  const stop = AbortSignal.abort(new DOMException('stop', 'AbortError'));
  await expect(harness.target().write([append('id-x', {})], stop)).rejects.toMatchObject({
    name: 'AbortError',
  });
  harness.edit(([, ...rows]) => [['Number', 'x', 'y'], ...rows]);
  await expect(readAll(harness.target())).rejects.toMatchObject({
    code: 'target.header-missing',
    retry: 'never',
  });
});
