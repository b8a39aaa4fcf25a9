import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { administrate } from '../../support/administrate.ts';
import { startMailServer } from '../../support/mail-server.ts';
import { jobPlaces, startRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { startWorker, yearly } from '../../support/worker.ts';
import { Workspace } from '../../support/workspace.ts';

const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC', before: ['0m'] };

/** The passwords of before and after. */
const [before, after] = ['a-password-of-before', 'a-password-of-after'];

for (const [where, tags] of Object.entries(jobPlaces))
  test(`passwords in files that are changed while a worker runs, jobs in ${where}: it logs in with the new ones, and goes on`, {
    tags,
  }, async () => {
    await using stack = new AsyncDisposableStack();
    const server = inject('databaseUrl');
    const role = `user_${randomUUID().replaceAll('-', '')}`;
    await administrate(server, `create role ${role} superuser login password '${before}'`);
    stack.defer(() => administrate(server, `drop role ${role}`));
    const redis = where === 'Redis' ? stack.use(await startRedis()) : null;
    let password = before;
    const mailServer = stack.use(
      await startMailServer({
        disabledCommands: ['STARTTLS'],
        onAuth: ({ password: said }, _session, done) =>
          done(said === password ? null : new Error('Invalid login'), { user: 'mailer' }),
      }),
    );
    const workspace = stack.use(await Workspace.open({ connection: { sync: yearly, reminders } }));
    const url = new URL(workspace.database.url);
    const files = { DATABASE_URL: '', SMTP_URL: '', ...(redis && { REDIS_URL: '' }) };
    const addresses = (of: string): Record<string, string> => ({
      DATABASE_URL: `postgres://${role}:${of}@${url.host}${url.pathname}`,
      SMTP_URL: `smtp://mailer:${of}@127.0.0.1:${mailServer.port}`,
      REDIS_URL: `redis://worker:${of}@127.0.0.1:${redis?.port}`,
    });
    const write = (of: string): void => {
      for (const variable of Object.keys(files))
        writeFileSync(join(workspace.folder, variable), `${addresses(of)[variable]}\n`);
    };
    write(before);
    const nextFollowUpAt = new Date(Date.now() + 40_000).toISOString();
    workspace.sandbox.leads.add({ companyName: 'Due AG', nextFollowUpAt });
    await redis?.command('ACL', 'SETUSER', 'worker', 'on', `>${before}`, '~*', '&*', '+@all');
    const { process, url: page } = await startWorker(workspace, {
      ...files,
      ...Object.fromEntries(
        Object.keys(files).map((variable) => [`${variable}_FILE`, join(workspace.folder, variable)]),
      ),
    });
    const mails = async (): Promise<number> =>
      (await workspace.database.pool.query(`select from mails where state = 'scheduled'`)).rowCount ?? 0;
    await until('the mail is planned', async () => (await mails()) === 1);

    await administrate(server, `alter role ${role} password '${after}'`);
    password = after;
    await redis?.command('ACL', 'SETUSER', 'worker', 'resetpass', `>${after}`);
    write(after);
    await redis?.command('CLIENT', 'KILL', 'USER', 'worker');
    await administrate(
      server,
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where usename = '${role}'`,
    );
    await until('it is ready', async () => (await fetch(`${page}/readyz`)).status === 200, 60_000);
    await until('the mail has left', () => mailServer.mails.length === 1, 60_000);
    await process.kill('SIGTERM');
    const lines = process.stderr.split('\n').filter(Boolean);
    expect(lines.filter((line) => !line.startsWith('{') || line.includes('"stack"'))).toEqual([]);
  });
