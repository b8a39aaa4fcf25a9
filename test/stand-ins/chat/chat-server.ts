import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ChatKind, chatKinds } from '../../../src/config/chat-webhook.ts';
import { payloadFault } from './payload-fault.ts';

/** What becomes of a message: taken, or a vendor's fault. `cut`: taken, and the connection breaks before the reply. */
export type ChatFault =
  | 'cut'
  | 'silence'
  | 'redirect'
  | 'limited'
  | 'gone'
  | 'archived'
  | 'forbidden'
  | 500
  | 504;

/** A message that a channel shows. */
export interface Posted {
  readonly kind: ChatKind;
  readonly path: string;
  readonly at: number;
  readonly payload: object;
  /** What people read, escapes as they were sent. */
  readonly text: string;
}

/** What the path of each kind begins with. */
const roots: Readonly<Record<ChatKind, string>> = {
  slack: '/services/',
  teams: '/webhookb2/',
  discord: '/api/webhooks/1/',
};

/** How many seconds a limited channel asks for. */
export const limitSeconds = 2;

/** The body and header of each vendor's 429. */
function limited(kind: ChatKind, response: ServerResponse): void {
  if (kind === 'discord') {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '1' });
    response.end(
      JSON.stringify({ message: 'You are being rate limited.', retry_after: limitSeconds, global: false }),
    );
  } else if (kind === 'slack') {
    response.writeHead(429, { 'retry-after': String(limitSeconds) }).end('rate_limited');
  } else {
    const words =
      'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429 with ContextId tcid=0.';
    response.writeHead(200, { 'retry-after': String(limitSeconds) }).end(words);
  }
}

const gone: Readonly<Record<ChatKind, readonly [number, string]>> = {
  slack: [404, 'no_service'],
  discord: [404, JSON.stringify({ message: 'Unknown Webhook', code: 10_015 })],
  teams: [401, JSON.stringify({ error: { code: 'DirectApiAuthorizationRequired' } })],
};

const accepted: Readonly<Record<ChatKind, readonly [number, string]>> = {
  slack: [200, 'ok'],
  discord: [204, ''],
  teams: [202, ''],
};

/**
 * A server with the incoming webhooks of Slack, Discord and Teams, under /slack/…, /discord/… and /teams/…. It takes what the
 * vendors take and answers in their words; `fault` decides about each message that is right.
 */
export async function startChatServer(
  fault: (posted: Posted, count: number) => ChatFault | null = () => null,
) {
  const posted: Posted[] = [];
  /** Every request's path, also of what was not taken. */
  const requests: { readonly url: string; readonly at: number }[] = [];
  const refused: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = request.url ?? '';
    requests.push({ url, at: Date.now() });
    const kind = chatKinds.find((one) => url.startsWith(roots[one]));
    const body = await text(request);
    if (kind === undefined || request.method !== 'POST') return void response.writeHead(404).end();
    const mistake = payloadFault(kind, request.headers['content-type'], body);
    if (mistake !== null) {
      refused.push(mistake.why);
      return void response.writeHead(mistake.status).end(mistake.body);
    }
    const payload = JSON.parse(body) as object;
    const message = { kind, path: url, at: Date.now(), payload, text: textOf(kind, payload) };
    const what = fault(message, requests.length);
    if (what === 'silence') return;
    if (what === 'limited') return limited(kind, response);
    if (what === 'redirect') return void response.writeHead(302, { location: '/elsewhere' }).end();
    if (what === 'archived') return void response.writeHead(410).end('channel_is_archived');
    if (what === 'forbidden') return void response.writeHead(403).end('action_prohibited');
    if (what === 'gone') return void response.writeHead(gone[kind][0]).end(gone[kind][1]);
    if (typeof what === 'number') return void response.writeHead(what).end('rollup_error');
    posted.push(message);
    if (what === 'cut') return void request.socket.destroy();
    response.writeHead(accepted[kind][0]).end(accepted[kind][1]);
  };
  const server = createServer(
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    posted,
    requests,
    /** Why payloads were refused; a sender that is right has none. */
    refused,
    url: (kind: ChatKind, key = 'T0-B0-geheim') => `http://127.0.0.1:${port}${roots[kind]}${key}`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function textOf(kind: ChatKind, payload: object): string {
  if (kind === 'slack') return String(Reflect.get(payload, 'text'));
  if (kind === 'discord') return String(Reflect.get(payload, 'content'));
  const { attachments } = payload as {
    readonly attachments: readonly {
      readonly content: { readonly body: readonly { readonly text: string }[] };
    }[];
  };
  return attachments.flatMap(({ content }) => content.body.map((block) => block.text)).join('\n');
}
