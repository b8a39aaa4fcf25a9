import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  type SheetsFault,
  type SheetsSandbox,
  type SheetsSandboxOptions,
  startSheetsSandbox,
} from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { errorBodyOf, refusalOf, sheetsClient, signer } from './sheets-sandbox-client.ts';

const scope = 'https://www.googleapis.com/auth/';

function read(sandbox: SheetsSandbox, auth = signer(sandbox)): Promise<unknown> {
  return sheetsClient(sandbox, auth).spreadsheets.get({
    spreadsheetId: sandbox.spreadsheetId,
    fields: 'spreadsheetId',
  });
}

function write(sandbox: SheetsSandbox, auth = signer(sandbox), signal?: AbortSignal): Promise<unknown> {
  const data = [{ range: 'Sheet1!A1', values: [['written']] }];
  const { values } = sheetsClient(sandbox, auth).spreadsheets;
  const requestBody = { valueInputOption: 'RAW', data };
  return values.batchUpdate(
    { spreadsheetId: sandbox.spreadsheetId, requestBody },
    signal === undefined ? {} : { signal },
  );
}

async function begin(options: SheetsSandboxOptions = {}): Promise<SheetsSandbox> {
  return startSheetsSandbox(options);
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'answered',
    (error: unknown) => error,
  );
}

test('a signed key gets a token for an hour, and all requests are listed', async () => {
  await using sandbox = await begin();
  const auth = signer(sandbox);
  await read(sandbox, auth);
  await write(sandbox, auth);
  expect(sandbox.requests).toMatchObject([
    { kind: 'token', method: 'token', status: 200 },
    { kind: 'read', method: 'spreadsheets.get', status: 200, bytes: 0 },
    { kind: 'write', method: 'spreadsheets.values.batchUpdate', status: 200 },
  ]);
  expect(sandbox.person.grid('Sheet1')).toEqual([['written']]);
});

test('another key, another account, a foreign scope or none gets no token', async () => {
  await using sandbox = await begin();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const grants = [
    [signer(sandbox, undefined, { key }), 'invalid_grant', 'Invalid JWT Signature.'],
    [
      signer(sandbox, undefined, { email: 'a@b.example' }),
      'invalid_grant',
      'Invalid grant: account not found',
    ],
    [signer(sandbox, ['calendar']), 'invalid_scope', 'Invalid OAuth scope or ID token audience provided.'],
  ] as const;
  const shape = z.object({ response: z.object({ data: z.unknown() }) });
  for (const [auth, error, description] of grants) {
    const failure = shape.parse(await failureOf(auth.authorize()));
    expect(failure.response.data).toEqual({ error, error_description: description });
  }
});

test('a token of ours is needed, with a scope for what is asked', async () => {
  await using sandbox = await begin();
  const none = await fetch(`${sandbox.url}v4/spreadsheets/${sandbox.spreadsheetId}`);
  expect(none.status).toBe(403);
  const auth = signer(sandbox);
  await read(sandbox, auth);
  sandbox.revokeTokens();
  expect(await errorBodyOf(read(sandbox, auth))).toMatchObject({ code: 401, status: 'UNAUTHENTICATED' });
  const looker = signer(sandbox, [`${scope}spreadsheets.readonly`]);
  await read(sandbox, looker);
  expect(await errorBodyOf(write(sandbox, looker))).toMatchObject({
    code: 403,
    details: [{ reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT' }],
  });
});

test('what is not shared cannot be seen, and what is shared to look at cannot be changed', async () => {
  await using sandbox = await begin();
  sandbox.person.setShared(false);
  expect(await refusalOf(read(sandbox))).toBe('403 The caller does not have permission');
  sandbox.person.setShared('reader');
  await read(sandbox);
  expect(await refusalOf(write(sandbox))).toBe('403 The caller does not have permission');
  const { spreadsheets } = sheetsClient(sandbox);
  expect(await refusalOf(spreadsheets.get({ spreadsheetId: 'other' }))).toBe(
    '404 Requested entity was not found.',
  );
});

test('Drive tells of the trash to who may ask', async () => {
  await using sandbox = await begin();
  const ask = async (scopes: string[]): Promise<unknown> => {
    const url = `${sandbox.url}drive/v3/files/${sandbox.spreadsheetId}?fields=trashed`;
    return (await signer(sandbox, scopes).request({ url })).data;
  };
  expect(await ask([`${scope}drive.metadata.readonly`])).toMatchObject({ trashed: false });
  sandbox.person.setTrashed(true);
  expect(await ask([`${scope}drive.metadata.readonly`])).toEqual({ trashed: true });
  expect(await refusalOf(ask([`${scope}spreadsheets`]))).toMatch(/^403 /);
});

test('a copy has the same records, another id and a life of its own', async () => {
  await using sandbox = await begin();
  const { spreadsheets: api } = sheetsClient(sandbox);
  const location = { dimensionRange: { sheetId: 0, dimension: 'COLUMNS', startIndex: 0, endIndex: 1 } };
  const developerMetadata = { metadataKey: 'k', metadataValue: 'v', visibility: 'DOCUMENT', location };
  const requestBody = { requests: [{ createDeveloperMetadata: { developerMetadata } }] };
  await api.batchUpdate({ spreadsheetId: sandbox.spreadsheetId, requestBody });
  const { spreadsheetId, person } = sandbox.person.copySpreadsheet();
  person.type('Sheet1', 0, 0, 'in the copy');
  expect(sandbox.person.grid('Sheet1')).toEqual([]);
  const fields =
    'spreadsheetId,properties.title,sheets.data(columnMetadata.developerMetadata.metadataKey,rowData.values.formattedValue)';
  const { data } = await api.get({ spreadsheetId, ranges: ['Sheet1!A1'], fields });
  expect(data).toEqual({
    spreadsheetId,
    properties: { title: 'Copy of Leads' },
    sheets: [
      {
        data: [
          {
            columnMetadata: [{ developerMetadata: [{ metadataKey: 'k' }] }],
            rowData: [{ values: [{ formattedValue: 'in the copy' }] }],
          },
        ],
      },
    ],
  });
});

test('reads and writes have quotas of their own, which come back after a minute', async () => {
  let now = Date.UTC(2026, 10, 21);
  await using sandbox = await begin({ quotas: { reads: 2, writes: 1 }, clock: { now: () => now } });
  const auth = signer(sandbox);
  await read(sandbox, auth);
  now += 30_000;
  await read(sandbox, auth);
  expect(await errorBodyOf(read(sandbox, auth))).toMatchObject({
    code: 429,
    status: 'RESOURCE_EXHAUSTED',
    message: expect.stringContaining(
      "limit 'Read requests per minute per user' of service 'sheets.googleapis.com'",
    ),
    details: [
      {
        reason: 'RATE_LIMIT_EXCEEDED',
        metadata: { quota_limit: 'ReadRequestsPerMinutePerUser', quota_limit_value: '2' },
      },
      { '@type': 'type.googleapis.com/google.rpc.Help' },
    ],
  });
  await write(sandbox, auth);
  now += 30_000;
  await read(sandbox, auth);
  expect(await refusalOf(read(sandbox, auth))).toMatch(/^429 /);
});

test('a person acts before a request is carried out', async () => {
  await using sandbox = await begin();
  const seen: string[] = [];
  sandbox.before = ({ method, n }) => {
    seen.push(`${n} ${method}`);
    if (n === 2) sandbox.person.insertRows('Sheet1', 0);
  };
  await read(sandbox);
  await write(sandbox);
  sandbox.before = null;
  await read(sandbox);
  expect(seen).toEqual(['1 spreadsheets.get', '2 spreadsheets.values.batchUpdate']);
  expect(sandbox.person.grid('Sheet1')).toEqual([['written']]);
});

test('faults leave the state as it was, but for the reply that is lost', async () => {
  await using sandbox = await begin();
  const play = async (fault: SheetsFault): Promise<unknown> => {
    sandbox.before = () => fault;
    return failureOf(write(sandbox));
  };
  expect(await play({ status: 429, quota: 'Write', scope: 'Project', retryAfter: '7' })).toMatchObject({
    status: 429,
    response: {
      data: { error: { details: [{ metadata: { quota_limit: 'WriteRequestsPerMinutePerProject' } }, {}] } },
    },
  });
  for (const status of [500, 503, 403, 401, 404] as const)
    expect(await play({ status })).toMatchObject({ status });
  expect(await play({ kind: 'html' })).toMatchObject({ status: 408 });
  expect(await play({ kind: 'reset' })).toMatchObject({ code: 'ECONNRESET' });
  expect(sandbox.person.grid('Sheet1')).toEqual([]);
  expect(await play({ kind: 'reset-after' })).toMatchObject({ code: 'ECONNRESET' });
  expect(sandbox.person.grid('Sheet1')).toEqual([['written']]);
});

test('a request that hangs ends when the client gives up or the stand-in closes', async () => {
  await using sandbox = await begin();
  const asked = Promise.withResolvers<void>();
  sandbox.before = () => {
    asked.resolve();
    return { kind: 'hang' };
  };
  const leaving = new AbortController();
  const left = failureOf(write(sandbox, signer(sandbox), leaving.signal));
  await asked.promise;
  leaving.abort();
  expect(await left).toMatchObject({ code: 'AbortError' });
});

test('a person finds the tab as it is shown', async () => {
  await using sandbox = await begin({ tabs: ['Leads', 'Notes'], timeZone: 'Europe/Berlin' });
  const { person } = sandbox;
  person.put('Leads', [['Id', 'Due', 'Note'], ['1', '2026-11-20', '=1+1'], ['2']], { typeDates: true });
  person.moveRows('Leads', 2, 1, 1);
  person.insertColumns('Leads', 1);
  person.deleteRows('Leads', 3, 5);
  person.type('Leads', 1004, 0, 'far below');
  expect(person.grid('Leads')?.slice(0, 3)).toEqual([
    ['Id', '', 'Due', 'Note'],
    ['2', '', '', ''],
    ['1', '', '2026-11-20', '=1+1'],
  ]);
  expect(person.grid('Leads')).toHaveLength(1005);
  person.renameTab('Notes', 'Other');
  person.deleteTab('Leads');
  person.addTab('Third');
  person.freeze('Third', 2);
  expect([person.grid('Leads'), person.grid('Notes'), person.grid('Other')]).toEqual([null, null, []]);
});
