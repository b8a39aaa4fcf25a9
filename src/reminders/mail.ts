import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { Secret } from '../config/secret.ts';
import { LeadsyncError } from '../errors.ts';

/** A mail of plain text to one recipient. `key` names what it is about: the same key gives the same Message-ID. */
interface Mail {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Sends mails, or writes them as files. Returns where the mail went, for people. */
export interface Mailer extends AsyncDisposable {
  send(mail: Mail): Promise<string>;
  /** Connects and logs in without sending; throws as `send` does. */
  verify(): Promise<void>;
}

/**
 * Mails through SMTP when `smtpUrl` is set, otherwise as `.eml` files in `outbox`. Nothing is retried here: the queue
 * does that. STARTTLS is required unless the server is on this machine.
 *
 * Throws `mail.refused` (5xx; retry never), `mail.unavailable` (4xx and connection faults) and `mail.credentials` (both
 * retry later: no mail is lost for a password that is mended).
 */
export function createMailer(smtpUrl: Secret | undefined, outbox: string): Mailer {
  if (smtpUrl === undefined) return fileMailer(outbox);
  const url = new URL(smtpUrl.reveal());
  const loopback = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  const transport = createTransport({
    url: url.href,
    requireTLS: url.protocol === 'smtp:' && !loopback,
    ignoreTLS: url.protocol === 'smtp:' && loopback,
    disableFileAccess: true,
    disableUrlAccess: true,
    connectionTimeout: 20_000,
    greetingTimeout: 20_000,
    socketTimeout: 120_000,
  });
  return {
    async send(mail) {
      try {
        const info = await transport.sendMail(compose(mail));
        return info.response;
      } catch (error) {
        throw mailError(error);
      }
    },
    async verify() {
      await transport.verify().catch((error: unknown) => {
        throw mailError(error);
      });
    },
    async [Symbol.asyncDispose]() {
      transport.close();
    },
  };
}

function fileMailer(outbox: string): Mailer {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    async send(mail) {
      const info = await transport.sendMail(compose(mail));
      const file = join(outbox, `${messageHash(mail.key)}.eml`);
      await mkdir(outbox, { recursive: true });
      await writeFile(`${file}.tmp`, info.message as Buffer);
      await rename(`${file}.tmp`, file);
      return file;
    },
    async verify() {
      await mkdir(outbox, { recursive: true });
    },
    async [Symbol.asyncDispose]() {
      transport.close();
    },
  };
}

function compose(mail: Mail) {
  return {
    from: mail.from,
    // As an object: a string may name several recipients.
    to: { name: '', address: mail.to },
    envelope: { from: addressOf(mail.from), to: mail.to },
    subject: mail.subject,
    text: mail.text,
    messageId: `<${messageHash(mail.key)}@leadsync.invalid>`,
    // RFC 3834, section 5: keeps out-of-office replies away.
    headers: { 'Auto-Submitted': 'auto-generated' },
  };
}

function messageHash(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

function addressOf(from: string): string {
  return /<([^<>]+)>\s*$/.exec(from)?.[1] ?? from;
}

/** The classes of nodemailer's errors, by `code` and `responseCode` (reference/email.md, section 2). */
function mailError(error: unknown): LeadsyncError {
  const { code, responseCode } = error as { code?: string; responseCode?: number };
  const message = error instanceof Error ? error.message : String(error);
  if (code === 'EAUTH' || responseCode === 530 || responseCode === 535) {
    return new LeadsyncError(
      'mail.credentials',
      `the mail server does not accept the credentials: ${message}`,
      { retry: 'later', cause: error },
    );
  }
  if (responseCode !== undefined && responseCode >= 500) {
    return new LeadsyncError('mail.refused', `the mail server refused the mail: ${message}`, {
      cause: error,
    });
  }
  return new LeadsyncError('mail.unavailable', `the mail could not be sent: ${message}`, {
    retry: 'later',
    cause: error,
  });
}
