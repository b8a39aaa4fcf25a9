import { hash } from 'node:crypto';
import type { SendMailOptions } from 'nodemailer';
import { LeadsyncError } from '../../lib/errors.ts';
import { isEmailAddress, wireAddress } from '../../core/lead/email-address.ts';
import { oneLine } from './shown-text.ts';

export interface Mail {
  /** Identity: the same key gives the same Message-ID and outbox file. */
  readonly key: string;
  /** `sales@example.com` or `Sales <sales@example.com>`. */
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Mails of one thread are grouped, such as all about one lead; null: none. */
  readonly thread: string | null;
  readonly calendar?: string;
  /** Epoch ms, for the Date header; the same for each attempt. */
  readonly date: number;
}

interface Address {
  readonly name: string;
  readonly address: string;
}

/**
 * Addresses are objects and the envelope is ours, because a text may name several recipients; lead data is never spread into the options,
 * because some of them read files. Throws `mail.refused` for an address that is not exactly one.
 */
export function buildMessage(mail: Mail): SendMailOptions {
  const from = senderOf(mail.from);
  const to = onlyAddress(mail.to);
  const domain = domainOf(from);
  const thread = mail.thread === null ? null : `<thread.${keyHash(mail.thread)}@${domain}>`;
  return {
    from,
    to: { name: '', address: to },
    envelope: { from: from.address, to },
    subject: plainWords(oneLine(mail.subject, 149)),
    text: mail.text,
    html: mail.html,
    date: new Date(mail.date),
    messageId: `<${keyHash(mail.key)}@${domain}>`,
    ...(thread !== null && { inReplyTo: thread, references: [thread] }),
    // Suppresses out-of-office replies (RFC 3834, section 5, and Exchange's header).
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

export function keyHash(key: string): string {
  return hash('sha256', key).slice(0, 32);
}

/** The sender's domain, in which Message-IDs and calendar entries are unique. */
export function senderDomain(from: string): string {
  return domainOf(senderOf(from));
}

function domainOf({ address }: Address): string {
  return address.slice(address.lastIndexOf('@') + 1);
}

export function addressIn(from: string): string {
  return senderOf(from).address;
}

function senderOf(from: string): Address {
  const [, name, address] = /^\s*"?([^"<>]*?)"?\s*<([^<>]+)>\s*$/.exec(from) ?? [];
  return { name: oneLine(name ?? '', 100), address: onlyAddress(address ?? from) };
}

function onlyAddress(text: string): string {
  if (isEmailAddress(text)) return wireAddress(text);
  throw new LeadsyncError('mail.refused', `${JSON.stringify(oneLine(text, 100))} is not one e-mail address`);
}

/** Mail programs would decode `=?` in a subject (RFC 2047); a space prevents that. */
function plainWords(subject: string): string {
  return subject.replaceAll(/=(?=\?[^?\s]+\?[bq]\?)/gi, '= ');
}
