import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { SMTPServer } from 'smtp-server';
import { expect, test } from 'vitest';
import { type App, openApp } from '../../src/app.ts';
import { runJob } from '../../src/cli/run-job.ts';
import { sendDueReminders } from '../../src/cli/send-due-reminders.ts';
import { loadConfig } from '../../src/config/load.ts';
import { sendReminder } from '../../src/reminders/send-reminder.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { planReminders } from '../../src/reminders/plan-reminders.ts';
import { createTestDatabase } from '../support/database.ts';

const never = new AbortController().signal;

/** One lead, one file, one mail server, and the app between them. */
async function setUp(recipients: string) {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-mail-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const database = stack.adopt(await createTestDatabase(), (opened) => opened.drop());
  const service = stack.use(await startSandbox({ leads: 1 }));
  const server = stack.adopt(await startMailServer(), (started) => started.close());
  const env = {
    LEADS_BASE_URL: service.url,
    LEADS_API_KEY: service.apiKey,
    TARGET: join(folder, 'leads.csv'),
    DATA_DIR: folder,
    DATABASE_URL: database.url,
    SMTP_URL: `smtp://127.0.0.1:${server.port}`,
    REMINDER_FROM: 'sales@example.com',
    REMINDER_TO: recipients,
  };
  const config = await loadConfig({ env, cwd: folder });
  const app = stack.use(await openApp(config, pino({ level: 'silent' })));
  const [lead] = service.leads.list();
  if (lead === undefined) throw new Error('the sandbox has no lead');
  const owned = stack.move();
  return {
    app,
    mails: server.mails,
    dropReplies: server.dropReplies,
    /** Moves the follow-up of the lead so many ms into the past. */
    fallDue: (agoMs: number) =>
      service.leads.edit(lead.id, { nextFollowUpAt: new Date(Date.now() - agoMs).toISOString() }),
    clear: () => service.leads.edit(lead.id, { nextFollowUpAt: null }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Keeps every mail that arrived whole; on demand the connection ends then, before the mail is confirmed. */
async function startMailServer() {
  const mails: { readonly to: string; readonly messageId: string }[] = [];
  const sockets = new Set<Socket>();
  let replies = true;
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, callback) {
      text(stream).then((source) => {
        mails.push({
          to: session.envelope.rcptTo.map(({ address }) => address).join(),
          messageId: header(source, 'Message-ID'),
        });
        if (replies) return callback();
        for (const socket of sockets) socket.destroy();
      }, callback);
    },
  });
  server.on('error', () => {});
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    mails,
    port: (server.server.address() as AddressInfo).port,
    dropReplies: (drop: boolean) => {
      replies = !drop;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function header(source: string, name: string): string {
  return new RegExp(`^${name}: (.*)$`, 'im').exec(source)?.[1]?.trim() ?? '';
}

async function syncAndSend(app: App): Promise<void> {
  await runJob(app, 'default', { job: 'sync', allow: [] }, never);
  expect(await sendDueReminders(app, never)).toBe(0);
}

/** What a job is given: everything of the connection, and the mailer. */
function contextOf(app: App) {
  const context = app.contexts.get('default');
  if (context === undefined) throw new Error('the connection is missing');
  const templates = app.templates.get('default');
  if (templates === undefined) throw new Error('the templates are missing');
  return { ...context, mailer: app.mailer, templates };
}

test('one mail for each due date and recipient, however often a sync runs', async () => {
  await using world = await setUp('anna@example.com, ben@example.com');
  world.fallDue(60_000);
  await syncAndSend(world.app);
  expect(world.mails.map(({ to }) => to).toSorted()).toEqual(['anna@example.com', 'ben@example.com']);

  await syncAndSend(world.app);
  await syncAndSend(world.app);
  expect(world.mails).toHaveLength(2);

  world.fallDue(30_000);
  await syncAndSend(world.app);
  expect(world.mails).toHaveLength(4);
  expect(new Set(world.mails.map(({ messageId }) => messageId)).size).toBe(4);
});

test('the connection ends after the mail was taken: it is sent again with the same Message-ID, then never more', async () => {
  await using world = await setUp('anna@example.com');
  world.fallDue(60_000);
  await runJob(world.app, 'default', { job: 'sync', allow: [] }, never);
  const context = contextOf(world.app);
  const [reminder] = await planReminders(world.app.pool, context.connection);
  const id = reminder?.id ?? 0;

  world.dropReplies(true);
  await expect(sendReminder(context, id, never)).rejects.toMatchObject({
    code: 'mail.outcome-unknown',
    retry: 'later',
  });
  world.dropReplies(false);
  expect(await sendReminder(context, id, never)).toBe('sent');
  expect(await sendReminder(context, id, never)).toBe('sent');
  expect(world.mails).toHaveLength(2);
  expect(world.mails[0]?.messageId).toMatch(/^<.+>$/);
  expect(world.mails[1]?.messageId).toBe(world.mails[0]?.messageId);
});

test('a follow-up that was cleared after the last sync is not mailed', async () => {
  await using world = await setUp('anna@example.com');
  world.fallDue(60_000);
  await runJob(world.app, 'default', { job: 'sync', allow: [] }, never);
  world.clear();
  await sendDueReminders(world.app, never);
  expect(world.mails).toEqual([]);
});
