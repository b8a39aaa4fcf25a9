import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { Workspace } from '../../support/workspace.ts';

const fields = { companyName: 'Company', city: 'City', stage: 'Stage' };
const firm = (nth: number): string => `Firm ${nth}`;

/** A table of eight leads in step, with a column of the person's own at the end. */
async function inStep(
  delimiter: string,
  onRowDeleted: 'restore' | 'delete-lead' = 'restore',
): Promise<Workspace> {
  const here = await Workspace.open({ connection: { fields, sync: { onRowDeleted } } });
  const leads = Array.from({ length: 8 }, (_, nth) =>
    here.sandbox.leads.add({ companyName: firm(nth), city: `City ${nth}`, stage: 'new' }),
  );
  write(here, [
    ['Lead ID', 'Company', 'City', 'Stage', 'Notes'].join(delimiter),
    ...leads.map(({ id }, nth) => [id, firm(nth), `City ${nth}`, 'new', ''].join(delimiter)),
  ]);
  expect(await here.sync()).toMatchObject({ status: 'succeeded' });
  return here;
}

const lines = (here: Workspace): string[] => here.sheet.text().trimEnd().split('\r\n');
const write = (here: Workspace, texts: readonly string[]): void =>
  writeFileSync(here.sheet.path, `${texts.join('\r\n')}\r\n`);
const put = (here: Workspace, line: number, change: (text: string) => string): void =>
  write(
    here,
    lines(here).map((text, nth) => (nth + 1 === line ? change(text) : text)),
  );

const untouched = {
  created: { leads: 0, rows: 0 },
  updated: { leads: 0, rows: 0 },
  deleted: { leads: 0, rows: 0 },
};

function expectMisread(report: SyncReport, from: number, to: number): void {
  expect(report).toMatchObject({ status: 'stopped', ...untouched });
  const stops = report.problems.filter(({ code }) => code === 'guard.misread');
  expect(stops.map(({ message }) => message)).toEqual([expect.stringContaining(`lines ${from} to ${to}`)]);
}

test.each([
  [',', 'delete-lead'],
  [';', 'restore'],
  ['\t', 'delete-lead'],
] as const)(
  'two stray quotes in a note join rows (%j, %s): every night stops, and nothing is lost when they are mended',
  async (delimiter, onRowDeleted) => {
    await using here = await inStep(delimiter, onRowDeleted);
    const before = here.sheet.text();
    put(here, 5, (text) => `${text}"call back`);
    put(here, 7, (text) => `${text}wants pipe 12"`);
    const damaged = here.sheet.text();
    for (let night = 0; night < 3; night++) expectMisread(await here.sync(), 5, 7);
    expect(here.sheet.text()).toBe(damaged);
    expect(here.sandbox.leads.size).toBe(8);
    write(here, before.trimEnd().split('\r\n'));
    expect(await here.sync()).toMatchObject({ status: 'succeeded', ...untouched });
  },
);

test('in the middle of a row, over two lines only, in a mapped column: no lead gets a row as its city', async () => {
  await using here = await inStep(',');
  put(here, 4, (text) => text.replace('City 2', '"City 2'));
  put(here, 5, (text) => text.replace('City 3', 'City 3"'));
  for (let night = 0; night < 2; night++) expectMisread(await here.sync(), 4, 5);
  expect(here.sandbox.leads.list().map((lead) => lead['city'])).toEqual(
    Array.from({ length: 8 }, (_, nth) => `City ${nth}`),
  );
});

test('the rows that are joined are new ones without an id: none of them is in the city of a lead', async () => {
  await using here = await inStep(',');
  write(here, [...lines(here), ',New 1,"Ulm,new,', ',New 2,Linz,new,', ',New 3,Graz",new,']);
  for (let night = 0; night < 2; night++) expectMisread(await here.sync(), 10, 12);
  expect(here.sandbox.leads.size).toBe(8);
});

test('a first sync, and the first after the state was lost: nothing is made of a row that holds others', async () => {
  await using here = await Workspace.open({ connection: { fields } });
  write(here, ['Lead ID,Company,City,Stage', ',New 1,"Ulm,new', ',New 2,Linz,new', ',New 3,Graz",new']);
  expectMisread(await here.sync(), 2, 4);
  const [one, two] = [1, 2].map(() =>
    here.sandbox.leads.add({ companyName: 'Known', city: 'Ulm', stage: 'new' }),
  );
  write(here, ['Lead ID,Company,City,Stage', `${one?.id},Known,Ulm,"new`, `${two?.id},Known,Ulm,new"`]);
  expectMisread(await here.sync(), 2, 3);
  expect(here.sandbox.leads.size).toBe(2);
  expect(lines(here)).toHaveLength(3);
});

test('the headings hold rows', async () => {
  await using here = await inStep(',');
  put(here, 1, (text) => text.replace('Notes', '"Notes'));
  put(here, 3, (text) => `${text}12"`);
  expectMisread(await here.sync(), 1, 3);
});

test('in the status column, with texts that begin with a blank (delete-lead): stops, and allowed or not the row stays', async () => {
  await using here = await inStep(',', 'delete-lead');
  here.configure({
    fields,
    target: { statusColumn: 'Notes' },
    sync: { onRowDeleted: 'delete-lead' },
  });
  put(here, 4, (text) => text.replace('City 2', ' Ulm '));
  expect(await here.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 1 } });
  put(here, 3, (text) => text.replace(/in step$/, '"in step'));
  put(here, 4, (text) => `${text}"`);
  const { id } = here.sandbox.leads.list().find(({ companyName }) => companyName === firm(2)) ?? { id: '?' };
  const before = here.sheet.text();
  expectMisread(await here.sync(), 3, 4);
  expect(here.sheet.text()).toBe(before);
  for (let night = 0; night < 3; night++) await here.sync({ allow: ['misread'] });
  expect(here.sandbox.leads.get(id)).toBeDefined();
  expect(here.sheet.text()).toContain(id);
});

test('a quotation mark that is never closed stops as an incomplete file', async () => {
  await using here = await inStep(',', 'delete-lead');
  put(here, 5, (text) => `${text}"call back`);
  for (let night = 0; night < 2; night++) {
    const report = await here.sync({ maxAttempts: 1 });
    expect(report).toMatchObject({
      status: 'stopped',
      ...untouched,
      problems: [{ code: 'guard.target.incomplete' }],
    });
    expect(report.problems[0]?.message).toContain('line 5');
  }
  expect(here.sandbox.leads.size).toBe(8);
});

test('with --allow misread the rest goes on, and a lead in a cell stays as it is', async () => {
  await using here = await inStep(',', 'delete-lead');
  put(here, 5, (text) => `${text}"call back`);
  put(here, 7, (text) => `${text}wants pipe 12"`);
  put(here, 9, (text) => text.replace('City 7', 'Bonn'));
  for (let night = 0; night < 3; night++)
    expect(await here.sync({ allow: ['misread'] })).toMatchObject({
      status: 'partial',
      created: { leads: 0, rows: 0 },
      updated: { leads: night === 0 ? 1 : 0 },
      deleted: { leads: 0, rows: 0 },
      problems: [{ code: 'row.in-cell' }, { code: 'row.in-cell' }],
    });
});

test.each(['restore', 'delete-lead'] as const)(
  'a note names a lead whose row is gone (%s): held with the place until the note is changed',
  async (onRowDeleted) => {
    await using here = await inStep(',', onRowDeleted);
    const [, , gone = '', ...others] = lines(here);
    const [id = ''] = gone.split(',');
    write(here, [...lines(here).slice(0, 2), ...others]);
    put(here, 4, (text) => `${text}same as ${id.toUpperCase()}`);
    for (let night = 0; night < 3; night++)
      expect(await here.sync()).toMatchObject({
        ...untouched,
        problems: [
          { code: 'row.in-cell', leadId: id, message: expect.stringContaining('line 4') as unknown },
        ],
      });
    put(here, 4, (text) => text.replace(/same as.*/, ''));
    const nights = [await here.sync(), await here.sync()];
    const [restored, deleted] = [
      nights.map(({ created }) => created.rows),
      nights.map((one) => one.deleted.leads),
    ];
    expect({ restored, deleted }).toEqual(
      onRowDeleted === 'restore'
        ? { restored: [1, 0], deleted: [0, 0] }
        : { restored: [0, 0], deleted: [0, 1] },
    );
  },
);

test('notes of many lines, lists of other leads, a column with all ids: an ordinary night', async () => {
  await using here = await inStep(',');
  const [head = '', ...rows] = lines(here);
  const ids = rows.map((text) => text.split(',')[0] ?? '');
  write(here, [
    `${head},Copy,Link`,
    ...rows.map((text, nth) => {
      const other = ids[(nth + 1) % ids.length] ?? '';
      const notes = [
        `duplicate of ${other}`,
        `"see\n${other}"`,
        `"${other}, ${ids[0]}\n${other},${ids[1]},x,y,z,"`,
        '"Anna, Bert, Carl, Dora, Emil, Frida\n, , , , , , "',
        '"Berlin,\n""Bonn"",\n\n"',
        '"one\ttwo\nthree\tfour"',
        `"${ids.map((id) => `${id},Firm,Ulm,new,,,`).join('\n')}"`,
        '""',
      ];
      return `${text}${notes[nth]},${ids[nth]},"=HYPERLINK(""https://crm.example/${ids[nth]}"")"`;
    }),
  ]);
  for (let night = 0; night < 2; night++)
    expect(await here.sync()).toMatchObject({ status: 'succeeded', ...untouched, problems: [] });
});

test('lines that a program quoted as a whole are rows that were misread: nothing is written, and the lines are named', async () => {
  await using here = await inStep(',');
  const before = lines(here);
  const whole = (text: string) => `"${text.replaceAll('"', '""')}"`;
  write(here, [...before, whole(',"Grimes, Madden and Huff",Ulm,new,'), ',Acme,Bonn,new,']);
  const report = await here.sync();
  expect(report).toMatchObject({ status: 'stopped', ...untouched });
  expect(report.problems).toMatchObject([
    { code: 'guard.misread', message: expect.stringContaining('line 10') as unknown },
  ]);
  expect(here.sandbox.leads.size).toBe(8);
  write(here, [...before, '"Please call, ask for Anna, Bert, or Cleo, or write"']);
  expect(await here.sync()).toMatchObject({ ...untouched, problems: [] });
});
