import { expect, test } from 'vitest';
import { undocumented } from '../stand-ins/msgraph/documented.ts';
import { graphError, itemNotFound } from '../stand-ins/msgraph/graph-error.ts';

test('a reply of the stand-in that Microsoft does not document is noticed', () => {
  const item = { id: '1', name: 'leads.xlsx', size: 3, eTag: '"{1},1"' };
  const get = 'GET /v1.0/drives/1/items/1';
  expect(undocumented(get, { status: 200, body: item })).toBeNull();
  expect(undocumented(get, itemNotFound())).toBeNull();
  const wrong: readonly (readonly [string, Parameters<typeof undocumented>[1]])[] = [
    [get, { status: 206, body: item }],
    [get, { status: 200, body: { ...item, etag: '"1"' } }],
    [get, { status: 200, body: { ...item, size: '3' } }],
    [get, graphError(418, 'notAllowed', 'x')],
    [get, graphError(404, 'fileNotFound', 'x')],
    [`${get}/content`, { status: 302, headers: {} }],
    ['PUT /upload/1', { status: 202, body: { nextExpectedRanges: ['0-'] } }],
  ];
  for (const [request, reply] of wrong) expect(undocumented(request, reply)).toContain(request);
});
