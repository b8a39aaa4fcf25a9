import { expect, test } from 'vitest';
import { startMailServer } from '../../support/mail-server.ts';
import { reminderScene } from '../../support/reminder-scene.ts';
import { Workspace } from '../../support/workspace.ts';

const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'Europe/Berlin' };
const hour = 3_600_000;

/** Three leads: one is sent, one is to come, one is missed. */
async function threeReminders(env: NodeJS.ProcessEnv = {}) {
  const workspace = await Workspace.open({ connection: { reminders }, env });
  const add = (companyName: string, fromNow: number) =>
    workspace.sandbox.leads.add({
      companyName,
      stage: 'new',
      nextFollowUpAt: new Date(Date.now() + fromNow).toISOString(),
    });
  const leads = {
    sent: add('Sent AG', -1_000),
    coming: add('Coming AG', hour),
    missed: add('Missed AG', -48 * hour),
  };
  await workspace.sync();
  await using scene = await reminderScene(workspace);
  for (const { id, leadId } of await scene.plan()) if (leadId === leads.sent.id) await scene.send(id);
  return { workspace, leads };
}

test('coming, sent and missed ones are listed, for people and as JSON', async () => {
  await using server = await startMailServer();
  const { workspace, leads } = await threeReminders({ SMTP_URL: `smtp://127.0.0.1:${server.port}` });
  await using _workspace = workspace;
  const text = await workspace.cli('status', '--reminders');
  expect(text.code).toBe(0);
  expect(text.stdout).toMatch(/coming: 1\n.* {2}Coming AG, .*, when it is due, to anna@example\.com\n/);
  expect(text.stdout).not.toContain('cancelled');
  expect(text.stdout).toMatch(/sent, the latest first\n.*Sent AG/);
  expect(text.stdout).toMatch(
    /failed, the latest first\n +none\n +missed.*\n.*Missed AG.*\n +it could not be sent in time/,
  );

  const { connections } = (await workspace.cli('status', '--reminders', '--json')).json<{
    connections: {
      connection: string;
      comingCount: number;
      coming: object[];
      sent: object[];
      failed: object[];
      missed: object[];
      digests: object[];
    }[];
  }>();
  expect(connections).toHaveLength(1);
  expect(connections[0]).toMatchObject({
    connection: 'main',
    comingCount: 1,
    coming: [
      { leadId: leads.coming.id, company: 'Coming AG', state: 'scheduled', before: '0m', attempts: 0 },
    ],
    sent: [{ leadId: leads.sent.id, state: 'sent', attempts: 1 }],
    failed: [],
    missed: [{ leadId: leads.missed.id, state: 'missed' }],
    digests: [],
  });
});

test('--cancelled lists those too, with the reason; an owner without an e-mail address is told of', async () => {
  await using workspace = await Workspace.open({
    connection: {
      reminders: { ...reminders, toColumn: 'Owner' },
      fields: { companyName: 'Company', stage: 'Stage', nextFollowUpAt: 'Next', city: 'Owner' },
    },
  });
  const add = (owner: string) =>
    workspace.sandbox.leads.add({
      companyName: `Of ${owner}`,
      nextFollowUpAt: new Date(Date.now() + hour).toISOString(),
      city: owner,
    });
  const cleared = add('carl@example.com');
  add('Dora');
  add('dora..d@example.com');
  const over = workspace.sandbox.leads.add({
    companyName: 'Over AG',
    stage: 'Closed Won',
    nextFollowUpAt: '2099-11-17T00:00:00.000Z',
    city: 'Carl Kurz <carl@example.com>; ben@example.com',
  });
  expect((await workspace.cli('sync')).code).toBe(0);
  workspace.sandbox.leads.edit(cleared.id, { nextFollowUpAt: null });
  expect((await workspace.cli('sync')).code).toBe(0);
  const { stdout } = await workspace.cli('status', '--cancelled');
  expect(stdout).toMatch(
    /cancelled, the latest first\n.*Of carl.*, when it is due, to .*\n +the follow-up was moved, cleared/,
  );
  expect(stdout).toMatch(
    /! 2 leads have no e-mail address in Owner, such as "[Dd]ora[^;]*" in row [234]; .*: routes and to/,
  );
  expect((await workspace.cli('status', '--cancelled', '--json')).json()).toMatchObject({
    connections: [
      {
        cancelled: [{ leadId: cleared.id, state: 'cancelled' }],
        withoutAddress: { column: 'Owner', count: 2, row: expect.any(Number) },
      },
    ],
  });
  const check = await workspace.cli('check');
  expect(check.code).toBe(0);
  expect(check.stdout).toMatch(
    /warn {2}main: recipients: 2 leads have no e-mail address in Owner, such as .*;\s+2 of 3 leads with a follow-up name no recipient/,
  );
  expect(check.stdout).toContain(
    'ok    main: stages: nobody is reminded of 1 lead with a follow-up in "Closed Won"',
  );
  workspace.sandbox.leads.edit(over.id, { stage: 'new' });
  expect((await workspace.cli('sync')).code).toBe(0);
  const listed = await workspace.cli('status', '--reminders');
  expect(listed.stdout).toMatch(
    /Tue 17 Nov 2099 08:00 {2}Over AG, due Tue 17 Nov 2099, when it is due, to carl@/,
  );
  expect(listed.stdout).toMatch(/Over AG, due Tue 17 Nov 2099, when it is due, to ben@/);
});

test('--reminders LEAD says which mail it prints, and which are past', async () => {
  await using workspace = await Workspace.open({
    connection: { reminders: { ...reminders, before: ['0m', '1d'] } },
  });
  const lead = workspace.sandbox.leads.add({
    companyName: 'Today AG',
    nextFollowUpAt: new Date(Date.now() + hour).toISOString(),
  });
  await workspace.sync();
  const { stdout } = await workspace.cli('status', '--reminders', lead.id);
  expect(stdout).toContain('to anna@example.com (1d before; past, not to be sent)');
  expect(stdout).toContain('to anna@example.com (when it is due; this is the mail below)');
});

test('--reminders LEAD prints the mail about a lead as it is now, and sends nothing', async () => {
  await using server = await startMailServer();
  const { workspace, leads } = await threeReminders({ SMTP_URL: `smtp://127.0.0.1:${server.port}` });
  await using _workspace = workspace;
  workspace.sandbox.leads.edit(leads.coming.id, { companyName: 'Renamed <b> AG', stage: 'proposal' });
  const text = await workspace.cli('status', '--reminders', leads.coming.id);
  expect(text).toMatchObject({ code: 0 });
  expect(text.stdout).toContain('Subject: Follow-up: Renamed <b> AG');
  expect(text.stdout).toContain('to anna@example.com (when it is due; this is the mail below)');
  expect(text.stdout).not.toContain('<html');
  const json = (await workspace.cli('status', '--reminders', leads.coming.id, '--json')).json();
  expect(json).toMatchObject({
    leadId: leads.coming.id,
    from: 'sales@example.com',
    mails: [{ recipient: 'anna@example.com', before: '0m' }],
    html: expect.stringContaining('Renamed &lt;b&gt; AG'),
    text: expect.stringContaining('proposal'),
  });
  expect(server.mails).toHaveLength(1);

  workspace.sandbox.leads.edit(leads.coming.id, { nextFollowUpAt: null });
  const none = await workspace.cli('status', '--reminders', leads.coming.id, '--json');
  expect(none).toMatchObject({ code: 2 });
  expect(none.json()).toMatchObject({ error: { code: 'usage.no-follow-up' } });
  const unknown = await workspace.cli('status', '--reminders', 'nonsense');
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  expect(unknown.stderr).toContain('[usage.unknown-lead]');
});

test('--send-test sends a sample and says where it went; what the server says against it otherwise', async () => {
  let refused = false;
  await using server = await startMailServer({
    onRcptTo: (_address, _session, callback) =>
      callback(refused ? Object.assign(new Error('5.1.1 never heard of'), { responseCode: 550 }) : null),
  });
  await using workspace = await Workspace.open({
    connection: { reminders },
    env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
  });
  const sent = await workspace.cli('check', '--send-test', 'me@example.com');
  expect(sent.code).toBe(0);
  expect(sent.stdout).toContain('the mail server accepted the mail from sales@example.com to me@example.com');
  expect(server.mails.map(({ to }) => to)).toEqual([['me@example.com']]);
  expect(server.mails[0]?.source).toContain('This is a test of leadsync');

  refused = true;
  const failed = await workspace.cli('check', '--send-test', 'me@example.com', '--json');
  expect(failed.code).toBe(1);
  expect(failed.json()).toMatchObject({
    error: { code: 'mail.refused', message: expect.stringContaining('never heard of') },
  });

  const nobody = await workspace.cli('check', '--send-test', 'me@example.com, you@example.com');
  expect(nobody).toMatchObject({ code: 2, stdout: '' });
  workspace.configure({});
  const without = await workspace.cli('check', '--send-test', 'me@example.com');
  expect(without.code).toBe(2);
  expect(without.stderr).toContain('[usage.no-reminders]');
});

test('without a mail server the sample is a file', async () => {
  await using workspace = await Workspace.open({ connection: { reminders } });
  const written = await workspace.cli('check', '--send-test', 'me@example.com');
  expect(written.code).toBe(0);
  expect(written.stdout).toMatch(/no SMTP_URL is set: .*outbox.*\.eml/);
});

test('check claims no login at a mail server for which no user is set', async () => {
  await using server = await startMailServer({
    disabledCommands: ['STARTTLS'],
    onAuth: (_auth, _session, callback) => callback(null, { user: 'me' }),
  });
  await using workspace = await Workspace.open({ connection: { reminders } });
  const said = async (user: string) => {
    const env = { SMTP_URL: `smtp://${user}127.0.0.1:${server.port}` };
    const { checks } = (await workspace.start(['check', '--json'], { env }).ended).json<{
      checks: readonly { name: string; message: string }[];
    }>();
    return checks.find(({ name }) => name === 'mail')?.message;
  };
  expect(await said('me:pw@')).toBe('the mail server accepted the login');
  expect(await said('')).toMatch(/^the mail server answers; SMTP_URL names no user/);
});
