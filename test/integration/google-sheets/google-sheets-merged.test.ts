import { describe, expect, test } from 'vitest';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  headings,
  link,
  never,
  readAll,
  remove,
  update,
  verdict,
} from '../../contract/target-harness.ts';

const carl = ['id-c', 'Carl KG', '', 'Celle', '', ''];
const table = [headings, anna, bert, carl];

/** A table that people have merged cells of, in the first tab of its spreadsheet, whose id is 0. */
async function merged(...ranges: readonly string[]) {
  const harness = await makeGoogleSheetsHarness({ tabs: ['Leads'] });
  harness.edit(() => table);
  for (const range of ranges) harness.sandbox.person.merge('Leads', range);
  return harness;
}

const coveredBy = (anchor: string) => ({ unreadable: `merged with ${anchor}`, why: 'merged' });

describe('a cell that a merge covers is not empty', () => {
  test.each([
    ['down', 'D2:D3', 1, { city: coveredBy('D2') }],
    ['across', 'B3:D3', 1, { city: coveredBy('B3') }],
    ['over rows and columns', 'B2:D3', 1, { name: coveredBy('B2'), city: coveredBy('B2') }],
    ['with an empty first cell', 'E3:E4', 1, { due: null }],
    ['with an empty first cell', 'E3:E4', 2, { due: coveredBy('E3') }],
  ])('merged %s (%s)', async (_, range, at, cells) => {
    await using harness = await merged(range);
    const rows = await readAll(harness.target());
    expect(rows).toHaveLength(3);
    expect(rows[at]?.cells).toMatchObject(cells);
  });

  test('and shows its content again when it is written after the merge was undone', async () => {
    await using harness = await merged('D2:D3');
    const change = () => update('id-b', { name: 'Bert BV', city: null }, { city: 'Bonn' });
    const refused = await harness.target().write([change()], never());
    expect(refused.map(verdict)).toEqual(['row.changed']);
    harness.sandbox.person.unmerge('Leads', 'A1:F9');
    expect((await readAll(harness.target()))[1]?.cells['city']).toBeNull();
    expect((await harness.target().write([change()], never())).map(verdict)).toEqual(['done']);
    expect(harness.show()?.[2]?.[3]).toBe('Bonn');
  });

  test('when the merge is made while the tab is read', async () => {
    for (const n of [1, 2, 3, 4]) {
      await using harness = await merged();
      const { sandbox } = harness;
      let asked = 0;
      sandbox.before = ({ method }) => {
        if (method !== 'drive.files.get' && ++asked === n) sandbox.person.merge('Leads', 'D2:D3');
      };
      const [, row] = await readAll(harness.target());
      expect(row?.cells['city'], `before request ${n}`).not.toBeNull();
    }
  });

  test('when it is made between look and write: that change is put off', async () => {
    await using harness = await merged();
    const { sandbox } = harness;
    sandbox.before = ({ method }) => {
      if (method !== 'spreadsheets.values.batchUpdate') return;
      sandbox.before = null;
      sandbox.person.merge('Leads', 'D2:D3');
    };
    const change = update('id-b', { city: 'Bonn' }, { city: 'Rome' });
    expect((await harness.target().write([change], never())).map(verdict)).toEqual(['row.changed']);
    expect(harness.show()?.[2]?.[3]).toBe('');
  });

  test('in columns of the users own it is no matter', async () => {
    await using harness = await merged('C2:C4');
    const rows = await readAll(harness.target());
    expect(rows.map(({ cells }) => cells)).toMatchObject([annaCells, { city: 'Bonn' }, { city: 'Celle' }]);
    const change = update('id-c', { city: 'Celle' }, { city: 'Rome' });
    expect((await harness.target().write([change], never())).map(verdict)).toEqual(['done']);
  });

  test('with the heading above it, too', async () => {
    await using harness = await merged('D1:D2');
    const [row] = await readAll(harness.target());
    expect(row?.cells['city']).toEqual(coveredBy('D1'));
  });

  test('headings that are merged away leave their fields out, and a merged id heading stops', async () => {
    await using harness = await merged('D1:E1');
    const { missing } = await harness.target().open({ create: false }, never());
    expect(missing).toMatchObject([{ field: 'due' }]);
    await using other = await makeGoogleSheetsHarness({ tabs: ['Leads'] });
    other.edit(() => [headings.with(0, 'Company').with(1, 'Lead ID'), anna]);
    other.sandbox.person.merge('Leads', 'A1:B1');
    await expect(other.target().open({ create: false }, never())).rejects.toMatchObject({
      code: 'target.id-column-missing',
    });
  });
});

describe('a merged id', () => {
  test('is no id and no empty cell, and its row is there though all of it is covered', async () => {
    await using harness = await merged('A2:A3', 'B2:F3');
    const rows = await readAll(harness.target());
    expect(rows).toMatchObject([
      { row: 2, leadId: 'id-a' },
      { row: 3, leadId: null, unreadableId: 'merged with A2', cells: { name: coveredBy('B2') } },
      { row: 4, leadId: 'id-c' },
    ]);
    expect(rows[0]?.unreadableId).toBeUndefined();
  });

  test('is not written over: no lead is linked to its row', async () => {
    await using harness = await merged('A2:A3');
    const change = link('id-new', { name: 'Bert BV', city: 'Bonn', due: null }, { city: 'Rome' });
    const outcomes = await harness.target().write([change, remove('id-a', annaCells)], never());
    expect(outcomes.map(verdict)).toEqual(['row.changed', 'target.cell-not-writable']);
    expect(harness.show()?.[2]).toEqual(bert.with(0, ''));
  });

  test('of prepared rows below takes no new row in', async () => {
    await using harness = await merged('A4:A7');
    const change = append('id-d', { name: 'Dora' });
    expect((await harness.target().write([change], never())).map(verdict)).toEqual(['done']);
    expect(harness.sandbox.person.grid('Leads')?.[7]?.slice(0, 2)).toEqual(['id-d', 'Dora']);
    expect((await readAll(harness.target())).at(-1)).toMatchObject({ leadId: 'id-d', row: 8 });
  });
});
