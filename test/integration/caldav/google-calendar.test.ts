import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { password, startRadicale } from '../../support/radicale.ts';
import { calendarScene, tuesday } from './calendar-scene.ts';

/** A CalDAV server that takes the tokens of a token endpoint, as Google's does: Radicale behind it, without `If-None-Match`. */
async function startGoogleEdge(origin: string) {
  let [token, isRevoked] = [0, false];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const body = await text(request);
    if (request.url === '/token') {
      const granted = isRevoked
        ? { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' }
        : { access_token: `token-${++token}`, expires_in: 3600, token_type: 'Bearer' };
      response.writeHead(isRevoked ? 400 : 200, { 'content-type': 'application/json' });
      return response.end(JSON.stringify(granted));
    }
    const {
      host: _,
      authorization,
      'if-none-match': __,
      'content-length': ___,
      ...headers
    } = request.headers;
    if (isRevoked || authorization !== `Bearer token-${token}`) return response.writeHead(401).end();
    const reply = await fetch(`${origin}${request.url ?? ''}`, {
      method: request.method ?? '',
      headers: { ...(headers as Record<string, string>), authorization: `Basic ${btoa(`anna:${password}`)}` },
      ...(body !== '' && { body }),
    });
    const { etag, 'content-type': type } = Object.fromEntries(reply.headers);
    response.writeHead(reply.status, { ...(etag && { etag }), ...(type && { 'content-type': type }) });
    return response.end(await reply.text());
  };
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    revoke: () => void (isRevoked = true),
    /** The tokens so far count no longer. */
    expire: () => void (token += 1),
    [Symbol.dispose]: () => void server.close(),
  };
}

test("a calendar opened with Google's account: an entry comes and moves, and a lost account is told", {
  tags: 'radicale',
}, async () => {
  await using server = await startRadicale();
  using edge = await startGoogleEdge(server.origin);
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-google-'));
  const account = join(folder, 'account.json');
  const user = {
    client_id: 'id',
    client_secret: 's3cret',
    refresh_token: 'refr3sh',
    token_uri: `${edge.origin}/token`,
  };
  await writeFile(account, JSON.stringify({ type: 'authorized_user', ...user }));
  await using scene = await calendarScene(server, {
    through: (url) => url.replace(server.origin, edge.origin),
    calendar: { username: undefined, password: undefined },
    env: { GOOGLE_APPLICATION_CREDENTIALS: account },
  });
  expect(await scene.pass()).toMatchObject({ put: 1 });
  scene.move(tuesday);
  await scene.sync();
  expect(await scene.pass()).toMatchObject({ changed: 1 });
  expect(await scene.dates()).toEqual([':20310304T080000Z']);
  expect((await scene.workspace.cli('check')).stdout).toMatch(
    /ok\s+main: calendar of anna@example.com: .* answers;/,
  );

  edge.expire();
  await scene.pass();
  expect(await scene.calendars()).toMatchObject([{ code: 'caldav.unauthenticated' }]);
  await scene.pool.query('update calendars set not_before = null');
  expect(await scene.pass()).toEqual({ put: 0, changed: 0, requested: 0 });
  expect(await scene.calendars()).toMatchObject([{ code: null }]);

  edge.revoke();
  const { stdout, stderr } = await scene.workspace.cli('check');
  expect(stdout).toMatch(
    /FAIL\s+main: calendar of anna@example.com: No token for .*\[caldav\.unauthenticated\]/,
  );
  for (const secret of ['s3cret', 'refr3sh', 'token-']) expect(stdout + stderr).not.toContain(secret);
  await rm(folder, { recursive: true });
});
