import type pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { codeOf, LeadsyncError } from '../../../src/lib/errors.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createThrottle } from '../../../src/store/services.ts';
import { steadyClock, systemClock } from '../../../src/ports/clock.ts';
import type { Throttle } from '../../../src/ports/leads-service.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { TcpProxy } from '../../chaos/rounds/tcp-proxy.ts';
import { until } from '../../support/until.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';
import { firstPage } from './leads-api-calls.ts';
import { client, json, key, never, startServer, type TestServer, thrown } from './leads-api-server.ts';
import { useScenes } from '../store/store-scene.ts';

const scene = useScenes();

interface FarThrottle {
  /** Between it and the database. */
  readonly cable: TcpProxy;
  readonly pool: pg.Pool;
  readonly throttle: Throttle;
  /** Statements that have failed so far. */
  readonly failed: () => number;
}

/** The throttle of a process of its own, whose cable to the database can be cut. */
async function openFarThrottle(
  stack: AsyncDisposableStack,
  baseUrl: string,
  clock = steadyClock,
): Promise<FarThrottle> {
  const url = new URL(scene().url);
  const cable = stack.use(await TcpProxy.open(Number(url.port)));
  url.port = String(cable.port);
  const pool = openDatabase({ connectionString: url.href });
  stack.defer(() => (pool.ended ? undefined : pool.end()));
  let failed = 0;
  const query = pool.query.bind(pool);
  Object.assign(pool, {
    query: (text: string, values: unknown[]) =>
      query(text, values).catch((error: unknown) => {
        failed += 1;
        throw error;
      }),
  });
  return { cable, pool, throttle: createThrottle(pool, baseUrl, key, clock), failed: () => failed };
}

/** Of a process that has the database all the time. */
const nearThrottle = ({ url }: TestServer): Throttle => createThrottle(scene().pool, url, key, systemClock);

/** A service that asks to wait; `one` loses the database with its reply, `other` has it all the time. */
async function openTwoClients(stack: AsyncDisposableStack) {
  const server = stack.use(
    await startServer((response) => {
      far.cable.refuse();
      json(response, 429, {}, { 'retry-after': '60' });
    }),
  );
  const far = await openFarThrottle(stack, server.url);
  const one = stack.use(client(server, { throttle: far.throttle }));
  const other = stack.use(client(server, { throttle: nearThrottle(server) }));
  return { server, far, one, other };
}

test('a 429 that comes when the database is away is known to all others when it is back', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, far, one, other } = await openTwoClients(stack);
  const told = thrown(one.list(firstPage, never));
  await until('it was tried again', () => far.failed() >= 3);
  far.cable.heal();
  expect(await told).toMatchObject({ code: 'leads.rate-limited', status: 429 });
  expect(await thrown(other.list(firstPage, never))).toMatchObject({ code: 'leads.rate-limited' });
  expect(server.seen).toHaveLength(1);
});

test('so it is when whoever asked was stopped meanwhile, which holds nobody up; the client itself waits at once', async () => {
  await using stack = new AsyncDisposableStack();
  const { server, far, one, other } = await openTwoClients(stack);
  const stop = new AbortController();
  const told = thrown(one.list(firstPage, stop.signal));
  await until('the database is missed', () => far.failed() >= 1);
  stop.abort();
  expect(await told).toBe(stop.signal.reason);
  expect(await thrown(one.list(firstPage, never))).toMatchObject({ code: 'database.unreachable' });
  far.cable.heal();
  // A pool whose server was away tries again after a pause.
  await until(
    'the database is found again',
    async () => codeOf(await thrown(one.list(firstPage, never))) === 'leads.rate-limited',
  );
  await until('it is noted', async () => (await nearThrottle(server).look()).notBefore > 0);
  expect(await thrown(other.list(firstPage, never))).toMatchObject({ code: 'leads.rate-limited' });
  expect(server.seen).toHaveLength(1);
});

test('a pause that is over before the database is back is not noted: its fault is told', async () => {
  await using stack = new AsyncDisposableStack();
  let now = 1_000_000;
  const far = await openFarThrottle(stack, 'https://leads.example', {
    now: () => (now += 500),
    random: Math.random,
  });
  far.cable.refuse();
  await expect(far.throttle.pauseUntil(now + 5_000)).rejects.toBeInstanceOf(LeadsyncError);
  expect(far.failed()).toBeGreaterThan(1);
});

test('who closes the database while it is away waits for no pause', async () => {
  await using stack = new AsyncDisposableStack();
  const far = await openFarThrottle(stack, 'https://leads.example');
  far.cable.refuse();
  const noting = thrown(far.throttle.pauseUntil(steadyClock.now() + 86_400_000));
  await until('the database is missed', () => far.failed() >= 1);
  await far.pool.end();
  expect(await noting).toBeInstanceOf(Error);
});

test('a run whose Postgres drops every connection while it notes a 429 has noted it all the same', async () => {
  await using workspace = await Workspace.open({
    sandbox: {
      leads: 1,
      faults: [{ kind: 'status', status: 429, retryAfter: { seconds: 60 }, when: { every: 1 }, on: [] }],
    },
  });
  const { sandbox, database } = workspace;
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  const context = { ...real, log: pino({ level: 'silent' }) };
  const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 3 } as const;
  const locker = await database.pool.connect();
  await locker.query('begin; lock table services in exclusive mode');
  const running = advanceRun(context, request, never);
  const here = 'from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  await until('it notes the pause', async () => {
    const { rowCount } = await database.pool.query(
      `select ${here} and wait_event_type = 'Lock' and query like 'insert into services%'`,
    );
    return rowCount === 1;
  });
  await locker.query(`select pg_terminate_backend(pid, 5000) ${here}`);
  await locker.query('commit');
  locker.release();
  expect(await running).toMatchObject({ kind: 'again', why: 'busy' });
  const throttle = createThrottle(database.pool, sandbox.url, sandbox.apiKey, systemClock);
  expect((await throttle.look()).notBefore).toBeGreaterThan(Date.now() + 50_000);
  await using other = client(sandbox, { throttle });
  expect(await thrown(other.list(firstPage, never))).toMatchObject({ code: 'leads.rate-limited' });
  expect(sandbox.stats.requests).toBe(1);
});
