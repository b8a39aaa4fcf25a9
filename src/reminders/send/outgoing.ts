import type { ChatChannel } from '../../config/chat-webhook.ts';
import type { Clock } from '../../ports/clock.ts';
import { postMessage } from '../chat/post-message.ts';
import type { Outgoing } from './deliver.ts';
import type { Mail, Mailer } from './mail.ts';

/** A mail without its date, which is that of the first attempt. */
export function outgoingMail(mailer: Mailer, mail: Omit<Mail, 'date'>): Outgoing {
  return {
    whose: mail.from,
    async turn(stop) {
      const turn = await mailer.turn(stop);
      return {
        send: (date, elapsed) => turn.send({ ...mail, date }, elapsed),
        [Symbol.dispose]: () => turn[Symbol.dispose](),
      };
    },
  };
}

/** A message to a chat channel. It waits for no turn: the queue of a connection's chat hands over one at a time. */
export function outgoingMessage(channel: ChatChannel, text: string, clock: Clock): Outgoing {
  return {
    whose: channel.recipient,
    turn: async () => ({
      send: (_date, elapsed) => postMessage(channel, text, { elapsed, clock }),
      [Symbol.dispose]: () => {},
    }),
  };
}
