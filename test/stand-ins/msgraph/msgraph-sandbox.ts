import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listen } from '../../../src/demo/listen.ts';
import { type Reply, sendReply } from '../hubspot/send-reply.ts';
import { Drive, type DriveFile } from './drive.ts';
import { undocumented } from './documented.ts';
import { Entra, type RegisteredApp } from './entra.ts';
import { unauthenticated } from './graph-error.ts';
import { answer, type GraphRequest, type GraphState } from './graph-routes.ts';
import { download, upload } from './transfers.ts';

/** What happens to one request: `lose-request` before anything is done, `lose-reply` after it, or another reply. */
export type GraphIncident = 'lose-request' | 'lose-reply' | Reply;

/**
 * Microsoft Graph's files and Entra's tokens on this machine, by their documentation. What it leaves open follows what people
 * report (see `graph-error.ts`), or the assumption that is hardest on a client:
 *
 * - If-Match on content takes the eTag or the cTag; a session checks it when it is made and not at its end.
 * - A checked-out file refuses a save as an open one does: 423.
 * - SharePoint rewrites a saved workbook: `rewrites`.
 *
 * Each reply of its own is compared with `documented.ts`; its end throws for one that is not documented.
 */
export interface MsGraphSandbox extends AsyncDisposable {
  /** Root of the API, with its version. */
  readonly apiUrl: string;
  readonly loginUrl: string;
  readonly state: GraphState;
  readonly entra: Entra;
  /** Requests so far, as `GET /drives/…`. */
  readonly requests: string[];
  /** Asked before each request to the API or a short-lived address; undefined: nothing happens. */
  incident: (
    request: Pick<GraphRequest, 'method' | 'path'>,
  ) => GraphIncident | undefined | Promise<GraphIncident | undefined>;
  /** How SharePoint rewrites what was saved, after the reply; null: it does not. */
  rewrites: ((bytes: Buffer) => Buffer) | null;
  /** Whether a rewriting moves the cTag. */
  movesTag: boolean;
}

export const sampleApp: RegisteredApp = {
  tenant: 'contoso.onmicrosoft.com',
  clientId: '89ea5c94-7736-4e25-95ad-3fa95f62b66e',
  secret: { value: 'vS~8Q~stand-in.secret-value_of_an_app' },
};

export const sampleDrive = 'b!stand-in_drive';

export async function startMsGraphSandbox(
  registered: RegisteredApp = sampleApp,
  folders: readonly string[] = ['Sales'],
): Promise<MsGraphSandbox> {
  const entra = new Entra(registered);
  const waiting: DriveFile[] = [];
  const mistakes: string[] = [];
  const state: GraphState = {
    drive: new Drive(sampleDrive, folders),
    links: new Map(),
    downloads: new Map(),
    uploads: new Map(),
    grant: 'write',
    quota: Number.POSITIVE_INFINITY,
    answers409: false,
    saved: (file) => void waiting.push(file),
  };
  const rewrite = (): void => {
    for (const file of waiting.splice(0)) {
      const bytes = sandbox.rewrites?.(file.bytes);
      if (bytes === undefined) continue;
      file.bytes = bytes;
      if (sandbox.movesTag) Object.assign(file, { tag: file.tag + 1, content: file.content + 1 });
    }
  };
  const serve = async (message: IncomingMessage, response: ServerResponse): Promise<void> => {
    const request = await readRequest(message);
    const [, room = '', key = ''] = /^\/([\w.]+)\/(.*)$/.exec(request.path) ?? [];
    sandbox.requests.push(`${request.method} ${request.path}`);
    const incident = await sandbox.incident(request);
    rewrite();
    if (incident === 'lose-request') return void message.socket.destroy();
    if (incident !== undefined && incident !== 'lose-reply') return void sendReply(response, incident);
    const reply = replyTo(room, key, request);
    const isOfGraph = ['v1.0', 'upload', 'download'].includes(room) && !Buffer.isBuffer(reply);
    const mistake = isOfGraph ? undocumented(`${request.method} ${request.path}`, reply) : null;
    if (mistake !== null) mistakes.push(mistake);
    if (incident === 'lose-reply') return void message.socket.destroy();
    if (Buffer.isBuffer(reply)) response.writeHead(200, { 'content-length': reply.length }).end(reply);
    else sendReply(response, reply);
  };
  const replyTo = (room: string, key: string, request: GraphRequest): Reply | Buffer => {
    if (room === 'download') return download(state, request, key);
    if (room === 'upload') return upload(state, request, key);
    if (room !== 'v1.0') return entra.token(room, new URLSearchParams(request.body.toString()));
    const token = /^Bearer (.+)$/.exec(String(request.headers['authorization']))?.[1] ?? '';
    if (!entra.isValid(token)) return unauthenticated();
    return answer(state, { ...request, path: `/${key}` });
  };
  const server = createServer((message, response) => {
    serve(message, response).catch(() => response.destroy());
  });
  const port = await listen(server, 0);
  const sandbox: MsGraphSandbox = {
    apiUrl: `http://127.0.0.1:${port}/v1.0`,
    loginUrl: `http://127.0.0.1:${port}`,
    state,
    entra,
    requests: [],
    incident: () => undefined,
    rewrites: null,
    movesTag: true,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      if (mistakes.length > 0)
        throw new Error(`replies that Microsoft does not document: ${mistakes.join('; ')}`);
    },
  };
  return sandbox;
}

async function readRequest(message: IncomingMessage): Promise<GraphRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) if (chunk instanceof Buffer) chunks.push(chunk);
  const origin = `http://${message.headers.host ?? ''}`;
  const url = new URL(message.url ?? '', origin);
  return {
    method: message.method ?? '',
    path: url.pathname.split('/').map(decodeURIComponent).join('/'),
    query: url.searchParams,
    headers: message.headers,
    body: Buffer.concat(chunks),
    origin,
  };
}
