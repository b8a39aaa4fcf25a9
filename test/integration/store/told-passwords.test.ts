import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/config/secret.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { openClient } from '../../../src/targets/postgres/connection.ts';
import { Workspace } from '../../support/workspace.ts';

const program = fileURLToPath(new URL('../../support/impostor-postgres.ts', import.meta.url));

/** 0.0.0.0 leads to this machine, and does not look like it. */
test.each([
  ['clear-text', '0.0.0.0', '', false],
  ['md5', '0.0.0.0', '', false],
  ['clear-text', '127.0.0.1', '?require_auth=scram-sha-256', false],
  ['md5', '127.0.0.1', '?require_auth=scram-sha-256', false],
  ['clear-text', '127.0.0.1', '', true],
  ['md5', '127.0.0.1', '', true],
])(
  'a server that wants the password as %s on %s%s: is told it: %s',
  async (method, host, settings, isTold) => {
    const impostor = spawn(process.execPath, [program, '0', method], { stdio: ['pipe', 'pipe', 'inherit'] });
    let heard = '';
    impostor.stdout.on('data', (chunk) => (heard += String(chunk)));
    await expect.poll(() => heard).toContain('listening');
    const port = /listening (\d+)/.exec(heard)?.[1] ?? '';
    const url = `postgres://somebody:a-secret@${host}:${port}/state${settings}`;
    const pool = openDatabase({ connectionString: url });
    await expect(pool.query('select 1')).rejects.toMatchObject({
      code: 'database.unreachable',
      ...(!isTold && { message: expect.stringContaining('The password was not sent') }),
    });
    await pool.end();
    const client = openClient(new Secret(url), 'crm');
    client.on('error', () => {});
    await expect(client.connect()).rejects.toThrow();
    await client.end().catch(() => {});
    impostor.stdin.end();
    await once(impostor, 'close');
    expect(heard.split('answer').length - 1).toBe(isTold ? 2 : 0);
  },
);

test('check warns of a database on another machine without TLS; REQUIRE_TLS refuses it', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 1 } });
  const url = new URL(workspace.database.url);
  url.hostname = '0.0.0.0';
  const checked = await workspace.start(['check'], { env: { DATABASE_URL: url.href } }).ended;
  expect(checked).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^warn +DATABASE_URL: .* without TLS/m),
  });
  const own = await workspace.start(['check']).ended;
  expect(own).toMatchObject({ code: 0, stdout: expect.not.stringContaining('TLS') });
  const refused = await workspace.start(['status'], { env: { DATABASE_URL: url.href, REQUIRE_TLS: 'true' } })
    .ended;
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/DATABASE_URL: .* without TLS/) });
});
