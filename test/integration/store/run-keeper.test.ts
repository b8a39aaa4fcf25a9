import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { query, serversBelow } from './embedded-postgres-scene.ts';

const program = join(import.meta.dirname, '../../support/run-keeper.ts');
const embedded = join(import.meta.dirname, '../../support/embedded-postgres-child.ts');

test('a test run that is killed leaves no Postgres, no folder and no process that it had begun', async () => {
  const { TEST_DATABASE_URL: _, ...env } = process.env;
  const keeper = spawn(process.execPath, [program], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(keeper.stdout, 'data')) as [Buffer];
  const { databaseUrl, temporary } = JSON.parse(line.toString()) as Record<string, string>;
  const [row] = await query(databaseUrl ?? '', `select current_setting('data_directory') as folder`);
  const folder = String(row?.['folder']);
  // A process that uses a Postgres starts it again when it dies: it has to end, too.
  const begun = spawn(process.execPath, [embedded, join(temporary ?? '', 'data')], {
    env: { ...env, TMPDIR: temporary },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(begun, 'exit');
  await once(begun.stdout, 'data');
  expect([serversBelow(folder), serversBelow(temporary ?? '')]).toMatchObject([{ length: 1 }, { length: 1 }]);

  keeper.stdin.destroy();
  expect(await once(keeper, 'exit')).toEqual([0, null]);
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect([serversBelow(folder), serversBelow(temporary ?? '')]).toEqual([[], []]);
  expect([folder, temporary ?? ''].filter((path) => existsSync(path))).toEqual([]);
});
