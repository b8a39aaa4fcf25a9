import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';
import { json, startServer } from '../leads-api/leads-api-server.ts';

/** A sync of one lead whose page comes only when the table was read, and `meanwhile` was done. */
async function syncWhile(workspace: Workspace, meanwhile: () => void) {
  const { pool } = workspace.database;
  // What a table showed that was read is kept for the next night.
  const wasRead = async (): Promise<boolean> =>
    (await pool.query(`select from place_notes where json_array_length(read_shown->'left') = 1`)).rowCount ===
    1;
  const [lead] = workspace.sandbox.leads.list();
  await using server = await startServer((response, request) => {
    const page = async (): Promise<void> => {
      await until('the table was read', wasRead);
      meanwhile();
      json(response, 200, { items: [lead], nextCursor: null });
    };
    if (request.url.startsWith('/v1/leads?')) page().catch(() => response.destroy());
    else if (request.method === 'GET') json(response, 200, workspace.sandbox.leads.list()[0] ?? {});
    else {
      const edit = JSON.parse(request.body) as Record<string, string>;
      json(response, 200, workspace.sandbox.leads.edit(lead?.id ?? '', edit) ?? {});
    }
  });
  workspace.configure({ leads: { baseUrl: server.url } });
  return await workspace.sync({ allow: ['other-service'] });
}

test('a table is read once, while the pages come', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
  await workspace.sync();
  workspace.sheet.edit(() => true, { City: 'typed before' });
  const report = await syncWhile(workspace, () => {});
  expect(report).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 0 },
    // For the tag of its content, its headings and its rows.
    requests: { target: 3 },
  });
});

test('no edit is lost: what is typed into a table that was read already is carried over by the same sync', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
  await workspace.sync();
  workspace.sheet.edit(() => true, { City: 'typed before' });
  const report = await syncWhile(workspace, () => {
    workspace.sheet.edit(() => true, { City: 'typed meanwhile' });
  });
  expect(report).toMatchObject({ status: 'succeeded', updated: { leads: 1, rows: 0 } });
  expect(workspace.sandbox.leads.list()).toMatchObject([{ city: 'typed meanwhile' }]);
});
