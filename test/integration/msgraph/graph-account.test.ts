import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { Secret } from '../../../src/config/secret.ts';
import { systemClock } from '../../../src/ports/clock.ts';
import { type GraphApp, openGraphAccount } from '../../../src/targets/msgraph/graph-account.ts';
import { sampleApp, startMsGraphSandbox } from '../../stand-ins/msgraph/msgraph-sandbox.ts';

const never = new AbortController().signal;
const secret = sampleApp.secret?.value ?? '';
const folder = mkdtempSync(join(tmpdir(), 'leadsync-entra-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A key and its certificate, made as docs/microsoft-365.md shows. */
function makeCertificate(name: string, days = '2'): { readonly key: string; readonly certificate: string } {
  const at = (file: string) => join(folder, `${name}.${file}`);
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=leadsync', '-days', days];
  execFileSync('openssl', [...made, '-keyout', at('key'), '-out', at('crt')], { stdio: 'ignore' });
  return { key: readFileSync(at('key'), 'utf8'), certificate: readFileSync(at('crt'), 'utf8') };
}

type Settings = Partial<Record<'tenant' | 'clientId' | 'clientSecret' | 'loginUrl', string>>;

function appOf({ tenant, clientId, clientSecret }: Settings): GraphApp {
  return {
    tenant,
    clientId,
    clientSecret: clientSecret === undefined ? undefined : new Secret(clientSecret),
  };
}

const { tenant, clientId } = sampleApp;
const right = { tenant, clientId, clientSecret: secret };
const open = (settings: Settings) =>
  openGraphAccount(appOf(settings), settings.loginUrl ?? 'http://127.0.0.1:9', systemClock);

test('a token comes with a secret, once until it is wanted anew', async () => {
  await using sandbox = await startMsGraphSandbox();
  const account = open({ ...right, loginUrl: sandbox.loginUrl });
  const token = await account.token(never);
  expect(sandbox.entra.isValid(token)).toBe(true);
  expect(await account.token(never)).toBe(token);
  expect(sandbox.entra.given).toBe(1);
  expect(await account.token(never, true)).not.toBe(token);
  // No question for what Microsoft's addresses are: they are known.
  expect(sandbox.requests).toEqual(Array(2).fill(`POST /${tenant}/oauth2/v2.0/token`));
});

test('a token comes with a certificate, whose thumbprint is computed, whatever stands first in the file', {
  tags: 'openssl',
}, async () => {
  const { key, certificate } = makeCertificate('right');
  await using sandbox = await startMsGraphSandbox({ tenant, clientId, certificate });
  for (const pem of [key + certificate, `Bag Attributes\n${certificate}\n${key}`]) {
    const account = open({ tenant, clientId, clientSecret: pem, loginUrl: sandbox.loginUrl });
    expect(sandbox.entra.isValid(await account.token(never))).toBe(true);
  }
});

test.each([
  [{ tenant: 'nobody.example.com' }, 'MSGRAPH_TENANT names no directory (AADSTS90002)'],
  [{ clientId: '00000000-0000-0000-0000-000000000000' }, 'no app with this MSGRAPH_CLIENT_ID (AADSTS700016)'],
  [{ clientSecret: 'the-id-instead' }, 'MSGRAPH_CLIENT_SECRET is wrong (AADSTS7000215)'],
])('a refusal names the setting: %j', async (wrong, message) => {
  await using sandbox = await startMsGraphSandbox();
  const settings = { ...right, ...wrong, loginUrl: sandbox.loginUrl };
  const error: unknown = await open(settings)
    .token(never)
    .catch((caught: unknown) => caught);
  expect(error).toMatchObject({
    code: 'target.unauthenticated',
    retry: 'never',
    message: expect.stringContaining(message),
  });
  expect(inspect(error, { depth: 9 })).not.toContain(settings.clientSecret);
});

test('an expired secret and a certificate that was not uploaded are told apart', {
  tags: 'openssl',
}, async () => {
  await using expired = await startMsGraphSandbox({ ...sampleApp, secret: { value: secret, expired: true } });
  await expect(open({ ...right, loginUrl: expired.loginUrl }).token(never)).rejects.toMatchObject({
    message: expect.stringContaining('MSGRAPH_CLIENT_SECRET has expired (AADSTS7000222)'),
  });
  const { key, certificate } = makeCertificate('other');
  await using sandbox = await startMsGraphSandbox();
  const account = open({ tenant, clientId, clientSecret: key + certificate, loginUrl: sandbox.loginUrl });
  await expect(account.token(never)).rejects.toMatchObject({
    message: expect.stringContaining('does not have the certificate in MSGRAPH_CLIENT_SECRET (AADSTS700027)'),
  });
});

test('Entra that asks to wait, or is not there, is tried later; then a token comes', async () => {
  await using sandbox = await startMsGraphSandbox();
  const account = open({ ...right, loginUrl: sandbox.loginUrl });
  sandbox.incident = () => ({ status: 429, headers: { 'retry-after': '7' }, body: {} });
  await expect(account.token(never)).rejects.toMatchObject({
    code: 'target.unavailable',
    retry: 'later',
    retryAfterMs: 7_000,
  });
  sandbox.incident = () => 'lose-request';
  await expect(account.token(never)).rejects.toMatchObject({ code: 'target.unavailable', retry: 'later' });
  sandbox.incident = () => undefined;
  expect(sandbox.entra.isValid(await account.token(never))).toBe(true);
});

test('what is set is looked at before anything is sent, and named', { tags: 'openssl' }, async () => {
  const one = makeCertificate('one');
  const two = makeCertificate('two');
  const cases: readonly (readonly [Settings, string, string])[] = [
    [{}, 'target.credentials-missing', 'MSGRAPH_TENANT is not set'],
    [{ tenant }, 'target.credentials-missing', 'MSGRAPH_CLIENT_ID is not set'],
    [{ tenant, clientId }, 'target.credentials-missing', 'MSGRAPH_CLIENT_SECRET is not set'],
    [{ tenant, clientId, clientSecret: one.key }, 'target.credentials-invalid', 'holds no certificate'],
    [
      { tenant, clientId, clientSecret: one.certificate },
      'target.credentials-invalid',
      'holds no private key',
    ],
    [
      { tenant, clientId, clientSecret: one.key + two.certificate },
      'target.credentials-invalid',
      'does not belong',
    ],
  ];
  for (const [settings, code, message] of cases) {
    const asked = open(settings).token(never);
    await expect(asked).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message),
      retry: 'never',
    });
  }
});
