import { describe, expect, test } from 'vitest';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import { anna, append, bert, headings, never, update, verdict } from '../../contract/target-harness.ts';

const table = [headings, anna, bert];
const full = { code: 'target.full', retry: 'never' };

describe('a spreadsheet without room, at whatever limit', () => {
  test('takes no new rows, and nothing else is written', async () => {
    await using harness = await makeGoogleSheetsHarness({ tabs: ['Leads'], mostCells: 26_010 });
    harness.edit(() => table);
    await harness.target().open({ create: true }, never());
    const changes = [update('id-b', { city: 'Bonn' }, { city: 'x' }), append('id-c', { name: 'C' })];
    await expect(harness.target().write(changes, never())).rejects.toMatchObject({
      ...full,
      message: expect.stringContaining('limit of 26010 cells'),
    });
    expect(harness.show()).toEqual(table);
  });

  test('above ten million takes them', async () => {
    await using harness = await makeGoogleSheetsHarness({ tabs: ['Leads'], mostCells: 20_000_000 });
    harness.edit(() => table);
    harness.sandbox.person.insertColumns('Leads', 26, 9_974);
    harness.sandbox.person.insertRows('Leads', 900, 1);
    expect((await harness.target().write([append('id-c', { name: 'C' })], never())).map(verdict)).toEqual([
      'done',
    ]);
  });

  test('takes no new tab', async () => {
    await using harness = await makeGoogleSheetsHarness({ mostCells: 30_000 });
    await expect(harness.target().open({ create: true }, never())).rejects.toMatchObject(full);
    expect(harness.show()).toBeNull();
  });

  test('and with room a refused value is held as before, and no row is left from asking', async () => {
    await using harness = await makeGoogleSheetsHarness({ tabs: ['Leads'] });
    harness.edit(() => table);
    const { person } = harness.sandbox;
    person.setValidation('Leads', 'D2:D', ['Aachen', 'Bonn']);
    person.type('Leads', 6, 2, 'below');
    const changes = [append('id-c', { city: 'Rome' }), append('id-d', { city: 'Bonn' })];
    expect((await harness.target().write(changes, never())).map(verdict)).toEqual([
      'target.value-not-storable',
      'done',
    ]);
    expect(person.grid('Leads')?.map((row) => row[0])).toEqual([
      'Lead ID',
      'id-a',
      'id-b',
      'id-d',
      '',
      '',
      '',
      '',
    ]);
    expect(person.grid('Leads')?.[7]?.[2]).toBe('below');
  });
});
