import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runsAtOnce } from '../../../src/app.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

/** More than runs go on at once, and more than the smallest pool has connections for. */
const names = Array.from({ length: 9 }, (_, index) => `c${index}`);
const leads = 20;

test('a worker of many connections syncs them all, mails for each, and stops when it is told to', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads } });
  // Eight for each process.
  const name = new URL(workspace.database.url).pathname.slice(1);
  await workspace.database.pool.query(`alter database ${name} connection limit 24`);
  const { sandbox, folder } = workspace;
  const [due] = sandbox.leads.list();
  for (const { id } of sandbox.leads.list()) sandbox.leads.edit(id, { nextFollowUpAt: null });
  sandbox.leads.edit(due?.id ?? '', { nextFollowUpAt: new Date(Date.now() - 3_600_000).toISOString() });
  const connections = names.map((name) => [
    name,
    {
      leads: { baseUrl: sandbox.url, apiKey: sandbox.apiKey },
      target: { type: 'workbook', path: `./${name}.csv` },
      reminders: { to: [`${name}@example.com`] },
    },
  ]);
  writeFileSync(
    join(folder, 'leadsync.yaml'),
    JSON.stringify({ connections: Object.fromEntries(connections) }),
  );

  const worker = workspace.start(['worker']);
  await until('the worker is ready', () => worker.stderr.includes('"worker is ready"'));
  await until('every file is there', () =>
    names.every((name) => rowsOf(join(folder, `${name}.csv`)) === leads),
  );
  await until('every connection has sent its mail', async () => {
    const { rows } = await workspace.database.pool.query<{ recipient: string }>(
      `select recipient from mails where state = 'sent'`,
    );
    return rows.length === names.length;
  });

  expect((await worker.kill('SIGTERM')).code).toBe(0);
  expect(worker.stderr).not.toContain('Warning');
});

test('as many runs go on at once as the pool has connections for, four at most', () => {
  expect([8, 11, 12, 16, 20, 999].map(runsAtOnce)).toEqual([1, 1, 2, 3, 4, 4]);
});

/** Records below the headings. */
function rowsOf(path: string): number {
  return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n').length - 1 : 0;
}
