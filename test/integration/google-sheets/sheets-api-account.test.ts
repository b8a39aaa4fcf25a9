import { createVerify } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { openGoogleAccount } from '../../../src/targets/google-sheets/google-account.ts';
import { json, thrown } from '../leads-api/leads-api-server.ts';
import {
  accountEmail,
  never,
  privateKey,
  publicKey,
  serviceAccount,
  startGoogle,
} from './sheets-api-server.ts';

test('a key: asks its own token address, once, with what it wants signed', async () => {
  await using google = await startGoogle((response) => json(response, 200, {}));
  const [first, again] = [await google.account.authorize(never), await google.account.authorize(never)];
  expect([first.token, again.token]).toEqual(['ya29.secret-1', 'ya29.secret-1']);
  expect(google.tokens).toHaveLength(1);
  const form = new URLSearchParams(google.tokens[0]?.body);
  expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
  const [header = '', claims = '', signature = ''] = form.get('assertion')?.split('.') ?? [];
  expect(
    createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(publicKey, signature, 'base64url'),
  ).toBe(true);
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({
    iss: accountEmail,
    aud: `${google.url}/token`,
    scope:
      'https://www.googleapis.com/auth/spreadsheets https://www.googleapis.com/auth/drive.metadata.readonly',
  });
});

test.each([
  [
    400,
    { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' },
    'target.unauthenticated',
    'never',
  ],
  [401, { error: 'invalid_client' }, 'target.unauthenticated', 'never'],
  [403, 'no', 'target.unauthenticated', 'never'],
  [500, { error: 'internal_failure' }, 'target.unavailable', 'now'],
  [503, 'busy', 'target.unavailable', 'now'],
  [429, {}, 'target.unavailable', 'later'],
  [200, '<html>', 'target.unavailable', 'later'],
  [200, { expires_in: 3599 }, 'target.unavailable', 'later'],
])(
  'the token server answers %i %j: %s, with one request and no secret',
  async (status, body, code, retry) => {
    await using google = await startGoogle(
      (response) => json(response, 200, {}),
      (response) => json(response, status, body),
    );
    const error = await thrown(google.api().read(['A'], 'FORMULA', never));
    expect(error).toMatchObject({ code, retry });
    expect([google.tokens.length, google.asked.length]).toEqual([1, 0]);
    const assertion = new URLSearchParams(google.tokens[0]?.body).get('assertion') ?? '';
    const shown = inspect(error, { depth: null, showHidden: true, getters: true }) + JSON.stringify(error);
    expect(assertion).not.toBe('');
    expect(shown).not.toContain(assertion);
    expect(shown).not.toContain(privateKey.split('\n')[1]);
  },
);

test('the token server breaks off or does not answer before we are stopped', async () => {
  const begun = Promise.withResolvers<void>();
  await using google = await startGoogle(
    (response) => json(response, 200, {}),
    (response, _request, count) => (count === 1 ? response.destroy() : begun.resolve()),
  );
  expect(await thrown(google.account.authorize(never))).toMatchObject({
    code: 'target.unavailable',
    retry: 'now',
  });
  expect(google.tokens).toHaveLength(1);
  const stop = new AbortController();
  const call = thrown(google.account.authorize(stop.signal));
  await begun.promise;
  const reason = new Error('stop');
  stop.abort(reason);
  expect(await call).toBe(reason);
});

test('another key is taken up after the old one was refused', async () => {
  await using google = await startGoogle((response) => json(response, 200, {}));
  await google.account.authorize(never);
  await writeFile(
    google.keyPath,
    JSON.stringify({ ...serviceAccount(google.url), client_email: 'new@x.example.com' }),
  );
  google.account.forget();
  await google.account.authorize(never);
  const claims = new URLSearchParams(google.tokens[1]?.body).get('assertion')?.split('.')[1] ?? '';
  expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ iss: 'new@x.example.com' });
  expect(await google.account.address()).toBe('new@x.example.com');
});

describe('the file', () => {
  const key = serviceAccount('https://example.com');

  test.each<[string, string, string]>([
    ['no JSON', 'secret-text', 'is not JSON'],
    ['no account', '[]', 'is not an account'],
    ['another kind', JSON.stringify({ ...key, type: 'impersonated_service_account' }), '"type"'],
    ['no key', JSON.stringify({ ...key, private_key: undefined }), '"private_key"'],
    [
      'no usable key',
      JSON.stringify({ ...key, private_key: 'secret-text' }),
      '"private_key" is not a private key',
    ],
    ['no address', JSON.stringify({ ...key, client_email: 'secret-text' }), '"client_email"'],
    ['a token address that is none', JSON.stringify({ ...key, token_uri: 'secret-text' }), '"token_uri"'],
    ['half a workload identity', JSON.stringify({ type: 'external_account' }), '"audience"'],
  ])('%s', async (_name, content, words) => {
    await using google = await startGoogle((response) => json(response, 200, {}));
    const path = await google.writeFile('other.json', content);
    const account = openGoogleAccount(path);
    for (const call of [() => account.authorize(never), () => account.address()]) {
      const error = await thrown(call());
      expect(error).toMatchObject({
        code: 'target.credentials-invalid',
        retry: 'never',
        message: expect.stringContaining(words),
        help: expect.stringContaining('GOOGLE_APPLICATION_CREDENTIALS'),
      });
      expect((error as Error).message).toContain(path);
      const shown = inspect(error, { depth: null, showHidden: true });
      expect(shown).not.toContain('secret-text');
      expect(shown).not.toContain(privateKey.split('\n')[1]);
    }
  });

  test.each([undefined, '/nowhere/key.json'])('missing: %s', async (path) => {
    const account = openGoogleAccount(path);
    for (const call of [() => account.authorize(never), () => account.address()]) {
      expect(await thrown(call())).toMatchObject({
        code: 'target.credentials-missing',
        retry: 'never',
        help: expect.stringContaining('GOOGLE_APPLICATION_CREDENTIALS'),
      });
    }
  });
});

test('a workload identity: its own addresses, the token from a file, acting as a service account', async () => {
  await using google = await startGoogle((response, { url }) =>
    url === '/sts'
      ? json(response, 200, {
          access_token: 'federated',
          issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
          token_type: 'Bearer',
          expires_in: 3600,
        })
      : json(response, 200, {
          accessToken: 'impersonated',
          expireTime: new Date(Date.now() + 3_600_000).toISOString(),
        }),
  );
  const file = await google.writeFile('subject', 'subject-token');
  const impersonate = `/v1/projects/-/serviceAccounts/${accountEmail}:generateAccessToken`;
  const source = { file, format: { type: 'text' } };
  const content = workloadIdentity(google.url, source, {
    service_account_impersonation_url: google.url + impersonate,
  });
  const path = await google.writeFile('identity.json', content);
  const account = openGoogleAccount(path);
  expect((await account.authorize(never)).token).toBe('impersonated');
  expect(await account.address()).toBe(accountEmail);
  expect(google.asked.map(({ url }) => url)).toEqual(['/sts', impersonate]);
  expect(new URLSearchParams(google.asked[0]?.body).get('subject_token')).toBe('subject-token');
});

test('a workload identity whose token is not there', async () => {
  await using google = await startGoogle((response) => json(response, 500, {}));
  const content = workloadIdentity(google.url, { file: '/nowhere/subject-token' });
  const account = openGoogleAccount(await google.writeFile('identity.json', content));
  expect(await thrown(account.authorize(never))).toMatchObject({
    code: 'target.unauthenticated',
    retry: 'never',
    help: expect.stringContaining('credential_source'),
  });
  expect(await account.address()).toBeNull();
  expect(google.asked).toEqual([]);
});

function workloadIdentity(url: string, source: object, more: object = {}): string {
  return JSON.stringify({
    universe_domain: 'googleapis.com',
    type: 'external_account',
    audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/p',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${url}/sts`,
    credential_source: source,
    ...more,
  });
}
