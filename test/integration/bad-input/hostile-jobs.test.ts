import { pino } from 'pino';
import { expect, test } from 'vitest';
import { mailHandlers } from '../../../jobs/mails.ts';
import { runHandlers } from '../../../jobs/runs.ts';
import { openQueues } from '../../../src/queue/queue.ts';
import { createTestDatabase } from '../../support/database.ts';
import { Workspace } from '../../support/workspace.ts';
import { never } from '../leads-api/leads-api-server.ts';

test('a job that nobody wrote is done by nobody, whatever it is called', async () => {
  const database = await createTestDatabase();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => database.drop());
  const backend = { kind: 'postgres', connectionString: database.url } as const;
  const queues = stack.use(await openQueues(backend, pino({ level: 'silent' }), 1));
  const queue = queues.queue('test');
  stack.use(queue.work({ known: async () => ({ done: {} }) }));
  for (const name of ['constructor', 'toString', '__proto__']) {
    const job = await queue.add(name, { done: 'yes' });
    await expect(job.finished(never)).rejects.toMatchObject({ code: 'queue.job-failed' });
  }
});

test('a payload that nobody wrote is refused before anything is done for it', async () => {
  await using workspace = await Workspace.open();
  await using app = await workspace.openApp();
  const job = { requestedAt: Date.now() };
  const foreign: unknown[] = [
    null,
    'main',
    { connection: ['main'] },
    { connection: 'main', maxAttempts: '3; drop' },
  ];
  const runs = runHandlers(app);
  for (const handle of Object.values({ ...runs, ...mailHandlers(app) })) {
    for (const payload of foreign)
      await expect(handle(payload, job, never)).rejects.toMatchObject({ name: 'ZodError' });
  }
  const elsewhere = { connection: '__proto__', allow: [], maxAttempts: 1 };
  // It may be one of a newer worker's; an old one's job is dropped.
  expect(await runs.sync(elsewhere, job, never)).toEqual({ againAfterMs: 5_000 });
  expect(await runs.sync(elsewhere, { requestedAt: 0 }, never)).toEqual({ done: { runId: null } });
  expect(workspace.sandbox.log).toEqual([]);
});

test('a crash prints what happened, and nothing that hangs on the error', async () => {
  await using workspace = await Workspace.open();
  const crash = `const waiting = setInterval(() => {
    if (process.listenerCount('SIGTERM') === 0) return;
    clearInterval(waiting);
    const args = [process.env.CRASH_PASSWORD];
    Promise.reject(Object.assign(new Error('boom'), { command: { name: 'auth', args } }));
  });`;
  const env = {
    CRASH_PASSWORD: 'not-to-be-seen',
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(crash)}`,
  };
  // The process itself looks for its secrets in what it printed.
  const { code, stderr } = await workspace.start(['worker'], { env }).ended;
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(
      /^\{"level":50,.*"code":"internal","stack":"Error: boom\\n {4}at .*"msg":"leadsync: boom \[internal\]/,
    ),
  ]);
  expect(stderr).not.toContain('not-to-be-seen');
});
