import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { SheetsPerson } from '../../stand-ins/google-sheets/person.ts';
import { makeGoogleSheetsHarness, recordedTable, table } from '../../contract/google-sheets-harness.ts';
import {
  anna,
  annaCells,
  append,
  bert,
  contractFields,
  headings,
  never,
  readAll,
  update,
  verdict,
} from '../../contract/target-harness.ts';

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

describe('columns', () => {
  const named = (heading: string) => table.map((row, at) => (at === 0 ? row.with(1, heading) : row));

  test.each(['Firma', 'Name of the company'])(
    'a heading that was renamed to %s is still found',
    async (heading) => {
      await using harness = await recordedTable();
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

  test('so is the id column', async () => {
    await using harness = await recordedTable();
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
  ])('headings that were %s are missing: nothing is written', async (_, act) => {
    await using harness = await recordedTable();
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

  test('columns that were cut and pasted are found by their heading', async () => {
    await using harness = await recordedTable();
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

  test('a record created while columns moved is removed again', async () => {
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

  test('records that Google does not show are not created again and again', async () => {
    await using harness = await makeGoogleSheetsHarness();
    harness.edit(() => table);
    await using proxy = await startProxy(harness.sandbox.url, (body) =>
      body.replaceAll('"developerMetadata"', '"other"'),
    );
    const target = harness.target({ apiUrl: proxy.url });
    for (let night = 0; night < 3; night++) {
      expect(await target.open({ create: true }, never())).toMatchObject({ created: false, missing: [] });
    }
    expect(harness.sandbox.requests.filter(({ kind }) => kind === 'write')).toHaveLength(1);
  });

  test('a field added later gets its record then; the column keeps its format', async () => {
    await using harness = await makeGoogleSheetsHarness();
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
