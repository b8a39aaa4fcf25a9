import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GoogleAccount, openGoogleAccount } from '../../../src/targets/google-sheets/google-account.ts';
import {
  SheetsApi,
  type SheetsApiOptions,
  type SheetsTimeouts,
} from '../../../src/targets/google-sheets/sheets-api.ts';
import { json, type SeenRequest, startServer, type TestServer } from '../leads-api/leads-api-server.ts';

export const never = new AbortController().signal;
export const spreadsheetId = '1AbC-spreadsheet_id';
export const accountEmail = 'leadsync@project.iam.gserviceaccount.com';

const pair = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
export const { privateKey, publicKey } = pair;

type Answer = (response: ServerResponse, request: SeenRequest, count: number) => void;

/** Answers as Google: tokens at /token, `ya29.secret-1` being the first; anything else as told. */
export interface Google extends AsyncDisposable {
  readonly url: string;
  readonly keyPath: string;
  readonly account: GoogleAccount;
  readonly clock: HandClock;
  /** What was asked, without the requests for a token. */
  readonly asked: SeenRequest[];
  readonly tokens: SeenRequest[];
  /** Puts another file in the place of the key; returns its path. */
  writeFile(name: string, content: string): Promise<string>;
  api(options?: Partial<SheetsApiOptions>, timeouts?: SheetsTimeouts): SheetsApi;
}

export class HandClock {
  epochMs = 1_800_000_000_000;

  now(): number {
    return this.epochMs;
  }

  random(): number {
    return 0;
  }
}

export async function startGoogle(answer: Answer, tokenAnswer: Answer = giveToken): Promise<Google> {
  const asked: SeenRequest[] = [];
  const tokens: SeenRequest[] = [];
  const server: TestServer = await startServer((response, request) => {
    const isToken = request.url === '/token';
    const list = isToken ? tokens : asked;
    list.push(request);
    if (isToken) tokenAnswer(response, request, list.length);
    else answer(response, request, list.length);
  });
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-google-'));
  const put = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };
  const keyPath = await put('key.json', JSON.stringify(serviceAccount(server.url)));
  const account = openGoogleAccount(keyPath);
  const clock = new HandClock();
  return {
    url: server.url,
    keyPath,
    account,
    clock,
    asked,
    tokens,
    writeFile: put,
    api(options = {}, timeouts) {
      const all: SheetsApiOptions = {
        spreadsheetId,
        apiUrl: server.url,
        account,
        clock,
        ...options,
      };
      return new SheetsApi(all, timeouts);
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

export function serviceAccount(url: string): Record<string, unknown> {
  return {
    type: 'service_account',
    project_id: 'project',
    private_key_id: 'abc123',
    private_key: privateKey,
    client_email: accountEmail,
    client_id: '1',
    auth_uri: 'https://accounts.google.com/o/oauth2/auth',
    token_uri: `${url}/token`,
  };
}

const giveToken: Answer = (response, _request, count) =>
  json(response, 200, { access_token: `ya29.secret-${count}`, expires_in: 3599, token_type: 'Bearer' });

/** Google's error body (AIP-193). */
export function apiError(
  code: number,
  status: string,
  message: string,
  info?: { reason: string; metadata?: Record<string, string> },
): unknown {
  const details =
    info === undefined
      ? {}
      : {
          details: [
            { '@type': 'type.googleapis.com/google.rpc.Help', links: [] },
            { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', domain: 'googleapis.com', ...info },
          ],
        };
  return { error: { code, message, status, ...details } };
}
