import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readXlsx } from 'hucre/xlsx';
import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';
import {
  contentTypesXml,
  escaped,
  handMade,
  relationsXml,
  sheetXml,
  types,
  workbookXml,
} from '../../xlsx/corpus/hand-made.ts';
import { fields, leadsOf } from '../identity/places-scene.ts';

type Cells = Readonly<Record<string, string | number>>;

/** A workbook of rows by their number, and cells by their letter; texts that begin with `=` are formulas. */
function workbookOf(rows: Readonly<Record<number, Cells>>, filter?: string): Buffer {
  const cell = (at: string, value: string | number): string =>
    typeof value === 'number'
      ? `<c r="${at}"><v>${value}</v></c>`
      : value.startsWith('=')
        ? `<c r="${at}"><f>${escaped(value.slice(1))}</f><v>0</v></c>`
        : `<c r="${at}" t="inlineStr"><is><t>${escaped(value)}</t></is></c>`;
  const xml = Object.entries(rows).map(
    ([row, cells]) =>
      `<row r="${row}">${Object.entries(cells)
        .map(([column, value]) => cell(`${column}${row}`, value))
        .join('')}</row>`,
  );
  const after = filter === undefined ? '' : `<autoFilter ref="${filter}"/>`;
  return handMade({ 'xl/worksheets/sheet1.xml': sheetXml(xml.join(''), after) });
}

/** A workspace with this list, of which leadsync knows nothing. */
async function listed(rows: Readonly<Record<number, Cells>>, filter?: string) {
  const workspace = await Workspace.open({ sandbox: { leads: 0 } });
  workspace.configure({ fields, target: { path: './leads.xlsx' } });
  const path = join(workspace.folder, 'leads.xlsx');
  writeFileSync(path, workbookOf(rows, filter));
  const names = (): string[] =>
    leadsOf(workspace)
      .map(({ companyName }) => companyName)
      .toSorted();
  const shown = async () => (await readXlsx(readFileSync(path))).sheets[0]?.rows ?? [];
  return { workspace, path, names, shown };
}

const title = { 1: { A: 'Our customers' } };
const headings = { 3: { A: 'Lead ID', B: 'Company', C: 'City', D: 'Stage', E: 'Revenue' } };
const companies = {
  4: { B: 'Acme', C: 'Ulm', D: 'new', E: 10 },
  5: { B: 'Bolt', C: 'Bonn', D: 'won', E: 20 },
  6: { B: 'Cord', C: 'Köln', D: 'won', E: 30 },
};

test('a first sync: sums and notes below the list are no leads, and are told in one line, once', async () => {
  const { workspace, names, shown } = await listed(
    {
      ...title,
      ...headings,
      ...companies,
      7: { B: 'Summe', E: '=SUM(E4:E6)' },
      8: { B: 'Without VAT' },
      10: { A: 'Total: 3 customers' },
      11: { B: 'Source: our CRM' },
      1048576: { C: 'stray' },
    },
    'A3:E6',
  );
  await using _ = workspace;
  const message = expect.stringMatching(/^rows 7, 8, 10, 11, 1048576 are apart from the table/);
  expect(await workspace.sync()).toMatchObject({
    status: 'partial',
    created: { leads: 3, rows: 0 },
    problems: [{ code: 'row.apart', row: 7, message }],
  });
  expect(names()).toEqual(['Acme', 'Bolt', 'Cord']);
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: { leads: 0, rows: 0 },
    problems: [],
  });
  expect((await shown())[9]?.[0]).toBe('Total: 3 customers');
});

test('what stands directly below the filter at the first sync is no lead until it is changed; what is added there later is one', async () => {
  const { workspace, path, names } = await listed(
    { ...title, ...headings, ...companies, 7: { B: 'As of today' } },
    'A3:E6',
  );
  await using _ = workspace;
  for (let night = 0; night < 2; night++)
    expect(await workspace.sync()).toMatchObject({
      created: { leads: night === 0 ? 3 : 0, rows: 0 },
      problems: night === 0 ? [{ code: 'row.apart', row: 7 }] : [],
    });
  expect(names()).toEqual(['Acme', 'Bolt', 'Cord']);

  const ids = new Map(leadsOf(workspace).map(({ companyName, id }) => [companyName, id]));
  const known = Object.fromEntries(
    Object.entries(companies).map(([row, cells]) => [row, { A: String(ids.get(cells.B)), ...cells }]),
  );
  writeFileSync(
    path,
    workbookOf({ ...title, ...headings, ...known, 7: { B: 'Dorn' }, 8: { B: 'Erle' } }, 'A3:E6'),
  );
  expect(await workspace.sync()).toMatchObject({ created: { leads: 2, rows: 0 }, problems: [] });
  expect(names()).toEqual(['Acme', 'Bolt', 'Cord', 'Dorn', 'Erle']);
});

test('csv: comments of programs and the end mark of old ones are no leads, and stay', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 }, connection: { fields } });
  const after = '# exported 2027\r\n\u001a';
  writeFileSync(workspace.sheet.path, `Company,Lead ID,City,Stage\r\nAcme,,Ulm,new\r\n${after}`);
  expect(await workspace.sync()).toMatchObject({
    created: { leads: 1, rows: 1 },
    problems: [{ code: 'row.apart', row: 3, message: expect.stringMatching(/^rows 3, 4 are/) }],
  });
  expect(leadsOf(workspace)).toHaveLength(2);
  expect(workspace.sheet.text().endsWith(`\r\n${after}`)).toBe(true);
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 } });
});

test.each(['<sheetData/>', '<sheetData><row r="1" ht="20"/><row r="3"><c r="B3" s="1"/></row></sheetData>'])(
  'an empty sheet of a workbook is filled like a missing file, and the other sheets stay: %s',
  async (data) => {
    await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
    workspace.configure({ fields, target: { path: './leads.xlsx', sheet: 'Leads' } });
    const path = join(workspace.folder, 'leads.xlsx');
    const other = sheetXml('<row r="1"><c r="A1"><v>7</v></c></row>');
    writeFileSync(
      path,
      handMade({
        '[Content_Types].xml': contentTypesXml([
          ['xl/workbook.xml', types.workbook],
          ['xl/worksheets/sheet1.xml', types.sheet],
          ['xl/worksheets/sheet2.xml', types.sheet],
          ['xl/styles.xml', types.styles],
        ]),
        'xl/workbook.xml': workbookXml(
          '',
          '<sheet name="Other" sheetId="1" r:id="rId1"/><sheet name="Leads" sheetId="2" r:id="rId3"/>',
        ),
        'xl/_rels/workbook.xml.rels': relationsXml(
          ['rId1', 'worksheet', 'worksheets/sheet2.xml'],
          ['rId2', 'styles', 'styles.xml'],
          ['rId3', 'worksheet', 'worksheets/sheet1.xml'],
        ),
        'xl/worksheets/sheet1.xml': sheetXml('').replace('<sheetData></sheetData>', data),
        'xl/worksheets/sheet2.xml': other,
      }),
    );
    expect(await workspace.run({ mode: 'plan' })).toMatchObject({ status: 'succeeded', problems: [] });
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 2 } });
    const { sheets } = await readXlsx(readFileSync(path));
    expect(sheets.map(({ name, rows }) => [name, rows.length])).toEqual([
      ['Other', 1],
      ['Leads', 3],
    ]);
    expect(sheets[1]?.rows[0]?.slice(0, 2)).toEqual(['Lead ID', 'Company']);
    expect(await workspace.sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 0 } });
  },
);

test.each(['leads.tsv', 'leads.txt'])('%s is a CSV file', async (name) => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
  workspace.configure({ fields, target: { path: `./${name}` } });
  expect(await workspace.sync()).toMatchObject({ created: { rows: 1 } });
  const [head = '', ...lines] = readFileSync(join(workspace.folder, name), 'utf8').split('\r\n');
  expect(head).toContain(name.endsWith('.tsv') ? 'Lead ID\tCompany' : 'Lead ID,Company');
  expect(lines).toHaveLength(2);
});

test('csv: lines above the headings stay, and no cell of them is one of a lead', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 }, connection: { fields } });
  const above = 'Customers, as of 2026\r\n\r\n"Region; ""South"""\r\n';
  writeFileSync(workspace.sheet.path, `${above}Company;Lead ID;City;Stage\r\nAcme;;Ulm;new\r\n`);
  for (let night = 0; night < 2; night++)
    expect(await workspace.sync()).toMatchObject({
      status: 'succeeded',
      created: { leads: night === 0 ? 1 : 0, rows: night === 0 ? 1 : 0 },
      problems: [],
    });
  const text = workspace.sheet.text();
  expect(text.startsWith(`${above}Company;Lead ID;City;Stage\r\nAcme;`)).toBe(true);
  // Cut within its last row: the width of the headings counts.
  writeFileSync(workspace.sheet.path, text.slice(0, text.lastIndexOf(';')));
  expect(await workspace.sync()).toMatchObject({
    status: 'stopped',
    problems: [{ code: 'guard.target.incomplete' }],
  });
});

test('a guessed encoding is named with a text of the file, by check and by the first sync', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 0 }, connection: { fields } });
  const text = 'Lead ID,Company,City,Stage\r\n,Acme,Ulm,new\r\n,Müller,Köln,new\r\n';
  writeFileSync(workspace.sheet.path, Buffer.from(text, 'latin1'));
  const guess = expect.stringContaining('read as Windows-1252, a guess: it shows "Müller". If letters');
  const { checks } = (await workspace.cli('check', '--json')).json<{ checks: { message: string }[] }>();
  expect(checks.map(({ message }) => message)).toContainEqual(guess);
  expect(await workspace.sync()).toMatchObject({
    status: 'succeeded',
    created: { leads: 2 },
    problems: [{ code: 'place.encoding', message: guess }],
  });
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', problems: [] });
});

test('a plan names the values that the file cannot take, as the sync holds them; check says which letters it has', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 0 }, connection: { fields } });
  const { leads } = workspace.sandbox;
  leads.add({ companyName: 'Müller', city: 'Łódź', stage: 'new' });
  leads.add({ companyName: 'Acme', city: 'Ulm', stage: 'new' });
  writeFileSync(
    workspace.sheet.path,
    Buffer.from('Lead ID,Company,City,Stage\r\n,Köhler,Köln,new\r\n', 'latin1'),
  );
  const { checks } = (await workspace.cli('check', '--json')).json<{ checks: { message: string }[] }>();
  const letters = expect.stringContaining('or others than those of Western Europe are to come, save');
  expect(checks.map(({ message }) => message)).toContainEqual(letters);

  const refused = {
    code: 'target.value-not-storable',
    message: expect.stringContaining('City: The file is in Windows-1252, which has no "Ł"'),
  };
  for (const [code, when] of [
    [4, 'before the first sync'],
    [3, 'of a file that was read before'],
  ] as const) {
    const planned = await workspace.cli('plan', '--json');
    expect(planned.code, when).toBe(code);
    const { problems } = planned.json<{ problems: { code: string }[] }>();
    expect(
      problems.filter(({ code }) => code === refused.code),
      when,
    ).toMatchObject([refused]);
    const { held, problems: told } = await workspace.sync({ allow: ['first-leads'] });
    expect([held, told.filter(({ code }) => code === refused.code)]).toMatchObject([1, [refused]]);
  }
});
