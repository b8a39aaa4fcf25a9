import type { Workspace } from './workspace.ts';
import { json, startServer, type TestServer } from '../integration/leads-api/leads-api-server.ts';

/** A stop between the sync and the sandbox that answers some requests itself, and passes the others on. */
export async function startBetween(
  workspace: Workspace,
  refuse: (method: string, path: string) => number | 'too-large' | null,
): Promise<TestServer> {
  return startServer((response, request) => {
    const status = refuse(request.method, request.url);
    if (status === 'too-large') {
      response.writeHead(200, { 'content-length': String(17 * 1024 * 1024) });
      response.flushHeaders();
      return;
    }
    if (status !== null) return json(response, status, { code: 'test', message: 'as the test wants' });
    const { authorization } = request.headers;
    fetch(workspace.sandbox.url + request.url, {
      method: request.method,
      headers: { 'content-type': 'application/json', ...(authorization !== undefined && { authorization }) },
      ...(request.body !== '' && { body: request.body }),
    }).then(
      async (reply) => {
        response.writeHead(reply.status, { 'content-type': 'application/json' });
        response.end(await reply.text());
      },
      () => response.destroy(),
    );
  });
}
