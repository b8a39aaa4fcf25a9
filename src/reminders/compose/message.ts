import { createHash } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import { LeadsyncError } from '../../errors.ts';
import { isEmailAddress } from '../../core/lead/email-address.ts';
import { oneLine } from './shown-text.ts';

/** A mail to one recipient. */
export interface Mail {
  /** What it is about: the same key gives the same Message-ID, and in the outbox the same file. */
  readonly key: string;
  /** `sales@example.com` or `Sales <sales@example.com>`. */
  readonly from: string;
  /** One address. */
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Mails of one thread are shown together, such as all about one lead. */
  readonly thread: string;
  /** An iCalendar object to attach. */
  readonly calendar?: string;
  /** Epoch ms, for the Date header: the same when a mail is sent again. */
  readonly date: number;
}

interface Address {
  readonly name: string;
  readonly address: string;
}

/**
 * A mail as nodemailer wants it. Addresses are objects and the envelope is our own, because a text may name several
 * recipients; nothing of a lead is spread into the options, because some of them read files. Throws `mail.refused` (retry
 * never) for an address that is not exactly one.
 */
export function buildMessage(mail: Mail): SendMailOptions {
  const from = senderOf(mail.from);
  const to = onlyAddress(mail.to);
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  const thread = `<thread.${keyHash(mail.thread)}@${domain}>`;
  return {
    from,
    to: { name: '', address: to },
    envelope: { from: from.address, to },
    subject: plainWords(oneLine(mail.subject, 149)),
    text: mail.text,
    html: mail.html,
    date: new Date(mail.date),
    messageId: `<${keyHash(mail.key)}@${domain}>`,
    inReplyTo: thread,
    references: [thread],
    // RFC 3834, section 5, and Exchange's own: keep out-of-office replies away.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
    ...(mail.calendar !== undefined && {
      attachments: [
        {
          filename: 'follow-up.ics',
          contentType: 'text/calendar; method=PUBLISH; charset=utf-8',
          content: mail.calendar,
        },
      ],
    }),
  };
}

/** 32 characters that two keys share only when they are the same. */
export function keyHash(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

/** The domain of a sender's address: what Message-IDs and calendar entries are unique in. */
export function senderDomain(from: string): string {
  const { address } = senderOf(from);
  return address.slice(address.lastIndexOf('@') + 1);
}

function senderOf(from: string): Address {
  const [, name, address] = /^\s*"?([^"<>]*?)"?\s*<([^<>]+)>\s*$/.exec(from) ?? [];
  return { name: oneLine(name ?? '', 100), address: onlyAddress(address ?? from) };
}

function onlyAddress(text: string): string {
  if (isEmailAddress(text)) return text;
  throw new LeadsyncError('mail.refused', `${JSON.stringify(oneLine(text, 100))} is not one e-mail address`);
}

/** A subject in which `=?` stands is decoded by mail programs, as if we had written it so (RFC 2047): a space ends that. */
function plainWords(subject: string): string {
  return subject.replaceAll(/=(?=\?[^?\s]+\?[bq]\?)/gi, '= ');
}
