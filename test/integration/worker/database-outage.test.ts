import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rename } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { runHandlers, syncQueue } from '../../../jobs/runs.ts';
import type { JobHandler } from '../../../src/queue/work.ts';
import { openDatabase, streamRows } from '../../../src/store/database.ts';
import { TcpProxy } from '../../chaos/rounds/tcp-proxy.ts';
import type { CliProcess } from '../../support/cli.ts';
import { Exposition } from '../../support/exposition.ts';
import { jobPlaces, startRedis } from '../../support/redis.ts';
import { slackMs, until } from '../../support/until.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly port?: number;
}

function logged({ stderr }: { readonly stderr: string }): Line[] {
  const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Line);
}

const jumpingClock = `--import=${new URL('../../support/jumping-clock.ts', import.meta.url).href}`;

function portOf(worker: CliProcess): number {
  return logged(worker).find(({ msg }) => msg === 'worker is ready')?.port ?? 0;
}

/** Asks a worker that is ready for a page: its status and text. */
function pagesOf(worker: CliProcess): (path: string) => Promise<string> {
  const port = portOf(worker);
  return async (path) => {
    const response = await fetch(`http://127.0.0.1:${port}/${path}`);
    return `${response.status} ${await response.text()}`;
  };
}

/** The exit code of the image's health check. */
async function checkHealth(worker: CliProcess): Promise<number | null> {
  const dockerfile = await readFile(new URL('../../../Dockerfile', import.meta.url), 'utf8');
  const [, command = ''] = /^HEALTHCHECK .*\n +CMD (.*)$/m.exec(dockerfile) ?? [];
  const [file = '', ...args] = JSON.parse(command) as string[];
  const env = { PATH: process.env['PATH'], PORT: String(portOf(worker)) };
  return (await once(spawn(file, args, { env }), 'exit'))[0] as number | null;
}

test('connections of the queue that break while they are in use end no process', async () => {
  await using workspace = await Workspace.open();
  await using app = await workspace.openApp();
  const queue = (await app.queues()).queue('q');
  let done = 0;
  await using _worker = queue.work({ job: async () => ({ done: (done += 1) }) }, 4);
  const added: Promise<unknown>[] = [];
  for (let round = 0; round < 20; round++) {
    for (let job = 0; job < 10; job++) added.push(queue.add('job', {}).catch((error: unknown) => error));
    await workspace.database.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'leadsync-queue' and datname = current_database()`,
    );
  }
  const broken = (await Promise.all(added)).filter((outcome) => outcome instanceof Error);
  expect(broken.length).toBeGreaterThan(0);
  // The first may still get a connection that is being ended.
  const last = await vi.waitUntil(() => queue.add('job', {}).catch(() => undefined), { timeout: 30_000 });
  await last.finished(new AbortController().signal);
  expect(done).toBeGreaterThan(0);
});

test('a sync whose database breaks off is taken up again and does not fail', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const url = new URL(workspace.database.url);
  await using cable = await TcpProxy.open(Number(url.port));
  url.port = String(cable.port);
  workspace.env['DATABASE_URL'] = url.href;
  await using app = await workspace.openApp();
  const { sync, ...others } = runHandlers(app);
  let attempts = 0;
  const watched = async (...asked: Parameters<JobHandler>) => {
    attempts += 1;
    return sync(...asked).finally(() => cable.heal());
  };
  workspace.sandbox.set({ faults: [{ kind: 'slow', ms: 500, when: { once: 1 }, on: ['list'] }] });
  const queue = (await app.queues()).queue(syncQueue);
  const job = await queue.add('sync', { connection: connectionName, allow: ['first-leads'], maxAttempts: 1 });
  await using _worker = queue.work({ ...others, sync: watched });
  await expect.poll(() => workspace.sandbox.stats.byRoute.list).toBe(1);
  cable.refuse();
  expect(await job.finished(new AbortController().signal)).toEqual({ runId: expect.any(Number) });
  expect(attempts).toBeGreaterThan(1);
  expect(workspace.sheet.rows()).toHaveLength(3);
});

for (const [where, tags] of Object.entries(jobPlaces))
  test(`the database is away for a while, jobs in ${where}: a line when it begins and one when it is over; the metrics are there meanwhile`, {
    // The health check of the image is written in bash.
    tags: [...tags, 'bash'],
  }, async () => {
    await using redis = where === 'Redis' ? await startRedis() : null;
    await using workspace = await Workspace.open({
      sandbox: { leads: 5, faults: [{ kind: 'slow', ms: 1_000, when: { every: 1 }, on: ['list', 'get'] }] },
      connection: { reminders: { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' } },
      ...(redis && { redis }),
    });
    const url = new URL(workspace.database.url);
    await using cable = await TcpProxy.open(Number(url.port));
    url.port = String(cable.port);
    const env = { DATABASE_URL: url.href, NODE_OPTIONS: jumpingClock };
    const worker = workspace.start(['worker'], { env });
    const { sandbox } = workspace;
    await until(
      'a sync is under way',
      () => worker.stderr.includes('worker is ready') && sandbox.stats.byRoute.list > 0,
    );
    const get = pagesOf(worker);
    const isUp = async (): Promise<number | undefined> =>
      new Exposition((await get('metrics')).replace('200 ', '')).value('leadsync_database_up');
    expect(await isUp()).toBe(1);

    cable.refuse();
    await until('it is noticed', () => worker.stderr.includes('the database is unavailable'));
    // Each second every job is tried again.
    await sleep(3_000);
    expect(await isUp()).toBe(0);
    expect([await get('readyz'), await get('healthz')]).toEqual([
      '503 the database does not answer\n',
      '200 ok\n',
    ]);
    worker.child.kill('SIGUSR2');
    await until('it is told once more', () => worker.stderr.includes('still unavailable'));
    expect([await get('healthz'), await checkHealth(worker)]).toEqual([
      '503 the database has been unavailable for too long\n',
      1,
    ]);
    cable.heal();
    await until('it is over', () => worker.stderr.includes('the database is available again'));
    expect([await isUp(), await get('healthz'), await checkHealth(worker)]).toEqual([1, '200 ok\n', 0]);
    await until('the sync is done', async () => {
      const { rowCount } = await workspace.database.pool.query(`select from runs where status = 'succeeded'`);
      return rowCount === 1;
    });
    const { stderr } = await worker.kill('SIGTERM');
    const lines = logged({ stderr }).filter(({ level, msg }) => level > 30 || msg.includes('database'));
    expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
      '40 the database is unavailable: work that needs it waits, nothing is lost',
      '50 the database is still unavailable',
      '30 the database is available again',
    ]);
  });

test('a database whose disk is full, while it still answers, is away like any other: told once, and a run waits for it as long as it takes', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const { pool } = workspace.database;
  await pool.query(
    `create function no_space() returns trigger language plpgsql as
       $$ begin raise exception 'No space left on device' using errcode = 'disk_full'; end $$;
     create trigger no_space before insert on run_sights execute function no_space()`,
  );
  const worker = workspace.start(['worker']);
  // For longer than the pause between two looks at the database.
  await until('it was tried again and again', () => workspace.sandbox.stats.byRoute.list > 8);
  await pool.query('drop function no_space cascade');
  await until('it is over', () => worker.stderr.includes('the database is available again'));
  await until('the sync is done', () => worker.stderr.includes('a sync succeeded'));
  const { stderr } = await worker.kill('SIGTERM');
  const lines = logged({ stderr }).filter(({ level, msg }) => level > 30 || msg.includes('database'));
  expect(lines).toMatchObject([
    { level: 40, reason: 'No space left on device' },
    { level: 30, msg: 'the database is available again' },
  ]);
});

test('a worker whose bundled Postgres cannot be started again says so at each try, and ends when that has gone on for minutes', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const env = { DATABASE_URL: undefined, NODE_OPTIONS: jumpingClock };
  const worker = workspace.start(['worker'], { env });
  await until('the worker is ready', () => worker.stderr.includes('worker is ready'));
  const get = pagesOf(worker);
  const folder = join(workspace.folder, 'data', 'postgres');
  const pid = Number.parseInt(await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10);
  await rename(folder, join(workspace.folder, 'away'));
  process.kill(pid, 'SIGKILL');
  const attempts = (): number => logged(worker).filter(({ msg }) => msg.includes('did not start')).length;
  await until('it was tried twice', () => attempts() === 2);
  expect([await get('healthz'), await get('readyz')]).toEqual([
    '200 ok\n',
    '503 the database does not answer\n',
  ]);
  worker.child.kill('SIGUSR2');
  const { code, stderr } = await worker.ended;
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/"code":"database\.lost","msg":"leadsync: .* unavailable for 6 minutes /),
  });
  expect(logged({ stderr })).toContainEqual(
    expect.objectContaining({ level: 50, err: expect.objectContaining({ code: 'database.lost' }) }),
  );
});

test('a worker whose database says nothing more ends within ten seconds of SIGTERM', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const url = new URL(workspace.database.url);
  await using cable = await TcpProxy.open(Number(url.port));
  url.port = String(cable.port);
  const worker = workspace.start(['worker'], { env: { DATABASE_URL: url.href } });
  await until('the worker is at work', () => worker.stderr.includes('"worker is ready"'));
  cable.silence();
  const from = Date.now();
  const { code } = await worker.kill('SIGTERM');
  expect(code).not.toBeNull();
  expect(Date.now() - from).toBeLessThan(10_000 + slackMs);
});

test.each([
  ['the cable breaks', 'reads on'],
  ['the cable breaks', 'reads no more'],
  ['the session ends', 'reads on'],
  ['the session ends', 'reads no more'],
])('reading many rows: %s, and who %s is told', async (what, then) => {
  await using workspace = await Workspace.open();
  const url = new URL(workspace.database.url);
  await using cable = await TcpProxy.open(Number(url.port));
  url.port = String(cable.port);
  const pool = openDatabase({ connectionString: url.href });
  let seen = 0;
  const read = async (): Promise<void> => {
    for await (const { pid } of streamRows<{ pid: number }>(
      pool,
      'select pg_backend_pid() as pid, generate_series(1, $1::int)',
      [1_000_000],
    )) {
      seen += 1;
      if (seen !== 700) continue;
      if (what === 'the cable breaks') cable.refuse();
      else await workspace.database.pool.query('select pg_terminate_backend($1, 5000)', [pid]);
      if (then === 'reads no more') throw new Error('for a reason of its own');
    }
  };
  await expect(read()).rejects.toThrow();
  expect(seen).toBeLessThan(1_000_000);
  await pool.end();
});

test('who stops reading rows early leaves no connection busy', async () => {
  await using workspace = await Workspace.open();
  const { pool } = workspace.database;
  for await (const _row of streamRows(pool, 'select generate_series(1, $1::int)', [1_000_000])) break;
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
});

/** What Postgres says to each session when its server dies (PostgreSQL, Message Formats: ErrorResponse). */
function fatal(): Buffer {
  const fields = Buffer.from('SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0');
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(4 + fields.length, 1);
  return Buffer.concat([head, fields]);
}

test.each([1, 4, 9, 20])(
  'a server that dies at question %i of a worker that starts is an outage',
  async (last) => {
    await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
    const url = new URL(workspace.database.url);
    const { port: postgres } = url;
    let questions = 0;
    const dying = createServer((near) => {
      near.on('error', () => {});
      if (questions >= last) return near.destroy();
      const far = connect(Number(postgres), '127.0.0.1');
      far.on('error', () => {}).on('close', () => near.destroy());
      far.on('data', (chunk) => near.write(chunk));
      near.on('close', () => far.destroy());
      near.on('data', (chunk) => {
        // Query, or Parse, of a client that is in.
        if (chunk[0] === 0x51 || chunk[0] === 0x50) questions += 1;
        if (questions < last) far.write(chunk);
        else near.end(fatal(), () => far.destroy());
      });
      return near;
    });
    await new Promise<void>((resolve) => dying.listen(0, '127.0.0.1', resolve));
    url.port = String((dying.address() as AddressInfo).port);
    const { code, stderr } = await workspace.start(['worker'], { env: { DATABASE_URL: url.href } }).ended;
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/"code":"(?:database\.un|queue\.un)\w+","msg":"leadsync: /),
    });
    await new Promise((resolve) => dying.close(resolve));
  },
);

test('a server that dies in the moment in which it has let somebody in ends no process', async () => {
  await using workspace = await Workspace.open();
  const url = new URL(workspace.database.url);
  const { port: postgres } = url;
  const ready = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
  const dying = createServer((near) => {
    const far = connect(Number(postgres), '127.0.0.1');
    near
      .on('error', () => far.destroy())
      .on('close', () => far.destroy())
      .pipe(far);
    far.on('error', () => near.destroy());
    // In one piece, so that both are read before anybody can do anything in between.
    far.on('data', (chunk) => {
      if (chunk.subarray(-ready.length).equals(ready)) near.end(Buffer.concat([chunk, fatal()]));
      else near.write(chunk);
    });
  });
  await new Promise<void>((resolve) => dying.listen(0, '127.0.0.1', resolve));
  url.port = String((dying.address() as AddressInfo).port);
  const pool = openDatabase({ connectionString: url.href });
  const faults = await Promise.all(
    [1, 2, 3].map(() => pool.query('select 1').catch((error: unknown) => error)),
  );
  expect(faults.every((fault) => fault instanceof Error)).toBe(true);
  await pool.end();
  await new Promise((resolve) => dying.close(resolve));
});
