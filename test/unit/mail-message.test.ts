import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import { createMailer, type Mail } from '../../src/reminders/send/mail.ts';
import { senderDomain } from '../../src/reminders/compose/message.ts';
import { startMailServer } from '../support/mail-server.ts';

const mail: Mail = {
  key: 'a|1',
  from: 'Sales & Co <sales@example.com>',
  to: 'anna@example.com',
  subject: 'Follow-up: Bäckerei',
  text: 'text',
  html: '<p>html</p>',
  thread: 'a',
  date: Date.UTC(2026, 10, 21, 9),
};

/** A mailer that writes into a folder of its own, and the mails in it by file name. */
async function openOutbox() {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-outbox-'));
  const mailer = createMailer(undefined, join(folder, 'outbox'));
  return {
    mailer,
    folder: join(folder, 'outbox'),
    files: () => readdir(join(folder, 'outbox')),
    async [Symbol.asyncDispose]() {
      await mailer[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

/** The header lines of a mail, unfolded (RFC 5322, 2.2.3), names in lower case. */
function headersOf(source: string): [string, string][] {
  const head = source.slice(0, source.indexOf('\r\n\r\n')).replaceAll(/\r\n(?=[ \t])/g, '');
  return head.split('\r\n').map((line) => {
    const at = line.indexOf(':');
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
  });
}

/** Encoded words as a mail program shows them (RFC 2047). */
function decodeWords(text: string): string {
  return text.replaceAll(/\?=\s+=\?/g, '?==?').replaceAll(/(?:=\?utf-8\?[bq]\?[^?]*\?=)+/gi, (words) => {
    const bytes = [...words.matchAll(/=\?utf-8\?([bq])\?([^?]*)\?=/gi)].map(([, kind, content]) =>
      kind?.toLowerCase() === 'b'
        ? Buffer.from(content ?? '', 'base64')
        : Buffer.from(
            (content ?? '')
              .replaceAll('_', ' ')
              .replaceAll(/=([0-9a-f]{2})/gi, (_, hex: string) =>
                String.fromCodePoint(Number.parseInt(hex, 16)),
              ),
            'latin1',
          ),
    );
    return Buffer.concat(bytes).toString();
  });
}

const usualHeaders = [
  'auto-submitted',
  'content-type',
  'date',
  'from',
  'in-reply-to',
  'message-id',
  'mime-version',
  'references',
  'subject',
  'to',
  'x-auto-response-suppress',
];

test('the same key gives the same file, Message-ID and Date; another key another', async () => {
  await using box = await openOutbox();
  const first = await box.mailer.send(mail);
  const before = headersOf(await readFile(first, 'utf8'));
  expect(await box.mailer.send({ ...mail, text: 'said again' })).toBe(first);
  const after = headersOf(await readFile(first, 'utf8'));
  const only = (headers: [string, string][]) =>
    headers.filter(([name]) => ['message-id', 'date', 'references'].includes(name));
  expect(only(after)).toEqual(only(before));
  expect(after).toContainEqual(['date', 'Sat, 21 Nov 2026 09:00:00 +0000']);

  const second = await box.mailer.send({ ...mail, key: 'a|2' });
  const other = Object.fromEntries(headersOf(await readFile(second, 'utf8')));
  expect(other['message-id']).toMatch(/^<[0-9a-f]{32}@example\.com>$/);
  expect(other['message-id']).not.toBe(Object.fromEntries(before)['message-id']);
  // One thread, whose root need not exist.
  expect(other['in-reply-to']).toBe(Object.fromEntries(before)['in-reply-to']);
  expect(other['references']).toBe(other['in-reply-to']);
  expect(new Set(await box.files())).toEqual(new Set([basename(first), basename(second)]));
});

test('a mail without a thread, such as each digest, refers to no other', async () => {
  await using box = await openOutbox();
  const source = await readFile(await box.mailer.send({ ...mail, thread: null }), 'utf8');
  const names = headersOf(source).map(([name]) => name);
  expect(names).toContain('message-id');
  expect(names).not.toContain('references');
  expect(names).not.toContain('in-reply-to');
});

test('text and HTML, a calendar entry as an ordinary attachment, no answer wanted', async () => {
  await using box = await openOutbox();
  const calendar = 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n';
  const source = await readFile(await box.mailer.send({ ...mail, calendar }), 'utf8');
  const headers = Object.fromEntries(headersOf(source));
  expect(headers['auto-submitted']).toBe('auto-generated');
  expect(headers['content-type']).toMatch(/^multipart\/mixed/);
  expect(source).toMatch(/Content-Type: multipart\/alternative/);
  expect(source.indexOf('text/plain')).toBeLessThan(source.indexOf('text/html'));
  const attached = source.replaceAll(/\r\n[ \t]+/g, ' ');
  expect(attached).toMatch(
    /Content-Type: text\/calendar; method=PUBLISH; charset=utf-8; name=follow-up\.ics/,
  );
  expect(attached).toMatch(/Content-Disposition: attachment; filename=follow-up\.ics/);
  expect(source).toContain(Buffer.from(calendar).toString('base64'));
});

const long = 'x'.repeat(10_000);

test.each([
  ['a line end and a header', 'Acme\r\nBcc: x@evil.example', 'Acme Bcc: x@evil.example'],
  ['a bare line feed', 'Acme\nBcc: x@evil.example\n\nbody', 'Acme Bcc: x@evil.example body'],
  ['other line ends', 'Acme\u2028\u0085\u000B\0Bcc: x', 'Acme Bcc: x'],
  ['an encoded word', '=?utf-8?B?SGFja2VkDQpCY2M6IHg=?= Ltd', '= ?utf-8?B?SGFja2VkDQpCY2M6IHg=?= Ltd'],
  [
    'an encoded word with a letter that must be encoded',
    'Ä =?utf-8?Q?a=0D=0ABcc?=',
    'Ä = ?utf-8?Q?a=0D=0ABcc?=',
  ],
  ['marks that turn the direction', 'ab\u202Edc\u2066x\u200F', 'abdcx'],
  ['a script', '<script>alert(1)</script>', '<script>alert(1)</script>'],
  ['10,000 characters', long, `${'x'.repeat(149)}…`],
  ['half a surrogate pair', 'a\uD83D b', 'a\uFFFD b'],
  ['emoji', '🚀 Söhne 👩‍👩‍👧‍👦', '🚀 Söhne 👩‍👩‍👧‍👦'],
])('a subject with %s changes no header', async (_, subject, shown) => {
  await using server = await startMailServer();
  await using mailer = createMailer(new Secret(`smtp://127.0.0.1:${server.port}`), '/nowhere');
  await mailer.send({ ...mail, subject });
  const [arrived] = server.mails;
  expect(arrived).toMatchObject({ from: 'sales@example.com', to: ['anna@example.com'] });
  const headers = headersOf(arrived?.source ?? '');
  expect(headers.map(([name]) => name).toSorted()).toEqual(usualHeaders);
  expect(decodeWords(Object.fromEntries(headers)['subject'] ?? '')).toBe(shown);
  const [head = ''] = (arrived?.source ?? '').split('\r\n\r\n');
  expect(Math.max(...head.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
});

test.each([
  'b@example.com, evil@example.org',
  'Evil <b@example.com>',
  'b@example.com\r\nBcc: evil@example.org',
  '"b@example.com, evil"@example.org',
  'b@example.com ',
  '',
  'b',
])('%j is not one recipient: nothing is sent', async (to) => {
  await using box = await openOutbox();
  await expect(box.mailer.send({ ...mail, to })).rejects.toMatchObject({
    code: 'mail.refused',
    retry: 'never',
  });
  await expect(box.files()).rejects.toMatchObject({ code: 'ENOENT' });
});

test('the sender with a name, quoted or not', async () => {
  await using box = await openOutbox();
  for (const from of ['Sales, Berlin <sales@example.com>', '"Sales, Berlin" <sales@example.com>']) {
    const source = await readFile(await box.mailer.send({ ...mail, from }), 'utf8');
    expect(headersOf(source)).toContainEqual(['from', '"Sales, Berlin" <sales@example.com>']);
    expect(senderDomain(from)).toBe('example.com');
  }
  expect(senderDomain('leadsync@localhost')).toBe('localhost');
});

test('the outbox and what is in it are for the user of the process alone', async () => {
  await using box = await openOutbox();
  const file = await box.mailer.send(mail);
  const modes = await Promise.all([box.folder, file].map(async (path) => (await stat(path)).mode & 0o777));
  expect(modes).toEqual([0o700, 0o600]);
});
