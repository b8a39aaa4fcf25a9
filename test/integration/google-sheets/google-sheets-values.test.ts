import { describe, expect, test } from 'vitest';
import { sameCell } from '../../../src/core/lead/value.ts';
import type { SheetsPerson } from '../../stand-ins/google-sheets/person.ts';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import { append, headings, never, readAll, update, verdict } from '../../contract/target-harness.ts';

const bare = ['id-a', 'Anna AG', '', '', '', ''];

describe('texts', () => {
  const texts = [
    '=1+1',
    '+49 30 1234',
    '-5',
    "'quoted",
    '@name',
    '0042',
    '12345678901234567890',
    '2026-11-21',
    '1-2',
    'TRUE',
    '1e5',
    'a\nb',
    ' padded ',
    '5 %',
    '🦊',
  ];

  test('stay as they are, in new rows and in existing ones', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => [headings, bare]);
    const target = harness.target();
    const changes = texts.map((text, n) => append(`id-${n}`, { name: text, city: text }));
    expect((await target.write(changes, never())).map(verdict)).toEqual(texts.map(() => 'done'));
    expect((await readAll(target)).slice(1).map(({ cells }) => cells['name'])).toEqual(texts);
    const updates = texts.map((text, n) =>
      update(`id-${n}`, { city: text }, { city: `${text}!`, name: `=${text}` }),
    );
    expect((await target.write(updates, never())).map(verdict)).toEqual(texts.map(() => 'done'));
    expect((await readAll(target)).slice(1).map(({ cells }) => cells['name'])).toEqual(
      texts.map((text) => `=${text}`),
    );
    expect(
      harness
        .show()
        ?.slice(2)
        .map((row) => row[3]),
    ).toEqual(texts.map((text) => `${text}!`));
  });

  test('a date typed into a text column is read as displayed, and stays', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => [headings, bare, ['id-b', 'Bert BV', '', '', '', '']]);
    const { person } = harness.sandbox;
    person.type('Leads', 1, 3, '2026-11-21');
    person.type('Leads', 2, 3, '250');
    const cities = async () => (await readAll(harness.target())).map(({ cells }) => cells['city']);
    expect(await cities()).toEqual(['2026-11-21', '250']);
    expect(harness.show()?.[1]?.[3]).toBe('2026-11-21');
    const change = update('id-a', { city: '2026-11-21' }, { city: 'Rome' });
    expect((await harness.target().write([change], never())).map(verdict)).toEqual(['done']);
    expect(await cities()).toEqual(['Rome', '250']);
    // A number in its place would be a day of 1900.
    person.type('Leads', 1, 3, '2026-11-22');
    const number = update('id-a', { city: '2026-11-22' }, { city: '12' });
    expect((await harness.target().write([number], never())).map(verdict)).toEqual(['done']);
    expect(await cities()).toEqual(['12', '250']);
    expect(harness.show()?.[1]?.[3]).toBe('12');
  });

  test('what a cell cannot store is held; the longest possible text is written', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => [headings]);
    const values = ['x'.repeat(50_000), 'x'.repeat(50_001), 'a\0b', '\uD800', '#N/A'];
    const outcomes = await harness.target().write(
      values.map((name, n) => append(`id-${n}`, { name })),
      never(),
    );
    expect(outcomes.map(verdict)).toEqual([
      'done',
      ...Array.from({ length: 3 }, () => 'target.value-not-storable'),
      'done',
    ]);
  });

  test('typed numbers, booleans and errors', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => [headings, bare, bare.with(0, 'id-b'), bare.with(0, 'id-c')]);
    const { person } = harness.sandbox;
    for (const [row, text] of ['0', 'FALSE', '1234.5'].entries()) person.type('Leads', row + 1, 3, text);
    person.type('Leads', 3, 4, 'TRUE');
    person.type('Leads', 2, 4, '12');
    person.type('Leads', 1, 1, '=1/0');
    const rows = await readAll(harness.target());
    expect(rows.map(({ cells }) => cells['city'])).toEqual(['0', 'FALSE', '1234.5']);
    expect(rows.map(({ cells }) => cells['due'])).toEqual([
      null,
      { unreadable: '12' },
      { unreadable: 'TRUE' },
    ]);
    expect(rows[0]?.cells['name']).toEqual({ unreadable: 'formula =1/0 (shows #DIV/0!)', why: 'formula' });
    const outcomes = await harness
      .target()
      .write([update('id-c', { city: '1234.5' }, { city: '1300' })], never());
    expect(outcomes.map(verdict)).toEqual(['done']);
    // It is a number still: the user's own formulas count it.
    person.type('Leads', 3, 2, '=D4*2');
    expect(harness.show()?.[3]?.[2]).toBe('2600');
  });

  test('an id typed as a number is found', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => [headings, bare]);
    harness.sandbox.person.type('Leads', 1, 0, '4711');
    const outcomes = await harness
      .target()
      .write([update('4711', { name: 'Anna AG' }, { city: 'Rome' })], never());
    expect(outcomes.map(verdict)).toEqual(['done']);
  });
});

test('a sort during the read is noticed, even when ids are numbers', async () => {
  await using harness = await makeGoogleSheetsHarness();
  harness.edit(() => [headings, bare, bare]);
  const { sandbox } = harness;
  for (const row of [1, 2]) {
    sandbox.person.type('Leads', row, 0, `471${row}`);
    sandbox.person.type('Leads', row, 3, `=${row}`);
  }
  let reads = 0;
  sandbox.before = ({ method }) => {
    if (method === 'spreadsheets.values.batchGet' && ++reads === 2)
      sandbox.person.sortRange('Leads', 'A2:F3', 0, false);
  };
  await expect(harness.target().open({ create: false }, never())).rejects.toMatchObject({
    code: 'target.changed',
    retry: 'now',
  });
});

describe('prepared rows', () => {
  test.each([
    ['check boxes', () => 'FALSE'],
    ['formulas', (row: number) => `=B${row + 1}&""`],
  ])('with %s do not count; new rows come before them', async (_, prepared) => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => [headings, bare]);
    for (let row = 1; row < 6; row++) harness.sandbox.person.type('Leads', row, 3, prepared(row));
    expect((await readAll(harness.target())).map(({ leadId }) => leadId)).toEqual(['id-a']);
    const change = append('id-b', { name: 'Bert' });
    expect((await harness.target().write([change], never())).map(verdict)).toEqual(['done']);
    expect(harness.show()?.map(([id]) => id)).toEqual(
      prepared(1) === 'FALSE' ? ['Lead ID', 'id-a', 'id-b', '', '', '', ''] : ['Lead ID', 'id-a', 'id-b'],
    );
    // What somebody types there is a row.
    harness.sandbox.person.type('Leads', 4, 1, 'Carla');
    expect((await readAll(harness.target())).map(({ row }) => row)).toEqual([2, 3, 5]);
  });
});

describe('moments', () => {
  const moments = (timeZone: string): readonly string[] =>
    timeZone === 'Europe/Berlin'
      ? [
          '2026-10-25T00:30:00.000Z',
          '2026-10-25T01:30:00.000Z',
          '2026-03-29T01:00:00.000Z',
          '2026-11-21T08:30:15.123Z',
          '1890-01-01T00:00:00.000Z',
          '1900-01-15T00:00:00.000Z',
        ]
      : [
          '2026-04-04T14:45:00.000Z',
          '2026-04-04T15:15:00.000Z',
          '2026-10-03T15:30:00.000Z',
          '2026-11-21T08:30:15.123Z',
        ];

  test.each(['Europe/Berlin', 'Australia/Lord_Howe'])(
    'in %s come back as they were, the hours that come twice too',
    async (timeZone) => {
      await using harness = await makeGoogleSheetsHarness({ timeZone });
      const target = harness.target();
      await target.open({ create: true }, never());
      const values = moments(timeZone);
      const outcomes = await target.write(
        values.map((due, n) => append(`id-${n}`, { due })),
        never(),
      );
      expect(outcomes.map(verdict)).toEqual(values.map(() => 'done'));
      expect((await readAll(harness.target())).map(({ cells }) => cells['due'])).toEqual(values);
      const again = values.map((due, n) =>
        update(`id-${n}`, { due }, { due: values[(n + 1) % values.length] ?? null }),
      );
      expect((await target.write(again, never())).map(verdict)).toEqual(values.map(() => 'done'));
      expect((await readAll(harness.target())).map(({ cells }) => cells['due'])).toEqual(
        again.map((change) => 'values' in change && change.values['due']),
      );
    },
  );

  test.each([
    ['en_US', '2026-03-04T00:00:00.000Z'],
    ['en_GB', '2026-04-03T00:00:00.000Z'],
    ['de_DE', '2026-04-03T00:00:00.000Z'],
  ])('the text 03/04/2026 is read by the locale %s', async (locale, instant) => {
    await using harness = await makeGoogleSheetsHarness({ timeZone: 'UTC', locale });
    harness.edit(() => [headings, bare.with(4, '03/04/2026')]);
    expect((await readAll(harness.target()))[0]?.cells['due']).toBe(instant);
  });

  test('a typed date is that moment in the spreadsheet time zone, and stays', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => [headings, bare]);
    harness.sandbox.person.type('Leads', 1, 4, '2026-11-21 09:30');
    const [row] = await readAll(harness.target());
    expect(row?.cells['due']).toBe('2026-11-21T08:30:00.000Z');
    harness.sandbox.person.setTimeZone('Asia/Tokyo');
    expect((await readAll(harness.target()))[0]?.cells['due']).toBe('2026-11-21T00:30:00.000Z');
    expect(sameCell(row?.cells['due'] ?? null, '2026-11-21T08:30:00.000Z')).toBe(true);
  });
});

describe('formats of an existing tab', () => {
  const due = '2026-12-01T08:00:00.000Z';
  const columns = ['Lead ID', 'Company', 'City', 'Next follow-up'];
  const dueCells = (harness: Awaited<ReturnType<typeof makeGoogleSheetsHarness>>) =>
    harness.sandbox.person
      .grid('Leads')
      ?.slice(1)
      .map((row) => row[3]);

  async function existing(type: (person: SheetsPerson) => void) {
    const harness = await makeGoogleSheetsHarness({ tabs: ['Leads'] });
    for (const [column, heading] of columns.entries())
      harness.sandbox.person.type('Leads', 0, column, heading);
    for (const row of [1, 2, 3]) harness.sandbox.person.type('Leads', row, 0, `id-${row}`);
    type(harness.sandbox.person);
    await harness.target().open({ create: true }, never());
    return harness;
  }
  const setDue = async (harness: Awaited<ReturnType<typeof existing>>, row: number) => {
    const before = (await readAll(harness.target()))[row - 1]?.cells['due'] ?? null;
    const change = update(`id-${row}`, { due: before }, { due });
    expect((await harness.target().write([change], never())).map(verdict)).toEqual(['done']);
    expect((await readAll(harness.target()))[row - 1]?.cells['due']).toBe(due);
  };

  test('stay; a date is written where dates are', async () => {
    await using harness = await existing((person) => {
      person.setNumberFormat('Leads', 'D3:D6', 'DATE', 'dd.mm.yyyy');
      person.type('Leads', 2, 3, '2026-11-24');
    });
    expect(dueCells(harness)).toEqual(['', '24.11.2026', '']);
    await setDue(harness, 2);
    await setDue(harness, 3);
    expect(dueCells(harness)).toEqual(['', '01.12.2026', '01.12.2026']);
  });

  test('without any date: moments become texts', async () => {
    await using harness = await existing(() => {});
    await setDue(harness, 2);
    expect((await harness.target().write([append('id-4', { due })], never())).map(verdict)).toEqual(['done']);
    expect(dueCells(harness)).toEqual(['', due, '', due]);
  });

  test('with a text among the dates: it stays text', async () => {
    await using harness = await existing((person) => {
      person.type('Leads', 1, 3, '2026-11-24');
      person.setNumberFormat('Leads', 'D3', 'TEXT');
      person.type('Leads', 2, 3, '2026-11-25');
    });
    await setDue(harness, 2);
    await setDue(harness, 1);
    expect(dueCells(harness)?.[1]).toBe(due);
    expect(dueCells(harness)?.[0]).not.toBe(due);
  });
});
