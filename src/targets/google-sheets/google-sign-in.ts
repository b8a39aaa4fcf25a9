import { createHash, randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { codeOf, LeadsyncError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/foreign-text.ts';
import { type GoogleUser, oauthClient, readToken } from './google-account.ts';

/** The file of an OAuth client of type "Desktop app", as the Google Cloud console hands it out. */
const clientSchema = z.object({
  installed: z.object({
    client_id: z.string(),
    client_secret: z.string(),
    auth_uri: z.url({ protocol: /^https?$/ }).default('https://accounts.google.com/o/oauth2/v2/auth'),
    token_uri: z.url({ protocol: /^https?$/ }).exactOptional(),
  }),
});

/** Throws `usage.oauth-client`. */
export function parseOAuthClient(json: unknown, path: string): z.infer<typeof clientSchema>['installed'] {
  const { data } = clientSchema.safeParse(json);
  if (data !== undefined) return data.installed;
  throw new LeadsyncError(
    'usage.oauth-client',
    `${path} is not the file of an OAuth client of the type "Desktop app"`,
    {
      help: 'In the Google Cloud console: APIs & Services, Credentials, Create credentials, OAuth client ID, Desktop app; then Download JSON.',
    },
  );
}

/**
 * Lets a person sign in at Google in their browser, which comes back to a port of this machine (RFC 8252, with PKCE), and writes what
 * they granted to `out`, readable by its owner alone; in place of an earlier sign-in with this client, of no other file.
 * `show` gets the address to open. Throws `target.unauthenticated`,
 * faults of a `token` request, `usage.file-exists`, and the signal's reason.
 */
export async function signInAtGoogle(
  client: ReturnType<typeof parseOAuthClient>,
  out: string,
  scopes: readonly string[],
  show: (address: string) => void,
  signal: AbortSignal,
): Promise<void> {
  await refuseOther(out, client.client_id);
  const random = (): string => randomBytes(32).toString('base64url');
  const [state, verifier] = [random(), random()];
  await using stack = new AsyncDisposableStack();
  const { promise: code, resolve, reject } = Promise.withResolvers<string>();
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
    // Another page of this browser may guess the port, not the state.
    if (searchParams.get('state') !== state) return response.writeHead(404).end('not found\n');
    const [granted, refused] = [searchParams.get('code'), searchParams.get('error')];
    const isIn = granted !== null;
    response
      .writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
      .end(isIn ? 'leadsync is signed in. You may close this page.\n' : 'Google did not sign leadsync in.\n');
    if (isIn) return resolve(granted);
    return reject(
      new LeadsyncError(
        'target.unauthenticated',
        `Google did not sign you in (${refused ?? 'no code'}); nothing was written`,
        {
          help: 'Run the command again, and allow what Google asks.',
        },
      ),
    );
  });
  stack.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const address = new URL(client.auth_uri);
  address.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: scopes.join(' '),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    // A refresh token, also for a person who has allowed it before.
    access_type: 'offline',
    prompt: 'consent',
  }).toString();
  show(address.href);
  const stopped = new Promise<never>((_, stop) => {
    signal.addEventListener('abort', () => stop(signal.reason as Error), { once: true });
  });
  const granted = await Promise.race([code, stopped]);
  const oauth = await oauthClient(client, redirectUri);
  const tokens = await readToken(
    async () => (await oauth.getToken({ code: granted, codeVerifier: verifier })).tokens,
  );
  if (typeof tokens.refresh_token !== 'string')
    throw new LeadsyncError(
      'target.unauthenticated',
      'Google granted access for an hour alone; nothing was written',
      {
        help: 'Remove leadsync at https://myaccount.google.com/connections, then run the command again.',
      },
    );
  const { client_id, client_secret, token_uri } = client;
  const user: GoogleUser = {
    type: 'authorized_user',
    client_id,
    client_secret,
    refresh_token: tokens.refresh_token,
    ...(token_uri !== undefined && { token_uri }),
  };
  const unfinished = `${out}.${state}`;
  await writeFile(unfinished, `${JSON.stringify(user, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  await rename(unfinished, out);
}

/** Throws `usage.file-exists` for a file that is no sign-in with this client. */
async function refuseOther(path: string, client: string): Promise<void> {
  const earlier = z.object({ type: z.literal('authorized_user'), client_id: z.literal(client) });
  const there = await readFile(path, 'utf8').catch((error: unknown) =>
    codeOf(error) === 'ENOENT' ? null : '',
  );
  if (there === null || earlier.safeParse(parseJson(there)).success) return;
  throw new LeadsyncError('usage.file-exists', `${path} is there, and no sign-in with this client`, {
    help: 'Move it, then run the command again.',
  });
}
