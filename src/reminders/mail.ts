import { randomUUID } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createTransport, type SendMailOptions } from 'nodemailer';
import type { Secret } from '../config/secret.ts';
import { mailError } from './mail-error.ts';
import { buildMessage, keyHash, type Mail } from './message.ts';

export type { Mail };

/** Sends mails, or writes them as files. Faults are LeadsyncErrors with the codes of mail-error.ts. */
export interface Mailer extends AsyncDisposable {
  /** Sends once, without a retry; returns where the mail went, for people: the server's reply, or a path. */
  send(mail: Mail): Promise<string>;
  /** Connects and logs in without sending; throws as `send` does. */
  verify(): Promise<void>;
}

export interface MailLimits {
  /** Mails a second; absent: as fast as the server takes them. */
  readonly rate?: number;
  /** Ms for a connection and the server's greeting. */
  readonly connectMs?: number;
  /** Ms without a word from the server. A short time makes unknown outcomes: RFC 5321, 4.5.3.2.6 grants it ten minutes. */
  readonly silenceMs?: number;
}

/**
 * Mails through SMTP when `smtpUrl` is set, otherwise as `.eml` files in `outbox`. Nothing is retried here: the queue
 * does that.
 *
 * STARTTLS is required, except for a server on this machine (then it is not used), and unless the URL says otherwise:
 * `?requireTLS=false` encrypts when the server offers it, `?ignoreTLS=true` never. The URL may also set nodemailer's
 * `maxConnections`, `maxMessages`, `name`, `authMethod` and `tls.…`.
 */
export function createMailer(smtpUrl: Secret | undefined, outbox: string, limits: MailLimits = {}): Mailer {
  return smtpUrl === undefined ? fileMailer(outbox) : smtpMailer(new URL(smtpUrl.reveal()), limits);
}

/** As many as Office 365 lets one sender have. */
const maxConnections = 3;

/** What a mail is given on its way: the moment its stream is made. */
interface Watched extends SendMailOptions {
  readonly watch: (stream: Readable) => void;
}

function smtpMailer(url: URL, { rate, connectMs = 20_000, silenceMs = 120_000 }: MailLimits): Mailer {
  const transport = createTransport({
    url: withoutOurs(url),
    ...encryption(url),
    ...speed(rate),
    pool: true,
    // The pool would send a mail again by itself when a connection closes, even after the server took it.
    maxRequeues: 0,
    // Shorter than any server's own patience, so that no mail is begun on a connection that is about to be closed.
    idleTimeout: 20_000,
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    // A transcript would show the password.
    logger: false,
    debug: false,
  });
  // The stream is read from when the server has said 354 to DATA: what nodemailer itself decides by.
  transport.use('stream', (mail, done) => {
    mail.message.processFunc((stream) => {
      (mail.data as Watched).watch(stream);
      return stream;
    });
    done();
  });
  const secrets = secretsOf(url);
  const attempt = async (mail: Mail, isSecond: boolean): Promise<string> => {
    let stream: Readable | undefined;
    const watched: Watched = {
      ...buildMessage(mail),
      watch: (made) => {
        stream = made;
      },
    };
    try {
      const info = await transport.sendMail(watched);
      return info.response;
    } catch (error) {
      const begun = stream?.readableDidRead === true;
      // A connection kept from an earlier mail may be gone: nothing of this one has left, so another is tried.
      if (!begun && !isSecond && isClosed(error)) return attempt(mail, true);
      throw mailError(error, begun, secrets);
    }
  };
  return {
    send: (mail) => attempt(mail, false),
    async verify() {
      try {
        await transport.verify();
      } catch (error) {
        throw mailError(error, false, secrets);
      }
    },
    async [Symbol.asyncDispose]() {
      transport.close();
    },
  };
}

function isClosed(error: unknown): boolean {
  const { code, responseCode } = error as { readonly code?: unknown; readonly responseCode?: unknown };
  return code === 'ECONNECTION' && responseCode === undefined;
}

/** What the URL may not say: nodemailer lets its query win over every option. */
const notInUrl = [
  'pool',
  'maxRequeues',
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

/** So many mails at once, and in so many ms: the pool counts when a mail has left, so each connection sends one unasked. */
function speed(rate: number | undefined): object {
  if (rate === undefined) return { maxConnections };
  const rateLimit = Math.max(1, Math.floor(rate));
  return {
    maxConnections: Math.min(maxConnections, rateLimit),
    rateLimit,
    rateDelta: Math.ceil((1000 * rateLimit) / rate),
  };
}

function encryption(url: URL): object {
  if (url.protocol !== 'smtp:' || url.searchParams.has('requireTLS') || url.searchParams.has('ignoreTLS'))
    return {};
  return isLoopback(url.hostname) ? { ignoreTLS: true } : { requireTLS: true };
}

function isLoopback(host: string): boolean {
  return ['localhost', '[::1]'].includes(host.toLowerCase()) || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** The password in each form in which it goes over the line (RFC 4616; LOGIN), longest first. */
function secretsOf(url: URL): readonly string[] {
  const user = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  if (password === '') return [];
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return [base64(`\0${user}\0${password}`), base64(password), url.password, password];
}

/** Only the user of the process reads the outbox: there are customers in it. */
function fileMailer(outbox: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(mail) {
      const info = await transport.sendMail(buildMessage(mail));
      const file = join(outbox, `${keyHash(mail.key)}.eml`);
      const unfinished = `${file}.${randomUUID()}.tmp`;
      await mkdir(outbox, { recursive: true, mode: 0o700 });
      await writeFile(unfinished, info.message as Buffer, { mode: 0o600 });
      await rename(unfinished, file);
      return file;
    },
    async verify() {
      await mkdir(outbox, { recursive: true, mode: 0o700 });
    },
    async [Symbol.asyncDispose]() {
      transport.close();
    },
  };
}
