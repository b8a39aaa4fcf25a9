import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Secret } from '../../config/secret.ts';
import { needsUtf8 } from '../../core/lead/email-address.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { Redactor } from '../../lib/redact.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { Semaphore } from '../../lib/waiting.ts';
import { mailError } from './mail-error.ts';
import {
  connectMs as usualConnectMs,
  longestSendMs,
  silenceMs as usualSilenceMs,
  stopwatch,
} from './mail-limits.ts';
import { addressIn, buildMessage, keyHash, type Mail } from '../compose/message.ts';

export type { Mail };

/** Sends mails, or writes them as files. Throws LeadsyncError with the codes of mail-error.ts. */
export interface Mailer extends AsyncDisposable {
  /** Waits for its turn and sends once, without a retry; returns where the mail went: the server's reply, or a path. */
  send(mail: Mail): Promise<string>;
  /** Waits for a turn; no mail is begun before. Rejects with the reason of `signal` when aborted. */
  turn(signal: AbortSignal): Promise<MailTurn>;
  /** Connects and logs in without sending; throws as `send` does. */
  verify(): Promise<void>;
}

interface MailTurn extends Disposable {
  /** `elapsed`: ms since its start. After `longestSendMs` nothing of the mail leaves any more: waiting that long is proof of its end. */
  send(mail: Mail, elapsed: () => number): Promise<string>;
}

export interface MailLimits {
  /** See mail-limits.ts; other values are for tests. */
  readonly connectMs?: number;
  readonly silenceMs?: number;
  readonly longestMs?: number;
}

/**
 * Sends through SMTP when `smtpUrl` is set, otherwise writes `.eml` files to `outbox`. No retries: the queue does that.
 *
 * STARTTLS is required, except for servers on this machine (not used there) and by URL: `?requireTLS=false` makes it
 * optional, `?ignoreTLS=true` turns it off. The URL may also set nodemailer's `maxConnections`, `maxMessages`, `name`,
 * `authMethod` and `tls.…`.
 */
export function createMailer(smtpUrl: Secret | undefined, outbox: string, limits: MailLimits = {}): Mailer {
  return smtpUrl === undefined ? fileMailer(outbox) : smtpMailer(smtpUrl, limits);
}

/** Office 365's limit per sender. */
const usualConnections = 3;

const utf8Help = 'Choose a mail server that knows SMTPUTF8, or an address with plain letters before the @';

/** nodemailer's options with a body that is read only after the server's 354 to DATA. */
interface Watched extends SendMailOptions {
  readonly body: (stream: Readable) => Readable;
}

function smtpMailer(
  smtpUrl: Secret,
  { connectMs = usualConnectMs, silenceMs = usualSilenceMs, longestMs = longestSendMs }: MailLimits,
): Mailer {
  const connectionsOf = (url: URL): number =>
    Number(url.searchParams.get('maxConnections')) || usualConnections;
  const openTransport = (url: URL) => {
    const transport = createTransport({
      url: withoutOurs(url),
      ...encryption(url),
      maxConnections: connectionsOf(url),
      pool: true,
      // The pool would resend when a connection closes, even after the server accepted the mail.
      maxRequeues: 0,
      // Shorter than any server's idle limit, so that no mail starts on a closing connection.
      idleTimeout: 20_000,
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      socketTimeout: silenceMs,
      disableFileAccess: true,
      disableUrlAccess: true,
      // A transcript would contain the password.
      logger: false,
      debug: false,
    });
    transport.use('stream', (mail, done) => {
      mail.message.processFunc((mail.data as Watched).body);
      done();
    });
    const redactor = new Redactor([url.password, decodeURIComponent(url.password)]);
    return { href: url.href, transport, redactor };
  };
  let current = openTransport(new URL(smtpUrl.reveal()));
  const turns = new Semaphore(connectionsOf(new URL(current.href)));
  /** Another one when the password is another: nodemailer keeps what it was made with. Mails under way end on the old one. */
  const opened = () => {
    const url = new URL(smtpUrl.reveal());
    if (url.href === current.href) return current;
    current.transport.close();
    return (current = openTransport(url));
  };
  /** Whether the server has said what it knows, and SMTPUTF8 is not among it: nodemailer would send the address all the same. */
  const lacksUtf8 = ({ transport }: typeof current): boolean => {
    const { _connections: open = [] } = transport.transporter as unknown as Connections;
    const known = open.flatMap(({ connection }) => (connection || {})._supportedExtensions ?? []);
    return known.length > 0 && !known.includes('SMTPUTF8');
  };
  const attempt = async (mail: Mail, elapsed: () => number, isSecond: boolean): Promise<string> => {
    const used = opened();
    let begun = false;
    let isLacking = false;
    const isUtf8 = [addressIn(mail.from), mail.to].some(needsUtf8);
    /** Nothing reads the stream before the server's 354. Detects that the process or machine was suspended: others have gone on. */
    const watch = (stream: Readable): Readable =>
      stream.on('newListener', (event: string) => {
        if (event !== 'data' || begun) return;
        isLacking = isUtf8 && lacksUtf8(used);
        if (isLacking) stream.destroy(new Error('the mail server does not know SMTPUTF8'));
        else if (elapsed() > longestMs) stream.destroy(new Error('the mail was begun too long ago'));
        else begun = true;
      });
    const watched: Watched = {
      ...buildMessage(mail),
      body: watch,
      signal: AbortSignal.timeout(Math.max(0, Math.ceil(longestMs - elapsed()))),
    };
    try {
      const info = await used.transport.sendMail(watched);
      return info.response;
    } catch (error) {
      // A kept connection may be closed: nothing of this mail has left, so another is tried.
      if (!begun && !isSecond && isClosed(error)) return attempt(mail, elapsed, true);
      if (isLacking) {
        const whose = needsUtf8(addressIn(mail.from)) ? 'sender' : 'recipient';
        throw new LeadsyncError(
          whose === 'sender' ? 'mail.sender-refused' : 'mail.refused',
          `the mail server takes no address with letters beyond a to z before the @, as the ${whose} has; nothing was sent`,
          { retry: whose === 'sender' ? 'later' : 'never', help: utf8Help },
        );
      }
      throw mailError(error, begun, used.redactor);
    }
  };
  const takeTurn = async (signal?: AbortSignal): Promise<MailTurn> => {
    const turn = await turns.acquire(signal);
    return {
      send: (mail, elapsed) => attempt(mail, elapsed, false),
      [Symbol.dispose]: () => turn[Symbol.dispose](),
    };
  };
  return {
    turn: takeTurn,
    async send(mail) {
      using turn = await takeTurn();
      return await turn.send(mail, stopwatch());
    },
    async verify() {
      const { transport, redactor } = opened();
      try {
        await transport.verify();
      } catch (error) {
        throw mailError(error, false, redactor);
      }
    },
    async [Symbol.asyncDispose]() {
      current.transport.close();
    },
  };
}

/** Of nodemailer's pool, which tells an extension only after a mail was sent. */
interface Connections {
  readonly _connections?: readonly {
    readonly connection?: Partial<Record<'_supportedExtensions', readonly string[]>> | false;
  }[];
}

function isClosed(error: unknown): boolean {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  return code === 'ECONNECTION' && responseCode === undefined;
}

/** Forbidden in the URL: nodemailer lets its query override every option. */
const notInUrl = [
  'pool',
  'maxRequeues',
  'maxConnections',
  'rateLimit',
  'rateDelta',
  'logger',
  'debug',
  'transactionLog',
  'disableFileAccess',
  'disableUrlAccess',
];

function withoutOurs(url: URL): string {
  const rest = new URL(url);
  for (const name of notInUrl) rest.searchParams.delete(name);
  return rest.href;
}

function encryption(url: URL): object {
  if (url.protocol !== 'smtp:' || url.searchParams.has('requireTLS') || url.searchParams.has('ignoreTLS'))
    return {};
  return isLoopback(url.hostname.replaceAll(/[[\]]/g, '')) ? { ignoreTLS: true } : { requireTLS: true };
}

/** Readable only by the process's user: the outbox contains customer data. */
function fileMailer(outbox: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  const send = async (mail: Mail): Promise<string> => {
    const info = await transport.sendMail(buildMessage(mail));
    const file = join(outbox, `${keyHash(mail.key)}.eml`);
    const unfinished = `${file}.${randomUUID()}.tmp`;
    await mkdir(outbox, { recursive: true, mode: 0o700 });
    await writeFile(unfinished, info.message as Buffer, { mode: 0o600 });
    await rename(unfinished, file);
    return file;
  };
  return {
    send,
    turn: async () => ({ send, [Symbol.dispose]: () => {} }),
    async verify() {
      await mkdir(outbox, { recursive: true, mode: 0o700 });
    },
    async [Symbol.asyncDispose]() {
      transport.close();
    },
  };
}
