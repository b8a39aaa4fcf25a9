import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { SheetsPerson } from '../../stand-ins/google-sheets/person.ts';
import { makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  contractFields,
  headings,
  mark,
  never,
  readAll,
  update,
  verdict,
} from '../../contract/target-harness.ts';

const table = [headings, anna, bert];

async function kept(dates: 'native' | 'iso' = 'iso') {
  const harness = await makeGoogleSheetsHarness({ dates });
  harness.edit(() => table);
  await harness.target({ statusColumn: 'Sync' }).open({ create: true }, never());
  return harness;
}

/** Hands requests on, and changes the replies. */
async function startProxy(url: string, change: (body: string) => string) {
  const server = createServer((request, response) => {
    const handOn = async (): Promise<void> => {
      const body = request.method === 'GET' ? undefined : await buffer(request);
      const headers = {
        authorization: request.headers.authorization ?? '',
        'content-type': 'application/json',
      };
      const reply = await fetch(new URL(request.url ?? '', url), {
        method: request.method ?? 'GET',
        headers,
        ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      });
      response.writeHead(reply.status, { 'content-type': 'application/json' });
      response.end(change(await reply.text()));
    };
    handOn().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}/`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const kinds = (harness: Awaited<ReturnType<typeof kept>>, from: number) =>
  harness.sandbox.requests
    .slice(from)
    .flatMap(({ kind }) => (kind === 'read' || kind === 'write' ? [kind] : []));

describe('requests', () => {
  test('an unchanged night is three reads, and no write', async () => {
    await using harness = await kept();
    const from = harness.sandbox.requests.length;
    await readAll(harness.target({ statusColumn: 'Sync' }));
    await harness.target({ statusColumn: 'Sync' }).open({ create: true }, never());
    expect(kinds(harness, from)).toEqual(Array.from({ length: 6 }, () => 'read'));
  });

  test('500 changed and 500 new rows are two writes, looked at before and after', async () => {
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

  test('what is more than 2 MB goes in several requests', async () => {
    await using harness = await kept();
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
  test('is made with a frozen header, in one request', async () => {
    await using harness = await makeGoogleSheetsHarness({ dates: 'native' });
    const target = harness.target({ statusColumn: 'Sync' });
    expect(await target.open({ create: true }, never())).toMatchObject({ created: true, missing: [] });
    expect(kinds(harness, 0).filter((kind) => kind === 'write')).toHaveLength(1);
    const change = append('id-1', { due: '2026-11-21T08:30:00.000Z' });
    expect((await target.write([change], never())).map(verdict)).toEqual(['done']);
    // In the spreadsheet's time zone, as a date.
    expect(harness.sandbox.person.grid('Leads')?.[1]?.[3]).toBe('2026-11-21 09:30');
  });

  test('gets its headings when there is nothing in it, and what is typed at that moment stays', async () => {
    await using harness = await makeGoogleSheetsHarness({ tabs: ['Leads'] });
    const { sandbox } = harness;
    sandbox.before = ({ method }) => {
      if (method === 'spreadsheets.batchUpdate') sandbox.person.type('Leads', 0, 0, 'typed');
      if (method === 'spreadsheets.batchUpdate') sandbox.before = null;
    };
    expect(await harness.target().open({ create: true }, never())).toMatchObject({ created: true });
    expect(harness.show()?.map((row) => row[0])).toEqual(['Lead ID', 'typed']);
  });

  test('made by somebody else at the same moment is taken as it is', async () => {
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

  test('is found in whatever case its title is written', async () => {
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

  test('is known by its record when it was renamed', async () => {
    await using harness = await kept();
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

  test('of a copied file is refused until it is taken as the target', async () => {
    await using harness = await kept();
    const { spreadsheetId, person } = harness.sandbox.person.copySpreadsheet();
    const copy = harness.target({ spreadsheetId });
    const copied = { code: 'target.copied', retry: 'never' };
    await expect(copy.open({ create: true }, never())).rejects.toMatchObject(copied);
    await expect(copy.write([append('x', {})], never())).rejects.toMatchObject(copied);
    expect(person.grid('Leads')).toEqual(table);
    expect(await copy.fix(never())).toBe(true);
    expect(await copy.fix(never())).toBe(false);
    expect(await copy.open({ create: true }, never())).toMatchObject({ created: false, missing: [] });
    expect(await harness.target().fix(never())).toBe(false);
  });

  test('in the trash, or not shared, is refused with what helps', async () => {
    await using harness = await kept();
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

  test('without room for more rows is full, and nothing is written', async () => {
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

describe('columns', () => {
  const named = (heading: string) => table.map((row, at) => (at === 0 ? row.with(1, heading) : row));

  test.each(['Firma', 'Name of the company'])(
    'a heading that was renamed to %s is still found',
    async (heading) => {
      await using harness = await kept();
      harness.sandbox.person.type('Leads', 0, 1, heading);
      harness.sandbox.person.moveColumn('Leads', 1, 5);
      const target = harness.target({ statusColumn: 'Sync' });
      expect((await target.open({ create: true }, never())).missing).toEqual([]);
      const change = update('id-a', annaCells, { name: 'Anna SE' });
      expect((await target.write([change], never())).map(verdict)).toEqual(['done']);
      harness.sandbox.person.moveColumn('Leads', 4, 1);
      expect(harness.show()).toEqual(named(heading).with(1, anna.with(1, 'Anna SE')));
    },
  );

  test('the id column too', async () => {
    await using harness = await kept();
    harness.sandbox.person.type('Leads', 0, 0, 'Do not touch');
    expect((await readAll(harness.target())).map(({ leadId }) => leadId)).toEqual(['id-a', 'id-b']);
  });

  const { deleted, sorted, pushed }: Record<'deleted' | 'sorted' | 'pushed', (person: SheetsPerson) => void> =
    {
      deleted: (person) => person.deleteRows('Leads', 0),
      sorted: (person) => person.sortRange('Leads', 'A1:F3', 0, true),
      // One of the lead's own cells reads as a heading.
      pushed: (person) => {
        person.type('Leads', 1, 3, 'City');
        person.sortRange('Leads', 'A1:F3', 0, true);
      },
    };
  test.each([
    ['deleted', deleted],
    ['sorted among the rows', sorted],
    ['sorted among the rows, below one that reads like it', pushed],
  ])('headings that were %s are missed, and nothing is written', async (_, act) => {
    await using harness = await kept();
    // `Lead ID` comes after these.
    harness.edit((grid) => grid.map((row, at) => (at === 0 ? row : row.with(0, `a-${at}`))));
    act(harness.sandbox.person);
    const before = harness.show();
    const missing = { code: 'target.header-missing', message: expect.not.stringContaining('Anna') };
    for (const create of [true, false]) {
      await expect(harness.target().open({ create }, never())).rejects.toMatchObject(missing);
    }
    await expect(harness.target().write([append('id-n', {})], never())).rejects.toMatchObject(missing);
    expect(harness.show()).toEqual(before);
  });

  test('cells that were cut and pasted elsewhere are found by their heading', async () => {
    await using harness = await kept();
    const swapped = table.map((row) => row.with(1, row[3] ?? '').with(3, row[1] ?? ''));
    harness.sandbox.person.put('Leads', swapped);
    expect((await readAll(harness.target()))[0]?.cells).toEqual(annaCells);
    harness.sandbox.person.put(
      'Leads',
      table.map((row) => [...row.with(1, ''), row[1] ?? '']),
    );
    expect((await readAll(harness.target()))[0]?.cells).toEqual(annaCells);
    // The records follow.
    await harness.target().open({ create: true }, never());
    harness.sandbox.person.type('Leads', 0, 6, 'Firma');
    expect((await readAll(harness.target()))[0]?.cells).toEqual(annaCells);
  });

  test('a record that was made while columns were moved is taken back', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => table);
    harness.sandbox.before = ({ method }) => {
      if (method !== 'spreadsheets.batchUpdate') return;
      harness.sandbox.before = null;
      harness.sandbox.person.moveColumn('Leads', 2, 0);
    };
    await expect(harness.target().open({ create: true }, never())).rejects.toMatchObject({
      code: 'target.changed',
    });
    expect((await harness.target().open({ create: true }, never())).missing).toEqual([]);
    expect((await readAll(harness.target()))[0]?.cells).toEqual(annaCells);
  });

  test('records that Google does not show are not made again and again', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => table);
    await using proxy = await startProxy(harness.sandbox.url, (body) =>
      body.replaceAll('"developerMetadata"', '"other"'),
    );
    const target = harness.target({ apiUrl: proxy.url });
    for (let night = 0; night < 3; night++) {
      expect(await target.open({ create: true }, never())).toMatchObject({ created: false, missing: [] });
    }
    expect(kinds(harness, 0).filter((kind) => kind === 'write')).toHaveLength(1);
  });

  test('a field that comes later gets its record then, and the column keeps its format', async () => {
    await using harness = await makeGoogleSheetsHarness({ dates: 'native' });
    harness.edit(() => [headings.map((heading) => (heading === 'Next follow-up' ? 'x' : heading)), bert]);
    await harness.target({ fields: contractFields.slice(0, 2) }).open({ create: true }, never());
    harness.sandbox.person.type('Leads', 0, 4, 'Next follow-up');
    await harness.target().open({ create: true }, never());
    harness.sandbox.person.type('Leads', 0, 4, 'Due');
    const due = '2026-11-21T08:30:00.000Z';
    const change = update('id-b', { due: null }, { due });
    expect((await harness.target().write([change], never())).map(verdict)).toEqual(['done']);
    expect(harness.sandbox.person.grid('Leads')?.[1]?.[4]).toBe(due);
  });
});

describe('cells that must not be written', () => {
  test('protected ones are held before anything is sent; what only warns is written', async () => {
    await using harness = await kept();
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

  test('merged ones are held, wherever they stand', async () => {
    await using harness = await kept();
    const { person } = harness.sandbox;
    for (const row of [3, 4]) person.type('Leads', row, 0, `id-${row}`);
    person.merge('Leads', 'D4:D5');
    const outcomes = await harness
      .target()
      .write([update('id-4', {}, { city: 'Rome' }), update('id-3', {}, { name: 'Three' })], never());
    expect(outcomes.map(verdict)).toEqual(['target.cell-not-writable', 'done']);
    expect(outcomes[0]).toMatchObject({ message: expect.stringContaining('D5') });
  });

  test('where a whole column is protected no row can be added', async () => {
    await using harness = await kept();
    harness.sandbox.person.protect('Leads', 'D:D');
    const changes = [append('id-c', { city: 'Graz' }), append('id-d', { name: 'D' })];
    const outcomes = await harness.target().write(changes, never());
    expect(outcomes.map(verdict)).toEqual(['target.cell-not-writable', 'target.cell-not-writable']);
    expect(harness.show()).toEqual(table);
    const update_ = update('id-a', annaCells, { name: 'Anna SE' });
    expect((await harness.target().write([update_], never())).map(verdict)).toEqual(['done']);
  });

  test('formulas are held, and shown with what they say', async () => {
    await using harness = await kept();
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
