import type { ChatChannel, ChatKind } from '../../config/chat-webhook.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { callAddress, type HttpReply } from '../../http/connection.ts';
import type { Clock } from '../../ports/clock.ts';
import { longestSendMs } from '../send/mail-limits.ts';
import { chats } from './payload.ts';
import { faultRow, type FaultTable } from '../../http/faults.ts';
import { HttpFault } from '../../http/exchange.ts';
import { parseJson } from '../../lib/foreign-text.ts';
import { never } from '../../lib/waiting.ts';
import { longestWaitMs } from '../../lib/retry-after.ts';

/** A silent server is given up after this time (ms): the outcome is then unknown. */
const callMs = 30_000;

/** Posts once. `elapsed`: ms since the attempt began, after `longestSendMs` nothing leaves any more. Throws as `callFault` says. */
export async function postMessage(
  channel: ChatChannel,
  text: string,
  { elapsed, clock }: { readonly elapsed: () => number; readonly clock: Clock },
): Promise<string> {
  const reply = await callAddress(channel.url.reveal(), {
    body: { json: chats[channel.kind].payload(text) },
    totalMs: callMs,
    // What has begun is finished: its outcome would be unknown.
    signal: never,
    clock,
    onSent() {
      // The process or the machine was suspended: others have gone on meanwhile.
      if (elapsed() > longestSendMs)
        throw new LeadsyncError('chat.unavailable', 'the message was begun too long ago', { retry: 'later' });
    },
  }).catch((error: unknown) => {
    throw callFault(channel, error);
  });
  const fault = replyFault(channel, reply);
  if (fault !== null) throw fault;
  return `posted (${reply.status})`;
}

/** The wait (ms) that a 429 without Retry-After asks for. */
const unsaidWaitMs = 30_000;

/** What the channel's name is in messages: nothing of the address but its host. */
export function channelName({ kind, host }: Pick<ChatChannel, 'kind' | 'host'>): string {
  return `${chats[kind].title} (${host})`;
}

/**
 * The fault of a reply; null: the message was taken. By the status, never by the reply's words.
 *
 * | code | retry | when |
 * |---|---|---|
 * | chat.limited | later | 429: no message before Retry-After has passed |
 * | chat.channel-gone | later | 401, 403, 404, 410, a redirect: no message can be posted until a person sets another address |
 * | chat.unavailable | later | 5xx, certainly not posted |
 * | chat.outcome-unknown | later | 504: the gateway does not know whether it was posted |
 * | chat.refused | never | any other 4xx, or `ok` or `success` is false: this message alone |
 */
export function replyFault(channel: ChatChannel, reply: HttpReply): LeadsyncError | null {
  const name = channelName(channel);
  const status = statusOf(channel.kind, reply);
  if (status < 300 && !isDenied(reply.body)) return null;
  if (status < 300) return new LeadsyncError('chat.refused', `${name} did not post the message`);
  return new LeadsyncError(...faultRow(faults, { status, name, waitMs: waitOf(reply) }));
}

const newWebhook =
  'Make a new incoming webhook for the channel, set it as reminders.webhook (REMINDER_WEBHOOK), and start the worker again';

const faults: FaultTable<{ readonly status: number; readonly name: string; readonly waitMs: number }> = {
  '3xx': ({ name, status }) => [
    'chat.channel-gone',
    `${name} answered with a redirect (${status}), which is not followed`,
    newWebhook,
    'later',
  ],
  '401 403 404 410': ({ name, status }) => [
    'chat.channel-gone',
    `${name} rejects the webhook (${status})`,
    newWebhook,
    'later',
  ],
  '429': ({ name, waitMs }) => ['chat.limited', `${name} takes no more messages for now (429)`, null, waitMs],
  '504': ({ name }) => ['chat.outcome-unknown', unknown(name, 'it answered 504'), null, 'later'],
  '408 5xx': ({ name, status }) => [
    'chat.unavailable',
    `${name} is not available (${status})`,
    null,
    'later',
  ],
  other: ({ name, status }) => ['chat.refused', `${name} refused the message (${status})`],
};

function callFault(channel: ChatChannel, error: unknown): unknown {
  if (!(error instanceof HttpFault)) return error;
  const name = channelName(channel);
  const [code, says] =
    error.kind === 'unreachable'
      ? ['chat.unavailable', `${name} cannot be reached: ${error.message}`]
      : ['chat.outcome-unknown', unknown(name, error.message)];
  return new LeadsyncError(code, says, { retry: 'later' });
}

const unknown = (name: string, why: string): string =>
  `${name} did not confirm the message, which may have been posted or not: ${why}`;

/** A connector of Teams answers 200 and has the status of what it called in its words: this is how Microsoft describes it. */
function statusOf(kind: ChatKind, { status, body }: HttpReply): number {
  const inner = kind === 'teams' && status === 200 ? /\bHTTP error (\d{3})\b/.exec(body)?.[1] : undefined;
  return inner === undefined ? status : Number(inner);
}

/** A workflow of Slack has a field for what its status does not say, and Rocket.Chat another one. */
function isDenied(body: string): boolean {
  return fieldOf(body, 'ok') === false || fieldOf(body, 'success') === false;
}

/** Retry-After, or `retry_after` of Discord's body (seconds): the longer one. */
function waitOf({ waitMs: asked, body }: HttpReply): number {
  const waitMs = Math.max(asked ?? 0, secondsIn(body) * 1_000);
  return waitMs > 0 ? Math.min(longestWaitMs, Math.ceil(waitMs)) : unsaidWaitMs;
}

function secondsIn(body: string): number {
  const seconds = fieldOf(body, 'retry_after');
  return typeof seconds === 'number' && seconds > 0 ? seconds : 0;
}

function fieldOf(body: string, name: string): unknown {
  const read = parseJson(body);
  return typeof read === 'object' && read !== null ? Reflect.get(read, name) : undefined;
}
