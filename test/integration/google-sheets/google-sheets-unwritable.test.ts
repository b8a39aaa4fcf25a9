import { describe, expect, test } from 'vitest';
import { recordedTable, table } from '../../contract/google-sheets-harness.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  mark,
  never,
  readAll,
  update,
  verdict,
} from '../../contract/target-harness.ts';

describe('cells that are not writable', () => {
  test('protected cells are held before anything is sent; cells with a warning are written', async () => {
    await using harness = await recordedTable();
    const { person } = harness.sandbox;
    person.protect('Leads', 'D2:D2');
    person.protect('Leads', 'D3:D3', true);
    const target = harness.target({ statusColumn: 'Sync' });
    const outcomes = await target.write(
      [
        update('id-a', annaCells, { city: 'Rome' }),
        update('id-b', { city: 'Bonn' }, { city: 'Rome' }),
        mark('id-a', annaCells, 'marked'),
        append('id-c', { name: 'C' }),
      ],
      never(),
    );
    expect(outcomes.map(verdict)).toEqual(['target.cell-not-writable', 'done', 'done', 'done']);
    expect(harness.show()?.slice(1, 3)).toEqual([anna.with(5, 'marked'), bert.with(3, 'Rome')]);
  });

  test('merged cells are held, wherever they are', async () => {
    await using harness = await recordedTable();
    const { person } = harness.sandbox;
    for (const row of [3, 4]) person.type('Leads', row, 0, `id-${row}`);
    person.merge('Leads', 'D4:D5');
    const outcomes = await harness
      .target()
      .write([update('id-4', {}, { city: 'Rome' }), update('id-3', {}, { name: 'Three' })], never());
    expect(outcomes.map(verdict)).toEqual(['target.cell-not-writable', 'done']);
    expect(outcomes[0]).toMatchObject({ message: expect.stringContaining('D5') });
  });

  test('no row is added where a whole column is protected', async () => {
    await using harness = await recordedTable();
    harness.sandbox.person.protect('Leads', 'D:D');
    const changes = [append('id-c', { city: 'Graz' }), append('id-d', { name: 'D' })];
    const outcomes = await harness.target().write(changes, never());
    expect(outcomes.map(verdict)).toEqual(['target.cell-not-writable', 'target.cell-not-writable']);
    expect(harness.show()).toEqual(table);
    const update_ = update('id-a', annaCells, { name: 'Anna SE' });
    expect((await harness.target().write([update_], never())).map(verdict)).toEqual(['done']);
  });

  test('formulas are held, and shown with their value', async () => {
    await using harness = await recordedTable();
    harness.sandbox.person.type('Leads', 1, 3, '="Aa"&"chen"');
    const [row] = await readAll(harness.target());
    expect(row?.cells['city']).toEqual({ unreadable: 'formula ="Aa"&"chen" (shows Aachen)', why: 'formula' });
    const change = update('id-a', { name: 'Anna AG' }, { city: 'Rome' });
    expect((await harness.target().write([change], never())).map(verdict)).toEqual([
      'target.cell-not-writable',
    ]);
    expect(harness.show()).toEqual(table);
  });
});
