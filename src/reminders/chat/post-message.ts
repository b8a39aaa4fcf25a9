import type { ChatChannel } from '../../config/chat-webhook.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { callAddress } from '../../http/connection.ts';
import type { Clock } from '../../ports/clock.ts';
import { longestSendMs } from '../send/mail-limits.ts';
import { callFault, replyFault } from './chat-error.ts';
import { chatPayload } from './payload.ts';

/** A silent server is given up after this time (ms): the outcome is then unknown. */
const callMs = 30_000;

/** Posts once. `elapsed`: ms since the attempt began, after `longestSendMs` nothing leaves any more. Throws as chat-error.ts says. */
export async function postMessage(
  channel: ChatChannel,
  text: string,
  { elapsed, clock }: { readonly elapsed: () => number; readonly clock: Clock },
): Promise<string> {
  const reply = await callAddress(channel.url.reveal(), {
    json: chatPayload(channel.kind, text),
    totalMs: callMs,
    // What has begun is finished: its outcome would be unknown.
    signal: new AbortController().signal,
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
