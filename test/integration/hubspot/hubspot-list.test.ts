import { describe, expect, test } from 'vitest';
import { readAll } from '../../contract/target-harness.ts';
import { company, type ScriptedRequest, scriptedPortal } from './hubspot-scripted.ts';

const page = (after: string | null, ...ids: number[]) => ({
  body: {
    results: ids.map((id) => company(id, { lead_id: `id-${id}` })),
    ...(after !== null && { paging: { next: { after } } }),
  },
});
const isList = ({ what, query }: ScriptedRequest) =>
  what === 'companies' && query.get('archived') === 'false';
const cursors = (requests: readonly ScriptedRequest[]) =>
  requests.filter(isList).map(({ query }) => query.get('after'));

describe('the list of companies', () => {
  test('that was interrupted goes on where it was, and counts a company that moved once', async () => {
    let failing = true;
    await using portal = await scriptedPortal((request) => {
      if (!isList(request)) return undefined;
      if (request.query.get('after') === null) return page('c1', 7, 3);
      if (request.query.get('after') === 'c1') return page('c2', 3, 5);
      return failing ? { status: 500, body: {} } : page(null, 9);
    });
    const unavailable = { code: 'target.unavailable', retry: 'now' };
    await expect(readAll(portal.target, 'a run')).rejects.toMatchObject(unavailable);
    await expect(readAll(portal.target, 'a run')).rejects.toMatchObject(unavailable);
    failing = false;
    expect((await readAll(portal.target, 'a run')).map(({ row, leadId }) => [row, leadId])).toEqual(
      [3, 5, 7, 9].map((id) => [id, `id-${id}`]),
    );
    expect(cursors(portal.requests)).toEqual([null, 'c1', 'c2', 'c2', 'c2']);
    // The next one is a new list.
    await readAll(portal.target, 'a run');
    expect(cursors(portal.requests).slice(5)).toEqual([null, 'c1', 'c2']);
  });

  test.each([
    ['after ten minutes', 601_000, 500, 'a run'],
    ['when the cursor is not known any more', 0, 400, 'a run'],
    ['for another run', 0, 500, 'the next run'],
    ['for nobody', 0, 500, undefined],
  ])('begins anew %s', async (_, later, status, purpose) => {
    let failing = true;
    await using portal = await scriptedPortal((request) => {
      if (!isList(request)) return undefined;
      if (request.query.get('after') === null) return failing ? page('c1', 1, 2) : page('d1', 2);
      if (request.query.get('after') === 'd1') return page(null, 4);
      return { status: failing ? 500 : status, body: {} };
    });
    await expect(readAll(portal.target, 'a run')).rejects.toMatchObject({ code: 'target.unavailable' });
    failing = false;
    portal.later = later;
    // What only the first list had is not among it.
    expect((await readAll(portal.target, purpose)).map(({ row }) => row)).toEqual([2, 4]);
  });

  test.each([
    ['an object without results', { body: { paging: {} } }],
    ['a list', { body: [] }],
    ['null', { body: null }],
    ['a company without id', { body: { results: [{ properties: {} }] } }],
    ['the cursor of before', page('c1', 2)],
  ])('does not end with %s', async (_, odd) => {
    await using portal = await scriptedPortal((request) => {
      if (!isList(request)) return undefined;
      return request.query.get('after') === null ? page('c1', 1) : odd;
    });
    await expect(readAll(portal.target)).rejects.toMatchObject({ code: 'target.unavailable', retry: 'now' });
  });

  test('shows a company that comes twice as it was later', async () => {
    await using portal = await scriptedPortal((request) => {
      if (!isList(request)) return undefined;
      if (request.query.get('after') === null) return page('c1', 1, 2, 3);
      return {
        body: { results: [company(1, { name: 'No lead any more' }), company(2, { lead_id: 'id-9' })] },
      };
    });
    expect((await readAll(portal.target)).map(({ row, leadId }) => [row, leadId])).toEqual([
      [2, 'id-9'],
      [3, 'id-3'],
    ]);
  });

  test('shows numbers and booleans as the texts that they are', async () => {
    await using portal = await scriptedPortal((request) =>
      isList(request)
        ? {
            body: {
              results: [{ id: 12, properties: { lead_id: 5, name: true, city: null, due: '' } }],
              paging: null,
            },
          }
        : undefined,
    );
    expect(await readAll(portal.target)).toEqual([
      { row: 12, leadId: '5', cells: { name: 'true', city: null, due: null }, status: null },
    ]);
  });
});
