import { describe, expect, test } from 'vitest';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import { anna, append, bert, headings, never, readAll, verdict } from '../../contract/target-harness.ts';

const width = headings.length;
const line = (text: string): string[] => headings.map((_, column) => (column === 1 ? text : ''));

/** A tab with two leads and lines below them; what `set` makes of it before the first sync. */
async function tabWith(
  below: readonly string[],
  set: (person: Awaited<ReturnType<typeof makeGoogleSheetsHarness>>['sandbox']['person']) => void,
) {
  const harness = await makeGoogleSheetsHarness();
  harness.edit(() => [headings, anna, bert, ...below.map(line)]);
  set(harness.sandbox.person);
  await harness.target().open({ create: true }, never());
  return harness;
}

const standings = async (harness: Awaited<ReturnType<typeof tabWith>>) =>
  (await readAll(harness.target())).map(({ row, leadId, standing }) => [row, leadId, standing]);

const columnOf = (person: Awaited<ReturnType<typeof tabWith>>['sandbox']['person'], column: number) =>
  person.grid('Leads')?.map((row) => row[column]);

const last = String.fromCharCode(64 + width);

describe('the table of a tab', () => {
  test('is the range of its filter: what stands directly below is not in it', async () => {
    await using harness = await tabWith(['Total: 2', 'as of May'], (person) =>
      person.filter('Leads', `A1:${last}3`),
    );
    expect(await standings(harness)).toEqual([
      [2, 'id-a', 'within'],
      [3, 'id-b', 'within'],
      [4, null, 'below'],
      [5, null, 'below'],
    ]);
  });

  test('is the table that people made of it, without its footer', async () => {
    await using harness = await tabWith(['Sum', 'a note'], (person) =>
      person.makeTable('Leads', `A1:${last}4`, true),
    );
    expect(await standings(harness)).toEqual([
      [2, 'id-a', 'within'],
      [3, 'id-b', 'within'],
      [5, null, 'below'],
    ]);
  });

  test.each([
    ['of other columns', `${last}1:${last}3`.replaceAll(last, 'Z')],
    ['that begins further down', `A2:${last}3`],
    ['of whole columns', `A1:${last}`],
  ])('is not told by a filter %s', async (_, range) => {
    await using harness = await tabWith(['Total: 2'], (person) => person.filter('Leads', range));
    expect((await standings(harness)).map(([, , standing]) => standing)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test('a missing id column names the free cell that the filter does not reach', async () => {
  await using harness = await makeGoogleSheetsHarness();
  harness.edit(() => [['Name', 'City'], anna.slice(1, 3), ['', '', 'a note']]);
  harness.sandbox.person.filter('Leads', 'A1:B2');
  await expect(harness.target().open({ create: true }, never())).rejects.toMatchObject({
    code: 'target.id-column-missing',
    help: expect.stringContaining('write "Lead ID" into D1 (and let the filter A1:B2 reach it),'),
  });
});

describe('new rows', () => {
  test.each([
    ['filter', (person, range) => person.filter('Leads', range, 1)],
    ['table', (person, range) => person.makeTable('Leads', range)],
  ] satisfies [
    string,
    (person: Awaited<ReturnType<typeof tabWith>>['sandbox']['person'], range: string) => void,
  ][])('go into the range of the %s, which grows, above what stands below it', async (_, make) => {
    await using harness = await tabWith(['Total: 2'], (person) => make(person, `A1:${last}3`));
    const { person } = harness.sandbox;
    for (const id of ['id-c', 'id-d']) {
      const outcomes = await harness.target().write([append(id, { name: id })], never());
      expect(outcomes.map(verdict)).toEqual(['done']);
    }
    expect(columnOf(person, 0)).toEqual(['Lead ID', 'id-a', 'id-b', 'id-c', 'id-d', '']);
    expect(person.ranges('Leads')).toEqual([`A1:${last}5`]);
    expect((await standings(harness)).at(-1)).toEqual([6, null, 'below']);
  });

  test('go above the footer of a table', async () => {
    await using harness = await tabWith(['Sum'], (person) => person.makeTable('Leads', `A1:${last}4`, true));
    const { person } = harness.sandbox;
    await harness.target().write([append('id-c', { name: 'Cleo' })], never());
    expect(columnOf(person, 0)).toEqual(['Lead ID', 'id-a', 'id-b', 'id-c', '']);
    expect(person.ranges('Leads')).toEqual([`A1:${last}5`]);
  });

  test('also grow a range that rows with ids have outgrown', async () => {
    await using harness = await tabWith(['Cleo', 'Total: 3'], (person) =>
      person.filter('Leads', `A1:${last}3`),
    );
    const { person } = harness.sandbox;
    person.type('Leads', 3, 0, 'id-c');
    await harness.target().write([append('id-d', { name: 'Dora' })], never());
    expect(columnOf(person, 0)).toEqual(['Lead ID', 'id-a', 'id-b', 'id-c', 'id-d', '']);
    expect(person.ranges('Leads')).toEqual([`A1:${last}5`]);
  });
});
