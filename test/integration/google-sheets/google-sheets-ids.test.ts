import { expect, test } from 'vitest';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import {
  anna,
  annaCells,
  bert,
  bertCells,
  headings,
  link,
  never,
  readAll,
  unlink,
  update,
  verdict,
} from '../../contract/target-harness.ts';

async function withId(typed: string) {
  const harness = await makeGoogleSheetsHarness();
  harness.edit(() => [headings, anna, bert]);
  harness.sandbox.person.type('Leads', 2, 0, typed);
  return harness;
}

test('an id that a formula shows is the id, and is never written over', async () => {
  await using harness = await withId('="id-"&"b"');
  expect((await readAll(harness.target()))[1]).toMatchObject({ leadId: 'id-b', cells: bertCells });
  const outcomes = await harness
    .target()
    .write([update('id-b', bertCells, { city: 'Rome' }), unlink('id-b', { city: 'Bonn' }, {})], never());
  expect(outcomes.map(verdict)).toEqual(['done', 'target.cell-not-writable']);
  expect((await readAll(harness.target()))[1]).toMatchObject({ leadId: 'id-b', cells: { city: 'Rome' } });
});

test.each([
  ['=1/0', 'formula =1/0 (shows #DIV/0!)'],
  ['=NA()', 'formula =NA() (shows #N/A)'],
  ['=""', 'formula =""'],
  ['#REF!', '#REF!'],
])('an id cell with %s is no id, and no empty one', async (typed, unreadableId) => {
  await using harness = await withId(typed);
  const rows = await readAll(harness.target());
  expect(rows).toMatchObject([{ leadId: 'id-a' }, { leadId: null, unreadableId, cells: bertCells }]);
  expect(rows[0]?.unreadableId).toBeUndefined();
  const outcomes = await harness.target().write([link('id-new', bertCells, {})], never());
  expect(outcomes.map(verdict)).toEqual(['row.changed']);
});

test('formulas of ids in rows that nobody has used are no rows', async () => {
  await using harness = await withId('id-b');
  for (const row of [3, 4, 5]) harness.sandbox.person.type('Leads', row, 0, `=B${row + 1}&""`);
  expect((await readAll(harness.target())).map(({ leadId }) => leadId)).toEqual(['id-a', 'id-b']);
});

test('formulas and errors elsewhere are told apart', async () => {
  await using harness = await withId('id-b');
  const { person } = harness.sandbox;
  person.type('Leads', 1, 3, '="Aa"&"chen"');
  person.type('Leads', 2, 3, '#N/A');
  const cities = (await readAll(harness.target())).map(({ cells }) => cells['city']);
  expect(cities).toEqual([
    { unreadable: 'formula ="Aa"&"chen" (shows Aachen)', why: 'formula' },
    { unreadable: '#N/A', why: 'error' },
  ]);
  const change = update('id-b', { name: 'Bert BV' }, { city: 'Rome' });
  expect((await harness.target().write([change], never())).map(verdict)).toEqual([
    'target.cell-not-writable',
  ]);
});

test('a company that is really called #REF! is a text, on both ways', async () => {
  await using harness = await withId('id-b');
  harness.sandbox.person.type('Leads', 1, 1, "'#REF!");
  const names = async () => (await readAll(harness.target())).map(({ cells }) => cells['name']);
  expect(await names()).toEqual(['#REF!', 'Bert BV']);
  const change = update('id-b', bertCells, { name: '#N/A' });
  expect((await harness.target().write([change], never())).map(verdict)).toEqual(['done']);
  expect(await names()).toEqual(['#REF!', '#N/A']);
  const again = update('id-a', { ...annaCells, name: '#REF!' }, { name: 'Loading...' });
  expect((await harness.target().write([again], never())).map(verdict)).toEqual(['done']);
  expect(await names()).toEqual(['Loading...', '#N/A']);
});

test('rows that are moved while it is asked whether a cell holds an error are noticed', async () => {
  await using harness = await withId('id-b');
  const { sandbox } = harness;
  sandbox.person.type('Leads', 1, 1, "'#REF!");
  let asked = 0;
  sandbox.before = ({ method }) => {
    if (method === 'spreadsheets.get' && ++asked === 2) sandbox.person.insertRows('Leads', 1);
  };
  await expect(harness.target().open({ create: false }, never())).rejects.toMatchObject({
    code: 'target.changed',
    retry: 'now',
  });
});
