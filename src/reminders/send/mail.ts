import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Secret } from '../../config/secret.ts';
import { certificateCodes, LeadsyncError, faultText, withoutStop } from '../../lib/errors.ts';
import { needsUtf8 } from '../../core/lead/email-address.ts';
import { Redactor } from '../../lib/redact.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { Semaphore } from '../../lib/waiting.ts';
import {
  connectMs as usualConnectMs,
  longestSendMs,
  silenceMs as usualSilenceMs,
  stopwatch,
} from './mail-limits.ts';
import { addressIn, buildMessage, keyHash, type Mail } from '../compose/message.ts';

export type { Mail };

/** Sends mails, or writes them as files. Throws LeadsyncError with the codes of `mailError`. */
export interface Mailer extends AsyncDisposable {
  /**
   * Sends once, without a retry; returns where the mail went: the server's reply, or a path. `elapsed`: ms since the start of a turn that the
   * caller has; after `longestSendMs` nothing of the mail leaves any more: waiting that long is proof of its end. Absent: it waits for a turn.
   */
  send(mail: Mail, elapsed?: () => number): Promise<string>;
  /** Waits for a turn; no mail is begun before. Rejects with the reason of `signal` when aborted. */
  turn(signal: AbortSignal): Promise<Disposable>;
  /** Connects and logs in without sending; throws as `send` does. */
  verify(): Promise<void>;
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
  return {
    turn: (signal) => turns.acquire(signal),
    async send(mail, elapsed) {
      if (elapsed !== undefined) return attempt(mail, elapsed, false);
      using _turn = await turns.acquire();
      return await attempt(mail, stopwatch(), false);
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
  const write = async (mail: Mail): Promise<string> => {
    const info = await transport.sendMail(buildMessage(mail));
    const file = join(outbox, `${keyHash(mail.key)}.eml`);
    const unfinished = `${file}.${randomUUID()}.tmp`;
    await mkdir(outbox, { recursive: true, mode: 0o700 });
    await writeFile(unfinished, info.message as Buffer, { mode: 0o600 });
    await rename(unfinished, file);
    return file;
  };
  return {
    send: write,
    turn: async () => ({ [Symbol.dispose]() {} }),
    async verify() {
      await mkdir(outbox, { recursive: true, mode: 0o700 });
    },
    async [Symbol.asyncDispose]() {
      transport.close();
    },
  };
}

interface Fault {
  /** Its own class, such as `EAUTH`, `EDNS`, `ETLS`. */
  readonly code: string;
  /** The code of the system or of TLS below it, such as `ECONNREFUSED` or `CERT_HAS_EXPIRED`; may be empty. */
  readonly originalCode: string;
  /** The reply's number, 400 to 599; null: no reply. */
  readonly reply: number | null;
  /** The reply's enhanced status (RFC 3463), such as `5.7.1`; may be empty. */
  readonly status: string;
  /** The failed command: `CONN`, `AUTH PLAIN`, `MAIL FROM`, `RCPT TO`, `DATA`. */
  readonly command: string;
}

/**
 * The fault of a mailer, by nodemailer's `code`, the reply's number and its enhanced status, never by its words.
 *
 * | code | retry | when |
 * |---|---|---|
 * | mail.refused | never | 5xx for this recipient or this mail |
 * | mail.deferred | later | 4xx for this recipient or this mail: greylisting, a full mailbox |
 * | mail.unavailable | later | no server, no TLS, 421, any fault before the first byte of the mail: certainly not sent |
 * | mail.outcome-unknown | later | the connection ended or went silent after the first byte of the mail had left |
 * | mail.credentials | later | user or password are wrong or missing: no mail can be sent |
 * | mail.sender-refused | later | the server does not serve us, or not this sender: no mail of it can be sent |
 * | mail.policy-refused | later | 5.7.x for this recipient: it may concern the recipient alone, or all mails of ours |
 *
 * `begun`: whether a byte of the mail itself has left. What `redactor` knows is removed from the server's words.
 */
export function mailError(error: unknown, begun: boolean, redactor: Redactor): LeadsyncError {
  const said = faultText(error);
  const words = withoutStop(shortened(redactor.text(said)));
  const [code, what, help] = meaningOf(faultOf(error), begun);
  const retry = code === 'mail.refused' ? 'never' : 'later';
  return new LeadsyncError(code, `${what}: ${words}`, { retry, ...(help !== undefined && { help }) });
}

/** Of a certificate by an authority that Node does not know. */
const authorityHelp =
  'Set NODE_EXTRA_CA_CERTS to the path of a file (PEM) with the certificate of the authority, and start again';

const certificateHelp: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'Renew the certificate of the mail server',
  CERT_NOT_YET_VALID: 'Check the clocks of this machine and of the mail server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'Set the host in SMTP_URL to a name that the certificate is made for',
};

type Meaning = readonly [code: string, what: string, help?: string];

function meaningOf(fault: Fault, begun: boolean): Meaning {
  const { reply, code, command } = fault;
  const unavailable: Meaning = ['mail.unavailable', 'the mail could not be sent'];
  if (reply === null && begun)
    return [
      'mail.outcome-unknown',
      'the connection ended before the mail server confirmed the mail, which may have arrived or not',
    ];
  if (isCredentials(fault))
    return [
      'mail.credentials',
      'the mail server rejected the login',
      'Set user and password in SMTP_URL: smtp://user:password@host:587, special characters as %40 and the like',
    ];
  const help = certificateHelp[fault.originalCode];
  if (help !== undefined || certificateCodes.has(fault.originalCode))
    return [
      'mail.unavailable',
      'the certificate of the mail server cannot be trusted',
      help ?? authorityHelp,
    ];
  if (code === 'ETLS')
    return [
      'mail.unavailable',
      'no encrypted connection to the mail server',
      'For a server without STARTTLS add ?requireTLS=false to SMTP_URL; for one with a private CA set NODE_EXTRA_CA_CERTS',
    ];
  if (reply === null) return isOurs(code) ? ['mail.refused', 'the mail cannot be sent'] : unavailable;
  if (reply === 421) return unavailable;
  if (reply < 500)
    return ['MAIL FROM', 'RCPT TO', 'DATA'].includes(command)
      ? ['mail.deferred', 'the mail server does not accept the mail yet']
      : unavailable;
  if (isPolicy(fault))
    return [
      'mail.policy-refused',
      'the mail server refused the recipient by policy',
      'Check that this server may send mail for the sender (reminders.from) to this recipient',
    ];
  if (isSender(fault))
    return [
      'mail.sender-refused',
      'the mail server does not send mails for this sender',
      'Check that this server may send mail for the sender (reminders.from), with the user of SMTP_URL',
    ];
  return ['mail.refused', 'the mail server refused the mail'];
}

function faultOf(error: unknown): Fault {
  const { code, originalCode, responseCode, response, command } = (error ?? {}) as Readonly<
    Record<string, unknown>
  >;
  const said = typeof response === 'string' ? response : '';
  return {
    code: typeof code === 'string' ? code : '',
    originalCode: typeof originalCode === 'string' ? originalCode : '',
    reply: typeof responseCode === 'number' && responseCode >= 400 ? responseCode : null,
    status: /^\d{3}[ -]([45]\.\d{1,3}\.\d{1,3})\b/.exec(said)?.[1] ?? '',
    command: typeof command === 'string' ? command : '',
  };
}

/** 530 and 535: RFC 4954, section 6. A 4xx reply to AUTH is a fault of the server. */
function isCredentials({ code, reply, status }: Fault): boolean {
  if (reply === 421 || (reply !== null && reply < 500)) return false;
  return ['EAUTH', 'ENOAUTH'].includes(code) || [530, 534, 535].includes(reply ?? 0) || status === '5.7.8';
}

/** Faults of the mail or of our settings, which retries cannot fix. */
function isOurs(code: string): boolean {
  return ['EENVELOPE', 'EMESSAGE', 'EFILEACCESS', 'EURLACCESS', 'EMAXRECIPIENTS'].includes(code);
}

/** About permissions: policy at RCPT TO, and after DATA the sender checks (5.7.20 and above, RFC 7372). 5.7.0 is about the login. */
function isPolicy({ command, status }: Fault): boolean {
  const policy = Number(/^5\.7\.(\d+)$/.exec(status)?.[1] ?? 0);
  return command === 'DATA' ? policy >= 20 : command === 'RCPT TO' && policy > 0;
}

/** Whether a 5xx is about us: before any recipient, except a mail that is too large (x.3.4). */
function isSender({ command, status }: Fault): boolean {
  if (command === 'DATA') return false;
  if (command === 'RCPT TO') return status === '5.7.0';
  return !(command === 'MAIL FROM' && status === '5.3.4');
}

function shortened(words: string): string {
  return words
    .slice(0, 1000)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .slice(0, 500)
    .trim();
}
