import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { transaction } from '../../../src/store/database.ts';
import { endMove, noteMove } from '../../../src/store/keeper.ts';
import { acquireLease } from '../../../src/store/leases.ts';
import { moveLock } from '../../../src/store/migrate.ts';
import { beginSending, type Claim } from '../../../src/store/sending.ts';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { administrate } from '../../support/administrate.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { until } from '../../support/until.ts';
import { outbox, startWorker, yearly } from '../../support/worker.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };
const move = { at: '2031-01-05T09:00:00.000Z', file: '/backups/moving.backup', machine: 'old.example.com' };

/** With a mail that is due, and that nobody has planned so far. */
async function withMail(): Promise<Workspace> {
  const here = await Workspace.open({ connection: { reminders, sync: yearly } });
  here.sandbox.leads.add({
    companyName: 'Due AG',
    nextFollowUpAt: new Date(Date.now() - 1_000).toISOString(),
  });
  expect(await here.sync()).toMatchObject({ status: 'succeeded' });
  await here.rest();
  return here;
}

async function anotherDatabase(): Promise<TestDatabase & AsyncDisposable> {
  const made = await createTestDatabase({ empty: true });
  return { ...made, [Symbol.asyncDispose]: () => made.drop() };
}

/** Else this process counts as one that works with it. */
const closeSessions = ({ url }: TestDatabase): Promise<void> =>
  administrate(
    url,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );

const isWaited =
  ({ pool }: TestDatabase) =>
  async (): Promise<boolean> => {
    const { rowCount } = await pool.query(
      'select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())',
    );
    return rowCount !== 0;
  };

test('no worker and no command works with a state that has moved away; where it was restored each mail leaves once', async () => {
  await using here = await withMail();
  const file = join(here.folder, 'moving.backup');
  await closeSessions(here.database);
  expect(await here.cli('backup', file, '--move')).toMatchObject({ code: 0 });

  const requests = here.sandbox.log.length;
  const refused = async (...args: readonly string[]): Promise<void> => {
    const { code, stderr } = await here.cli(...args);
    expect([args, code, stderr]).toEqual([args, 1, expect.stringContaining('[state.moved]')]);
    expect(stderr).toContain(file);
    expect(stderr).toContain('leadsync resume');
  };
  await refused('worker');
  await refused('sync');
  await refused('status');
  await refused('resolve', '1', '--use', 'lead');
  await refused('resume', '--connection', connectionName);
  await refused('backup', join(here.folder, 'again.backup'), '--move');
  expect(here.sandbox.log).toHaveLength(requests);
  expect(await outbox(here)).toEqual([]);

  await using fresh = await anotherDatabase();
  const env = { DATABASE_URL: fresh.url };
  expect(await here.start(['restore', file], { env }).ended).toMatchObject({ code: 0 });
  const { process } = await startWorker(here, env);
  await until('the mail has left', async () => (await outbox(here)).length > 0);
  await refused('worker');
  expect((await process.kill('SIGTERM')).code).toBe(0);
  expect(await outbox(here)).toHaveLength(1);
});

test('resume takes back a state that was restored nowhere, and so does restore with the backup of what stayed', async () => {
  await using here = await withMail();
  await closeSessions(here.database);
  expect(await here.cli('backup', join(here.folder, 'moving.backup'), '--move')).toMatchObject({ code: 0 });
  const kept = join(here.folder, 'kept.backup');
  expect(await here.cli('backup', kept)).toMatchObject({ code: 0 });
  expect(await here.cli('resume')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^main: goes on with its next sync\nThe state, .*goes on here/),
  });
  expect(await here.cli('sync')).toMatchObject({ code: 0 });
  await startWorker(here);
  await until('the mail has left', async () => (await outbox(here)).length > 0);

  await using fresh = await anotherDatabase();
  const env = { DATABASE_URL: fresh.url };
  expect(await here.start(['restore', kept], { env }).ended).toMatchObject({ code: 0 });
  expect(await here.start(['status'], { env }).ended).toMatchObject({ stderr: '' });
});

test('the file of a move is no way back: what moved is still here; one that moved back goes on without a doubt', async () => {
  await using here = await withMail();
  await closeSessions(here.database);
  const there = join(here.folder, 'there.backup');
  expect(await here.cli('backup', there, '--move')).toMatchObject({ code: 0 });
  for (const args of [[], ['--replace']]) {
    const { code, stderr } = await here.cli('restore', there, ...args);
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining('[usage.moved-from-here]')]);
    expect(stderr).toContain('leadsync resume');
  }

  await using fresh = await anotherDatabase();
  const env = { DATABASE_URL: fresh.url };
  expect(await here.start(['restore', there], { env }).ended).toMatchObject({ code: 0 });
  here.sandbox.leads.add({ companyName: 'Later GmbH' });
  expect(await here.start(['sync'], { env }).ended).toMatchObject({ code: 0 });
  const back = join(here.folder, 'back.backup');
  expect(await here.start(['backup', back, '--move'], { env }).ended).toMatchObject({ code: 0 });
  const restored = await here.cli('restore', back, '--replace', '--json');
  expect(JSON.parse(restored.stdout)).toMatchObject({ restored: { doubted: [] } });
  expect(await here.cli('sync')).toMatchObject({ code: 0 });
});

test('the file of an earlier move is an older state, also where the state has moved away since', async () => {
  await using here = await withMail();
  await closeSessions(here.database);
  const [first, second] = ['first', 'second'].map((name) => join(here.folder, `${name}.backup`));
  expect(await here.cli('backup', first ?? '', '--move')).toMatchObject({ code: 0 });
  expect(await here.cli('resume')).toMatchObject({ code: 0 });
  expect(await here.cli('backup', second ?? '', '--move')).toMatchObject({ code: 0 });
  const restored = await here.cli('restore', first ?? '', '--replace', '--json');
  expect(JSON.parse(restored.stdout)).toMatchObject({ restored: { doubted: [connectionName] } });
});

test('a worker that was cut off while the state moved takes no work any more', async () => {
  await using here = await withMail();
  const { process: worker, url } = await startWorker(here);
  await until('the mail has left', async () => (await outbox(here)).length > 0);
  await noteMove(here.database.pool, move);
  await until('it has stopped', () => worker.stderr.includes('takes no work any more'));
  expect(worker.stderr).toContain('/backups/moving.backup on old.example.com');
  expect((await fetch(`${url}/readyz`)).status).toBe(503);
  await expect(acquireLease(here.database.pool, 'mails of it')).rejects.toMatchObject({
    code: 'state.moved',
  });
  expect(await worker.kill('SIGTERM')).toMatchObject({ code: 0 });
});

test('what starts while the state moves waits, and then refuses: a command, a run, a mail', async () => {
  await using here = await withMail();
  const { pool } = here.database;
  const moving = async (start: () => Promise<unknown>, ...locks: readonly string[]): Promise<unknown> => {
    const ended = await transaction(pool, async (db) => {
      for (const lock of locks) await db.query(lock);
      const started = start();
      started.catch(() => {});
      await until('it waits', isWaited(here.database));
      await noteMove(db, move);
      return { started };
    });
    return ended.started;
  };
  const back = (): Promise<boolean> => endMove(pool);
  const lease = moving(() => acquireLease(pool, 'a run'), 'lock table leases in share mode');
  await expect(lease).rejects.toMatchObject({ code: 'state.moved' });
  await back();

  await using app = await here.openApp();
  await planMails(app);
  const sender = randomUUID();
  const { rows: claims } = await pool.query<Claim>(
    `update mails set sender = $1 returning id, state, sender, sequence, (extract(epoch from send_at) * 1000)::float8 as "sendAt",
       0 as "firstTriedAt"`,
    [sender],
  );
  const begin = (): Promise<readonly boolean[]> => beginSending(pool, claims, sender);
  expect(await moving(begin, 'lock table mails in share mode')).toEqual([false]);
  await back();
  expect(await begin()).toEqual([true]);

  const pause = moving(() => here.cli('pause'), `select pg_advisory_xact_lock(${moveLock.join(', ')})`);
  expect(await pause).toMatchObject({ code: 1, stderr: expect.stringContaining('[state.moved]') });
});
