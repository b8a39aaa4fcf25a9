import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { oneObject } from '../../support/cli.ts';
import { until } from '../../support/until.ts';
import { Scene } from './cli-google-sheets-scene.ts';

/** The command that signs in, until it has named its address. */
async function signIn(scene: Scene, client: string) {
  const command = scene.workspace.start(['check', '--google-sign-in', client, '--json']);
  await until('the address is shown', () => /^http.*\n/m.test(command.stderr));
  return { command, address: /^http.*$/m.exec(command.stderr)?.[0] ?? '' };
}

test('a person signs in, without a key of a service account: check and sync work with what is written', async () => {
  await using scene = await Scene.open();
  const client = join(scene.workspace.folder, 'client.json');
  writeFileSync(client, scene.sheets.clientFile());
  const { command, address } = await signIn(scene, client);
  // Another page of the browser, which guesses the port.
  const back = new URL(new URL(address).searchParams.get('redirect_uri') ?? '');
  expect((await fetch(`${back.href}?code=guessed&state=guessed`)).status).toBe(404);
  expect(await (await fetch(address)).text()).toContain('leadsync is signed in');
  const { code, stdout } = await command.ended;
  expect(code).toBe(0);
  const written = join(scene.workspace.folder, 'google-credentials.json');
  expect(JSON.parse(stdout)).toEqual({ ok: true, written });
  expect(statSync(written).mode & 0o777).toBe(0o600);
  const { client_secret: secret, refresh_token: refresh } = JSON.parse(readFileSync(written, 'utf8')) as {
    client_secret: string;
    refresh_token: string;
  };
  scene.workspace.env['GOOGLE_APPLICATION_CREDENTIALS'] = written;
  expect(oneObject(await scene.cli('sync', '--json'))).toMatchObject({
    status: 'succeeded',
    created: { rows: 5 },
  });
  expect((await scene.cli('check')).stdout).toContain('whoever signed in');
  // Google ends the sign-in of a tested app after seven days.
  scene.sheets.revokeTokens();
  const refused = await scene.cli('sync', '--json');
  expect(oneObject(refused)).toMatchObject({ problems: [{ code: 'target.unauthenticated' }] });
  expect(refused.stdout).toContain('leadsync check --google-sign-in');
  const again = await signIn(scene, client);
  await (await fetch(again.address)).text();
  expect((await again.command.ended).code).toBe(0);
  expect(statSync(written).mode & 0o777).toBe(0o600);
  expect(oneObject(await scene.cli('sync', '--json'))).toMatchObject({ status: 'succeeded' });
  for (const told of [secret, refresh]) expect(scene.said + command.stderr).not.toContain(told);
});

test('what is no OAuth client, a refusal, and a file that is there: nothing is written', async () => {
  await using scene = await Scene.open();
  const client = join(scene.workspace.folder, 'client.json');
  const none = await scene.cli('check', '--google-sign-in', scene.keyPath, '--json');
  expect(none.code).toBe(2);
  expect(none.stderr).toContain('Desktop app');
  const absent = await scene.cli('check', '--google-sign-in', client, '--json');
  expect(absent.code).toBe(2);
  expect(absent.stderr).toContain('cannot be read: there is no such file');
  writeFileSync(client, scene.sheets.clientFile());
  const first = await signIn(scene, client);
  const query = new URL(first.address).searchParams;
  const refusal = new URLSearchParams({ error: 'access_denied', state: query.get('state') ?? '' }).toString();
  expect((await fetch(`${query.get('redirect_uri') ?? ''}?${refusal}`)).status).toBe(200);
  expect((await first.command.ended).stderr).toContain('access_denied');
  const written = join(scene.workspace.folder, 'google-credentials.json');
  writeFileSync(written, 'mine');
  // Before anybody signs in.
  const second = await scene.cli('check', '--google-sign-in', client, '--json');
  expect(second.code).toBe(2);
  expect(second.stderr).toContain('google-credentials.json');
  expect(second.stderr).not.toContain('http');
  expect(readFileSync(written, 'utf8')).toBe('mine');
});
