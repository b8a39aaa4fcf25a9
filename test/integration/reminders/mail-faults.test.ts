import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { Secret } from '../../../src/config/secret.ts';
import { createMailer, type Mail, type MailLimits } from '../../../src/reminders/send/mail.ts';
import { refusal, type Script, startMailServer, startRawServer } from '../../support/mail-server.ts';

const mail: Mail = {
  key: 'a|1',
  from: 'Sales <sales@example.com>',
  to: 'anna@example.com',
  subject: 'Follow-up',
  text: 'text',
  html: '<p>html</p>',
  thread: 'a',
  date: 0,
};

function mailerTo(address: string, limits: MailLimits = {}) {
  return createMailer(new Secret(address), '/nowhere', { connectMs: 2000, silenceMs: 2000, ...limits });
}

/** Code and retry of the fault when one mail is sent; `sent` without one. */
async function outcome(address: string, limits: MailLimits = {}): Promise<string> {
  await using mailer = mailerTo(address, limits);
  const fault = await mailer.send(mail).then(
    () => null,
    (error: { code: string; retry: string }) => `${error.code} ${error.retry}`,
  );
  return fault ?? 'sent';
}

test.each<[string, Script, string, number]>([
  ['greeting 421', { greeting: '421 too busy' }, 'mail.unavailable later', 0],
  ['greeting 554', { greeting: '554 no service here' }, 'mail.sender-refused later', 0],
  ['drop before the greeting', { greeting: 'drop' }, 'mail.unavailable later', 0],
  ['no greeting', { greeting: 'silence' }, 'mail.unavailable later', 0],
  ['530 at MAIL FROM', { MAIL: '530 5.7.0 authentication required' }, 'mail.credentials later', 0],
  ['drop at MAIL FROM', { MAIL: 'drop' }, 'mail.unavailable later', 0],
  ['silence at MAIL FROM', { MAIL: 'silence' }, 'mail.unavailable later', 0],
  ['421 at MAIL FROM', { MAIL: '421 4.3.2 closing' }, 'mail.unavailable later', 0],
  ['451 at MAIL FROM', { MAIL: '451 4.3.0 try again' }, 'mail.deferred later', 0],
  ['sender refused', { MAIL: '553 5.1.8 sender is not yours' }, 'mail.sender-refused later', 0],
  ['too large by MAIL FROM', { MAIL: '552 5.3.4 too large' }, 'mail.refused never', 0],
  ['recipient unknown', { RCPT: '550 5.1.1 no such user' }, 'mail.refused never', 0],
  ['recipient unknown, no status', { RCPT: '550 no such user' }, 'mail.refused never', 0],
  ['relay denied', { RCPT: '550 5.7.1 relaying denied' }, 'mail.policy-refused later', 0],
  ['login wanted, told late', { RCPT: '550 5.7.0 who are you' }, 'mail.sender-refused later', 0],
  ['mailbox full', { RCPT: '452 4.2.2 mailbox full' }, 'mail.deferred later', 0],
  ['421 at RCPT TO', { RCPT: '421 4.7.0 closing' }, 'mail.unavailable later', 0],
  ['drop at RCPT TO', { RCPT: 'drop' }, 'mail.unavailable later', 0],
  ['DATA deferred', { DATA: '451 4.3.0 not now' }, 'mail.deferred later', 0],
  ['DATA refused', { DATA: '554 5.5.1 no' }, 'mail.refused never', 0],
  ['drop at DATA, before 354', { DATA: 'drop' }, 'mail.unavailable later', 0],
  ['silence at DATA, before 354', { DATA: 'silence' }, 'mail.unavailable later', 0],
  ['452 after DATA', { message: '452 4.3.1 disk full' }, 'mail.deferred later', 1],
  ['554 after DATA', { message: '554 5.6.0 content refused' }, 'mail.refused never', 1],
  ['spam, after DATA', { message: '554 5.7.1 looks like spam' }, 'mail.refused never', 1],
  ['SPF, after DATA', { message: '550 5.7.23 SPF fails' }, 'mail.policy-refused later', 1],
  ['421 after DATA', { message: '421 4.3.2 shutting down' }, 'mail.unavailable later', 1],
  ['drop after DATA, before the reply', { message: 'drop' }, 'mail.outcome-unknown later', 1],
  ['no reply after DATA', { message: 'silence' }, 'mail.outcome-unknown later', 1],
  ['nothing wrong', {}, 'sent', 1],
])('%s', async (_, script, expected, taken) => {
  await using server = await startRawServer(script);
  const silent = Object.values(script).includes('silence');
  const limits = silent ? { connectMs: 300, silenceMs: 300 } : {};
  expect(await outcome(`smtp://127.0.0.1:${server.port}`, limits)).toBe(expected);
  // Once at most: the pool itself never sends again.
  expect(server.taken).toHaveLength(taken);
});

test('refused connections and unknown hosts: certainly not sent', async () => {
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const { port } = free.address() as { port: number };
  await new Promise((resolve) => free.close(resolve));
  expect(await outcome(`smtp://127.0.0.1:${port}`)).toBe('mail.unavailable later');
  expect(await outcome('smtp://mail.invalid:25')).toBe('mail.unavailable later');
});

test('greylisted by a real server, then accepted over the same connection', async () => {
  let visits = 0;
  await using server = await startMailServer({
    onRcptTo: (_address, _session, callback) =>
      callback(++visits === 1 ? refusal(451, '4.7.1 greylisted, come back') : null),
  });
  await using mailer = mailerTo(`smtp://127.0.0.1:${server.port}`);
  await expect(mailer.send(mail)).rejects.toMatchObject({ code: 'mail.deferred', retry: 'later' });
  await mailer.send(mail);
  expect(server.mails.map(({ to }) => to)).toEqual([['anna@example.com']]);
});

test('a wrong password, from sending and from verify; the right one, with special characters', async () => {
  const password = 'p@ss:w/rd %ü';
  await using server = await startMailServer({
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    authOptional: false,
    onAuth: (auth, _session, callback) =>
      // The worst kind of server: it repeats what it was told.
      auth.password === password
        ? callback(null, { user: 1 })
        : callback(refusal(535, `5.7.8 ${auth.username} may not come in with ${auth.password}`)),
  });
  const address = (secret: string): string =>
    `smtp://anna:${encodeURIComponent(secret)}@127.0.0.1:${server.port}?logger=true&debug=true&maxRequeues=5`;
  await using wrong = mailerTo(address('hunter+2 secret'));
  for (const call of [() => wrong.send(mail), () => wrong.verify()]) {
    const error = await call().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'mail.credentials', retry: 'later', cause: undefined });
    const all = `${String(error)} ${JSON.stringify(error)} ${(error as Error).stack}`;
    expect(all).toContain('5.7.8');
    expect(all).not.toContain('hunter');
  }
  await using right = mailerTo(address(password));
  await right.verify();
  await right.send(mail);
  expect(server.mails).toHaveLength(1);

  await using nobody = mailerTo(`smtp://127.0.0.1:${server.port}`);
  await expect(nobody.send(mail)).rejects.toMatchObject({ code: 'mail.credentials' });
});

test('a server whose login is out of order for a moment does not stop the mail for good', async () => {
  await using server = await startRawServer({
    EHLO: '250-raw\r\n250 AUTH PLAIN',
    AUTH: '454 4.7.0 temporary authentication failure',
  });
  expect(await outcome(`smtp://u:p@127.0.0.1:${server.port}`)).toBe('mail.unavailable later');
});

test('STARTTLS is required unless the server is on this machine or the URL says otherwise', async () => {
  await using server = await startRawServer({ STAR: '502 5.5.1 not here' });
  // To the system this is a server on this machine, to the rule it is not.
  const elsewhere = `smtp://0.0.0.0:${server.port}`;
  expect(await outcome(elsewhere)).toBe('mail.unavailable later');
  expect(await outcome(`smtp://127.0.0.1:${server.port}?requireTLS=true`)).toBe('mail.unavailable later');
  expect(server.commands.filter((command) => command === 'STAR' || command === 'MAIL')).toEqual([
    'STAR',
    'STAR',
  ]);

  expect(await outcome(`smtp://localhost:${server.port}`)).toBe('sent');
  expect(await outcome(`${elsewhere}?requireTLS=false`)).toBe('sent');
  expect(await outcome(`${elsewhere}?ignoreTLS=true`)).toBe('sent');
  expect(server.taken).toHaveLength(3);
});

test('with encryption: a certificate nobody knows is refused, one that the URL lets pass is used', async () => {
  const secure: boolean[] = [];
  await using server = await startMailServer({
    disabledCommands: ['AUTH'],
    onMailFrom: (_address, session, callback) => {
      secure.push(session.secure);
      callback();
    },
  });
  const address = `smtp://127.0.0.1:${server.port}?requireTLS=true`;
  await using strict = mailerTo(address);
  await expect(strict.send(mail)).rejects.toMatchObject({
    code: 'mail.unavailable',
    retry: 'later',
    message: expect.stringContaining('the certificate of the mail server cannot be trusted'),
    // That of the package smtp-server.
    help: 'Renew the certificate of the mail server',
  });
  await using lax = mailerTo(`${address}&tls.rejectUnauthorized=false`);
  await lax.send(mail);
  // On this machine without a word in the URL: not used, so the certificate does not matter.
  await using local = mailerTo(`smtp://127.0.0.1:${server.port}`);
  await local.send(mail);
  expect(secure).toEqual([true, false]);
});

test('after a server went away between two mails the next one goes over a new connection', async () => {
  await using server = await startRawServer({});
  await using mailer = mailerTo(`smtp://127.0.0.1:${server.port}`);
  await mailer.send(mail);
  await mailer.send(mail);
  expect(server.connections()).toBe(1);
  server.dropAll();
  await mailer.send(mail);
  expect(server.taken).toHaveLength(3);
  expect(server.connections()).toBe(2);
});

test.each<[string, Script, string]>([
  ['before it begins to leave', { RCPT: 'silence' }, 'mail.unavailable later'],
  ['after it has left', { message: 'silence' }, 'mail.outcome-unknown later'],
])('a mail is given up after the longest time that one may take, %s', async (_, script, fault) => {
  await using server = await startRawServer(script);
  const start = performance.now();
  expect(await outcome(`smtp://127.0.0.1:${server.port}`, { silenceMs: 30_000, longestMs: 500 })).toBe(fault);
  expect(performance.now() - start).toBeLessThan(30_000);
});

test('a process that slept while the server was about to answer sends nothing of the mail: others have gone on', async () => {
  let slept = 0;
  await using server = await startMailServer({
    onRcptTo: (_address, _session, callback) => {
      // As if the machine woke an hour later; timers know nothing of that.
      slept = 3_600_000;
      callback(null);
    },
  });
  await using mailer = mailerTo(`smtp://127.0.0.1:${server.port}`);
  using _turn = await mailer.turn(new AbortController().signal);
  await expect(mailer.send(mail, () => slept)).rejects.toMatchObject({ code: 'mail.unavailable' });
  expect(server.mails).toEqual([]);
  slept = 0;
  using _next = await mailer.turn(new AbortController().signal);
  await expect(mailer.send(mail, () => 0)).resolves.toContain('250');
});

test('whoever waits for a turn and is stopped leaves the line, and nothing of his mail is begun', async () => {
  let answer: (() => void) | undefined;
  await using server = await startMailServer({
    onRcptTo: (_address, _session, callback) => {
      answer = callback;
    },
  });
  await using mailer = mailerTo(`smtp://127.0.0.1:${server.port}?maxConnections=1`);
  const first = mailer.send(mail);
  await expect.poll(() => answer).toBeDefined();
  const stop = new AbortController();
  const second = mailer.turn(stop.signal);
  stop.abort(new Error('stopping'));
  await expect(second).rejects.toThrow('stopping');
  const third = mailer.turn(new AbortController().signal);
  answer?.();
  await first;
  (await third)[Symbol.dispose]();
  expect(server.mails).toHaveLength(1);
});
