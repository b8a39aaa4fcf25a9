import { describe, expect, test } from 'vitest';
import { makeGoogleSheetsHarness, recordedTable, table } from '../../contract/google-sheets-harness.ts';
import { append, headings, never, readAll, update, verdict } from '../../contract/target-harness.ts';

const kinds = (harness: Awaited<ReturnType<typeof recordedTable>>, from: number) =>
  harness.sandbox.requests
    .slice(from)
    .flatMap(({ kind }) => (kind === 'read' || kind === 'write' ? [kind] : []));

describe('requests', () => {
  test('a night without changes takes three reads and no write', async () => {
    await using harness = await recordedTable();
    const from = harness.sandbox.requests.length;
    await readAll(harness.target({ statusColumn: 'Sync' }));
    await harness.target({ statusColumn: 'Sync' }).open({ create: true }, never());
    expect(kinds(harness, from)).toEqual(Array.from({ length: 6 }, () => 'read'));
  });

  test('500 changed and 500 new rows take two writes, with reads before and after', async () => {
    await using harness = await makeGoogleSheetsHarness();
    const rows = Array.from({ length: 500 }, (_, n) => [`id-${n}`, `Company ${n}`, '', '', '', '']);
    harness.edit(() => [headings, ...rows]);
    await harness.target().open({ create: true }, never());
    const from = harness.sandbox.requests.length;
    const outcomes = await harness.target().write(
      rows.flatMap(([id = '', name = ''], n) => [
        update(id, { name, city: null }, { city: `City ${n}` }),
        append(`new-${n}`, { name: `New ${n}` }),
      ]),
      never(),
    );
    expect(outcomes.every(({ status }) => status === 'done')).toBe(true);
    expect(kinds(harness, from)).toEqual(['read', 'read', 'read', 'write', 'write', 'read']);
    expect(harness.show()).toHaveLength(1001);
  });

  test('more than 2 MB is sent in several requests', async () => {
    await using harness = await recordedTable();
    const from = harness.sandbox.requests.length;
    const long = 'ü'.repeat(50_000);
    const changes = Array.from({ length: 40 }, (_, n) => append(`new-${n}`, { name: long, city: `${n}` }));
    const outcomes = await harness.target().write(changes, never());
    expect(outcomes.map(verdict)).toEqual(changes.map(() => 'done'));
    const writes = harness.sandbox.requests.slice(from).filter(({ kind }) => kind === 'write');
    expect(writes.length).toBe(3);
    expect(Math.max(...writes.map(({ bytes }) => bytes))).toBeLessThan(2_000_000);
    expect(
      harness
        .show()
        ?.slice(3)
        .map((row) => row[3]),
    ).toEqual(changes.map((_, n) => `${n}`));
  });
});

describe('the tab', () => {
  test('is created with a frozen header, in one request', async () => {
    await using harness = await makeGoogleSheetsHarness();
    const target = harness.target({ statusColumn: 'Sync' });
    expect(await target.open({ create: true }, never())).toMatchObject({ created: true, missing: [] });
    expect(kinds(harness, 0).filter((kind) => kind === 'write')).toHaveLength(1);
    const change = append('id-1', { due: '2026-11-21T08:30:00.000Z' });
    expect((await target.write([change], never())).map(verdict)).toEqual(['done']);
    // In the spreadsheet's time zone, as a date.
    expect(harness.sandbox.person.grid('Leads')?.[1]?.[3]).toBe('2026-11-21 09:30');
  });

  test('gets headings when it is empty; what somebody types at that moment stays', async () => {
    await using harness = await makeGoogleSheetsHarness({ tabs: ['Leads'] });
    const { sandbox } = harness;
    sandbox.before = ({ method }) => {
      if (method === 'spreadsheets.batchUpdate') sandbox.person.type('Leads', 0, 0, 'typed');
      if (method === 'spreadsheets.batchUpdate') sandbox.before = null;
    };
    expect(await harness.target().open({ create: true }, never())).toMatchObject({ created: true });
    expect(harness.show()?.map((row) => row[0])).toEqual(['Lead ID', 'typed']);
  });

  test('created by somebody else at the same moment is used as it is', async () => {
    await using harness = await makeGoogleSheetsHarness();
    const { sandbox } = harness;
    sandbox.before = ({ method }) => {
      if (method !== 'spreadsheets.batchUpdate') return;
      sandbox.before = null;
      harness.edit(() => table);
    };
    expect(await harness.target().open({ create: true }, never())).toMatchObject({ created: false });
    expect(harness.show()).toEqual(table);
  });

  test('is found whatever the case of its title', async () => {
    await using harness = await makeGoogleSheetsHarness({ tabs: ['leads'] });
    const target = harness.target();
    expect(await target.open({ create: false }, never())).toMatchObject({ missing: [] });
    expect(await target.open({ create: true }, never())).toMatchObject({ created: true });
    harness.sandbox.person.setValidation('leads', 'C2:C', ['Rome']);
    const changes = [append('id-1', { city: 'Rome' }), append('id-2', { city: 'Bonn' })];
    expect((await target.write(changes, never())).map(verdict)).toEqual([
      'done',
      'target.value-not-storable',
    ]);
    expect(harness.sandbox.person.grid('leads')?.map(([id]) => id)).toEqual(['Lead ID', 'id-1']);
  });

  test('is recognised by its record after it was renamed', async () => {
    await using harness = await recordedTable();
    harness.sandbox.person.renameTab('Leads', 'Deals');
    for (const create of [true, false]) {
      await expect(harness.target().open({ create }, never())).rejects.toMatchObject({
        code: 'target.tab-renamed',
        retry: 'never',
        message: expect.stringContaining('"Deals"'),
      });
    }
    await expect(harness.target().write([append('x', {})], never())).rejects.toMatchObject({
      code: 'target.changed',
    });
    // Another connection has its own.
    expect(await harness.target({ connection: 'other' }).open({ create: true }, never())).toMatchObject({
      created: true,
    });
  });

  test('of a copied file is refused until check --fix adopts it', async () => {
    await using harness = await recordedTable();
    const { spreadsheetId, person } = harness.sandbox.person.copySpreadsheet();
    const before = person.grid('Leads');
    const copy = harness.target({ spreadsheetId });
    const copied = { code: 'target.copied', retry: 'never' };
    await expect(copy.open({ create: true }, never())).rejects.toMatchObject(copied);
    await expect(copy.write([append('x', {})], never())).rejects.toMatchObject(copied);
    expect(person.grid('Leads')).toEqual(before);
    expect(await copy.fix(never())).toBe(true);
    expect(await copy.fix(never())).toBe(false);
    expect(await copy.open({ create: true }, never())).toMatchObject({ created: false, missing: [] });
    expect(await harness.target().fix(never())).toBe(false);
  });

  test('in the trash, or not shared, is refused with help', async () => {
    await using harness = await recordedTable();
    harness.sandbox.person.setTrashed(true);
    await expect(harness.target().open({ create: true }, never())).rejects.toMatchObject({
      code: 'target.trashed',
    });
    harness.sandbox.person.setTrashed(false);
    harness.sandbox.person.setShared(false);
    const refused = await harness
      .target()
      .open({ create: true }, never())
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'target.forbidden',
      help: expect.stringContaining(harness.sandbox.accountEmail),
    });
    expect(await harness.target().address()).toBe(harness.sandbox.accountEmail);
    harness.sandbox.person.setShared('reader');
    expect((await readAll(harness.target())).length).toBe(2);
    const writing = harness.target().write([append('x', {})], never());
    await expect(writing).rejects.toMatchObject({ code: 'target.forbidden' });
  });

  test('without room for more rows is target.full, and nothing is written', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => table);
    harness.sandbox.person.insertColumns('Leads', 26, 9_000);
    const writing = harness
      .target()
      .write(
        [
          update('id-b', { city: 'Bonn' }, { city: 'x' }),
          ...Array.from({ length: 200 }, (_, n) => append(`n${n}`, {})),
        ],
        never(),
      );
    await expect(writing).rejects.toMatchObject({ code: 'target.full', retry: 'never' });
    expect(harness.show()?.map((row) => row.slice(0, 6))).toEqual(table);
  });
});
