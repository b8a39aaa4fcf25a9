import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import type { WorkerApp } from '../../src/worker/open-worker.ts';
import { type HttpServer, startHttpServer } from '../../src/ops/http.ts';
import { Workspace, type WorkspaceOptions } from './workspace.ts';

export const adminToken = 'open-sesame-for-tests';

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as a form's fields, with the headers of a browser on one of our pages. */
  readonly form?: Readonly<Record<string, string | readonly string[]>>;
  /** Of the connection; any of this machine. */
  readonly localAddress?: string;
}

/** A workspace, its app, and the worker's HTTP port, in this process. */
export interface StatusSite extends AsyncDisposable {
  readonly workspace: Workspace;
  readonly app: WorkerApp;
  readonly server: HttpServer;
  /** One request, exactly so, with no redirect followed. */
  ask(path: string, asked?: Asked): Promise<Reply>;
}

export async function openStatusSite(options: WorkspaceOptions = {}): Promise<StatusSite> {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(await Workspace.open(options));
  const app = stack.use(await workspace.openApp());
  const server = stack.use(await startHttpServer(app));
  const owned = stack.move();
  return {
    workspace,
    app,
    server,
    ask: (path, asked) => askOnce(server.port, path, asked),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** One request to a port of this machine. */
export async function askOnce(
  port: number,
  path: string,
  { method, headers = {}, form, localAddress }: Asked = {},
): Promise<Reply> {
  const fields = Object.entries(form ?? {}).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );
  const body = form === undefined ? undefined : new URLSearchParams(fields).toString();
  const asForm = {
    'content-type': 'application/x-www-form-urlencoded',
    origin: `http://127.0.0.1:${port}`,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      host: '127.0.0.1',
      port,
      path,
      method: method ?? (form === undefined ? 'GET' : 'POST'),
      headers: { ...(form === undefined ? {} : asForm), ...headers },
      agent: false,
      localAddress,
    });
    request.once('error', reject);
    request.once('response', (response) => {
      text(response).then(
        (said) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: said }),
        reject,
      );
    });
    request.end(body);
  });
}

/** Logs in and gives the cookie as a browser sends it. */
export async function logIn(site: Pick<StatusSite, 'ask'>): Promise<{ cookie: string }> {
  const reply = await site.ask('/login', { form: { token: adminToken, next: '/' } });
  const [cookie = ''] = (reply.headers['set-cookie'] ?? []) as readonly string[];
  if (reply.status !== 303) throw new Error(`not logged in: ${reply.status} ${reply.body}`);
  return { cookie: cookie.split(';')[0] ?? '' };
}
