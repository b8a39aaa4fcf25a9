import { type AddressInfo, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

interface ArrivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
}

export interface MailServerOptions extends SMTPServerOptions {
  /** What becomes of a mail that is here whole: kept (null), refused, or the connection ends without a word. */
  readonly taken?: (mail: ArrivedMail) => Error | 'drop' | null;
  /** Default: any that is free. */
  readonly port?: number;
}

/** A real mail server that keeps what arrives whole. Options may defer, refuse, ask for a password. */
export async function startMailServer({ taken, port = 0, ...options }: MailServerOptions = {}) {
  const mails: ArrivedMail[] = [];
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, callback) {
      text(stream).then((source) => {
        const { mailFrom, rcptTo } = session.envelope;
        const mail = {
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          source,
        };
        mails.push(mail);
        const answer = taken?.(mail) ?? null;
        if (answer !== 'drop') return callback(answer);
        for (const connection of server.connections) {
          if (connection.id === session.id) connection._socket.destroy();
        }
      }, callback);
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    mails,
    port: (server.server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

/** A server's own error, as smtp-server sends it. */
export function refusal(responseCode: number, words: string): Error {
  return Object.assign(new Error(words), { responseCode });
}

/** A port at which nobody listens. */
export async function freePort(): Promise<number> {
  await using server = await startMailServer();
  return server.port;
}

/** What a raw server does with a line of the client: the reply, or `drop` (ends the connection), or `silence`. */
type Reply = string;

/** Replies by the first four letters of the command; `greeting` and `message` (after the final dot) are two more. */
export type Script = Partial<
  Record<'greeting' | 'EHLO' | 'STAR' | 'MAIL' | 'RCPT' | 'DATA' | 'message' | 'AUTH', Reply>
>;

const usual = {
  greeting: '220 raw ESMTP',
  EHLO: '250 raw',
  MAIL: '250 2.1.0 ok',
  RCPT: '250 2.1.5 ok',
  DATA: '354 go on',
  message: '250 2.0.0 queued',
  AUTH: '235 2.7.0 ok',
};

/** A server with scripted replies, for what no real server can be made to say. Counts the messages it took whole. */
export async function startRawServer(script: Script) {
  const replies: Record<string, Reply> = { ...usual, ...script };
  const sockets = new Set<Socket>();
  const taken: string[] = [];
  const commands: string[] = [];
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    const answer = (what: string): void => {
      const reply = replies[what] ?? '250 ok';
      if (reply === 'drop') socket.destroy();
      else if (reply !== 'silence') socket.write(`${reply}\r\n`);
    };
    let buffered = '';
    let inMessage = false;
    socket.on('data', (chunk) => {
      buffered += chunk.toString();
      for (;;) {
        const end = inMessage ? '\r\n.\r\n' : '\r\n';
        const at = buffered.indexOf(end);
        if (at < 0) return;
        const line = buffered.slice(0, at);
        buffered = buffered.slice(at + end.length);
        if (inMessage) {
          inMessage = false;
          taken.push(line);
          answer('message');
          continue;
        }
        const command = line.slice(0, 4).toUpperCase();
        commands.push(command);
        inMessage = command === 'DATA' && (replies['DATA'] ?? '').startsWith('354');
        answer(command);
      }
    });
    answer('greeting');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    taken,
    /** The first four letters of each. */
    commands,
    connections: () => connections,
    /** Says something else from now on. */
    answer: (what: keyof Script, reply: Reply) => {
      replies[what] = reply;
    },
    /** Ends every connection from the server's side, as after an idle time. */
    dropAll: () => {
      for (const socket of sockets) socket.end();
    },
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
