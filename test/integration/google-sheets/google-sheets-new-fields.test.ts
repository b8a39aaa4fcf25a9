import { describe, expect, test } from 'vitest';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import {
  anna,
  bert,
  contractFields,
  headings,
  never,
  update,
  verdict,
} from '../../contract/target-harness.ts';

const [name, city, due] = contractFields;
const before = contractFields.slice(0, 1);
const without = (row: readonly string[]) => row.slice(0, 3);

async function kept() {
  const harness = await makeGoogleSheetsHarness();
  harness.edit(() => [headings, anna, bert].map(without));
  await harness.target({ fields: before }).open({ create: true }, never());
  return harness;
}

describe('a field that is added to the mapping', () => {
  test('gets its column with heading, format and record behind the last heading', async () => {
    await using harness = await kept();
    const { person } = harness.sandbox;
    person.type('Leads', 3, 3, 'a note without heading');
    const snapshot = await harness.target().open({ create: true, newFields: ['city', 'due'] }, never());
    expect(snapshot.missing).toEqual([]);
    const grid = person.grid('Leads');
    expect(grid?.[0]).toEqual(['Lead ID', 'Company', 'Notes', 'City', 'Next follow-up']);
    expect(grid?.[3]?.[5]).toBe('a note without heading');
    const change = update('id-b', {}, { city: 'Rome', due: '2026-11-21T08:30:00.000Z' });
    expect((await harness.target().write([change], never())).map(verdict)).toEqual(['done']);
    expect(person.grid('Leads')?.[2]?.slice(3, 5)).toEqual(['Rome', '2026-11-21 09:30']);
    person.type('Leads', 0, 3, 'Town');
    expect((await harness.target().open({ create: true }, never())).missing).toEqual([]);
  });

  test('gets it where the grid ends with the table', async () => {
    await using harness = await kept();
    harness.sandbox.person.deleteColumns('Leads', 3, 23);
    const snapshot = await harness.target().open({ create: true, newFields: ['city', 'due'] }, never());
    expect(snapshot.missing).toEqual([]);
    expect(harness.sandbox.person.grid('Leads')?.[0]).toEqual([
      ...headings.slice(0, 3),
      'City',
      'Next follow-up',
    ]);
  });

  test('takes the column that is there, and gets none beside one that is there twice', async () => {
    await using harness = await kept();
    const { person } = harness.sandbox;
    for (const [column, heading] of ['City', 'City', 'Next follow-up'].entries())
      person.type('Leads', 0, 3 + column, heading);
    const row = person.grid('Leads')?.[0];
    const snapshot = await harness.target().open({ create: true, newFields: ['city', 'due'] }, never());
    expect(snapshot.missing).toMatchObject([{ field: 'city' }]);
    expect(person.grid('Leads')?.[0]).toEqual(row);
  });

  test('gets none when nothing is to be made, when it is not new, or where that is refused', async () => {
    await using harness = await kept();
    const missing = [{ field: city?.field }, { field: due?.field }];
    const open = (options: { readonly create: boolean; readonly newFields?: readonly string[] }) =>
      harness.target().open(options, never());
    expect((await open({ create: false, newFields: ['city', 'due'] })).missing).toMatchObject(missing);
    expect((await open({ create: true, newFields: [name?.field ?? ''] })).missing).toMatchObject(missing);
    harness.sandbox.person.protect('Leads', '');
    expect((await open({ create: true, newFields: ['city'] })).missing).toMatchObject(missing);
    expect(harness.sandbox.person.grid('Leads')?.[0]).toEqual(headings.slice(0, 3));
  });
});
