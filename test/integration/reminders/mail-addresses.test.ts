import { expect, test } from 'vitest';
import { dueLead, header } from '../../support/due-lead.ts';
import { startMailServer } from '../../support/mail-server.ts';

test.each([
  ['anna@münchen.de', 'Sales <vertrieb@bücher.example>'],
  ['jürgen@example.com', 'sales@example.com'],
  ['用户@例子.广告', 'Büro <büro@bücher.example>'],
])('a mail to %s from %s arrives', async (to, from) => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port, { reminders: { to: [to], from } });
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  const [mail] = server.mails;
  // The server shows domains as people read them.
  expect([mail?.to, mail?.from]).toEqual([[to], /<?([^<>]*)>?$/.exec(from)?.[1]]);
  expect(header(mail?.source ?? '', 'Message-ID')).toMatch(/^<[ -~]+>$/);
});

test('a domain in either spelling is one recipient', async () => {
  await using server = await startMailServer();
  const to = ['anna@münchen.de'];
  const routes = [{ when: { stage: ['new'] }, to: ['anna@münchen.de', 'Anna@xn--mnchen-3ya.de'] }];
  await using scene = await dueLead(server.port, { reminders: { to, routes } });
  expect(await scene.plan()).toHaveLength(1);
});

test('a server that knows no SMTPUTF8: an address that needs it fails with a clear error, nothing leaves; others are mailed', async () => {
  await using server = await startMailServer({ hideSMTPUTF8: true });
  await using scene = await dueLead(server.port, {
    reminders: { to: ['jürgen@example.com', 'anna@münchen.de'] },
  });
  const { rows } = await scene.pool.query<{ id: number }>(`select id from mails order by recipient`);
  expect(await scene.send(rows[0]?.id ?? 0)).toEqual({ state: 'sent' });
  expect(await scene.send(rows[1]?.id ?? 0)).toEqual({ state: 'failed' });
  expect(server.mails.map(({ to }) => to)).toEqual([['anna@münchen.de']]);
  expect((await scene.states()).find(({ state }) => state === 'failed')?.note).toMatch(
    /takes no address with letters beyond a to z before the @, as the recipient has; nothing was sent/,
  );
  await using ours = await dueLead(server.port, { reminders: { from: 'büro@example.com' } });
  expect(await ours.send(ours.id)).toMatchObject({ isOfSender: true });
  expect(ours.log.map(({ code }) => code)).toContain('mail.sender-refused');
  expect(server.mails).toHaveLength(1);
});
