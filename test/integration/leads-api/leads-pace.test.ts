import { expect, test } from 'vitest';
import { Secret } from '../../../src/config/secret.ts';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { LeadsClient } from '../../../src/leads-api/leads-client.ts';
import { readPace, refused } from '../../../src/leads-api/rate-limiter.ts';
import { type Sandbox, startSandbox } from '../../../src/demo/sandbox.ts';
import { openDatabase } from '../../../src/store/database.ts';
import { createThrottle } from '../../../src/store/services.ts';
import { type Clock, steadyClock } from '../../../src/ports/clock.ts';
import type { LeadsPort } from '../../../src/ports/leads-service.ts';
import { Workspace } from '../../support/workspace.ts';
import { useScenes } from '../store/store-scene.ts';

const scene = useScenes();
const never = new AbortController().signal;

/** A client as that of a process of its own, whose clock is n ms ahead. */
function openProcess(
  { url, apiKey }: Sandbox,
  stack: AsyncDisposableStack,
  aheadMs = 0,
): { leads: LeadsPort; look: () => Promise<unknown> } {
  const pool = stack.adopt(openDatabase({ connectionString: scene().url }), (opened) => opened.end());
  const clock: Clock = { now: () => steadyClock.now() + aheadMs, random: () => steadyClock.random() };
  const throttle = createThrottle(pool, url, apiKey, clock);
  const leads = stack.use(
    new LeadsClient({ baseUrl: url, apiKey: new Secret(apiKey), query: {}, throttle, clock }),
  );
  return { leads, look: async () => (await throttle.look()).pace };
}

/** n answered requests, as a job that comes back when its wait is over. */
async function ask(leads: LeadsPort, id: string, answers: number): Promise<void> {
  for (let count = 0; count < answers; ) {
    try {
      await leads.get(id, never);
      count += 1;
    } catch (error) {
      if (!(error instanceof LeadsyncError) || error.retryAfterMs === undefined) throw error;
      const { retryAfterMs } = error;
      await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
    }
  }
}

test('processes with one key keep one pace, and what they learned is known to the next one', async () => {
  await using stack = new AsyncDisposableStack();
  // A client that waits only when the service says so meets the limit after some 6 requests, again and again.
  const rate = { perSecond: 20, burst: 5 };
  // Another process's 429 is seen at the next look, which may be half a second old when a request leaves; on a busy machine it
  // takes its time to be stored and to arrive. Each wait is a second.
  const sandbox = stack.use(await startSandbox({ leads: 1, rate, earlyGraceMs: 900 }));
  const [id = ''] = sandbox.leads.list().map((lead) => lead.id);
  const one = openProcess(sandbox, stack);
  const other = openProcess(sandbox, stack, 3 * 3_600_000);
  // The first 429 may find requests of other processes under way.
  await ask(one.leads, id, 12);
  await Promise.all([ask(one.leads, id, 40), ask(other.leads, id, 40)]);
  expect(sandbox.stats.early).toBe(0);
  expect(sandbox.stats.throttled).toBeLessThan(10);

  const learned = readPace(await one.look(), Date.now());
  expect(learned?.rate).toBeGreaterThan(2);
  expect(learned?.rate).toBeLessThan(60);
  sandbox.set({ rate: undefined });
  const from = sandbox.log.length;
  const next = openProcess(sandbox, stack, -5 * 3_600_000);
  await ask(next.leads, id, 10);
  const times = sandbox.log.slice(from).map(({ at }) => at);
  expect(times).toHaveLength(10);
  // It begins where the others left off: nine gaps, and none as short as those of a client without a pace.
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan((9 / 120) * 1000);
});

test('at a slow pace edits and new leads get there, though what is done for each begins anew after a wait', async () => {
  const terse = { updateReply: 'nothing-204', createReply: 'location' } as const;
  await using workspace = await Workspace.open({ sandbox: { leads: 1, ...terse } });
  const { sandbox, sheet } = workspace;
  await workspace.sync();
  sheet.edit(() => true, { City: 'Ulm' });
  sheet.add({ Company: 'New AG' });
  await using app = await workspace.openApp();
  const throttle = createThrottle(app.pool, sandbox.url, sandbox.apiKey, steadyClock);
  const pace = refused(null, steadyClock.now(), 0);
  // A request in two and a half seconds; what takes longer than two is put off where it can be.
  await throttle.pauseUntil(steadyClock.now(), { ...pace, rate: 0.4, step: 1e-9 });
  const report = await workspace.sync();
  expect(report).toMatchObject({ status: 'succeeded', created: { leads: 1 }, updated: { leads: 1 } });
  // A page; a look, the write, a look at what it did, and the receipt; the same for the new lead without the first look.
  expect(report.requests.leads).toBe(1 + 4 + 3);
  const { rows } = await app.pool.query(`select max(attempts) as most from actions`);
  expect(rows, 'a try that sent nothing is none').toEqual([{ most: 1 }]);
});

test('a key that was never limited costs one look for all requests of a quarter of a second', async () => {
  await using stack = new AsyncDisposableStack();
  const sandbox = stack.use(await startSandbox({ leads: 1 }));
  const { url, apiKey } = sandbox;
  const [id = ''] = sandbox.leads.list().map((lead) => lead.id);
  const pool = stack.adopt(openDatabase({ connectionString: scene().url }), (opened) => opened.end());
  const throttle = createThrottle(pool, url, apiKey, steadyClock);
  const statements: string[] = [];
  const query = pool.query.bind(pool);
  Object.assign(pool, {
    query: (text: string, values: unknown[]) => {
      statements.push(text);
      return query(text, values);
    },
  });
  const leads = stack.use(new LeadsClient({ baseUrl: url, apiKey: new Secret(apiKey), query: {}, throttle }));
  const from = performance.now();
  for (let count = 0; count < 50; count++) await leads.get(id, never);
  expect(statements.length).toBeLessThanOrEqual(1 + (performance.now() - from) / 250);
  expect(new Set(statements).size).toBe(1);
});
