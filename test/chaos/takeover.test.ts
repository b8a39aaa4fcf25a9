import { expect, test } from 'vitest';
import { type MailServerOptions, startMailServer } from '../support/mail-server.ts';
import { jobPlaces, startRedis } from '../support/redis.ts';
import { messageId } from '../support/reminder-worker.ts';
import { until } from '../support/until.ts';
import { Workspace } from '../support/workspace.ts';

const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };
/** A schedule that does not come due while a test runs, nor is made up for. */
const sync = { schedule: `0 0 ${new Date(Date.now() - 2 * 24 * 3_600_000).getUTCDate()} 1 *` };

const count = 300;

/** Two workers that share the mails and have sent some. */
async function atWork(where: string) {
  await using stack = new AsyncDisposableStack();
  const arrivals: number[] = [];
  const taken = (): null => {
    arrivals.push(Date.now());
    return null;
  };
  // Some forty a second, on three connections.
  const slow: MailServerOptions['onRcptTo'] = (_address, _session, callback) => void setTimeout(callback, 75);
  const server = stack.use(await startMailServer({ taken, onRcptTo: slow }));
  const redis = where === 'Redis' ? stack.use(await startRedis()) : undefined;
  const workspace = stack.use(
    await Workspace.open({
      connection: { reminders, sync },
      env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
      ...(redis && { redis }),
    }),
  );
  for (let n = 0; n < count; n++) {
    const nextFollowUpAt = new Date(Date.now() - 1_000 - count + n).toISOString();
    workspace.sandbox.leads.add({ companyName: `Lead${String(n).padStart(4, '0')}`, nextFollowUpAt });
  }
  await workspace.sync();
  const workers = [workspace.start(['worker']), workspace.start(['worker'])];
  await until('mails arrive', () => server.mails.length >= 40);
  const { pool } = workspace.database;
  const { rows } = await pool.query<{ holder: string; session: number; token: string }>(
    `select holder, backend_pid as session, token from leases where name like 'mails %'`,
  );
  const pid = Number(rows[0]?.holder.split(':').at(-1));
  const sender = workers.find(({ child }) => child.pid === pid);
  const owned = stack.move();
  return {
    pool,
    arrivals,
    sender,
    other: workers.find((one) => one !== sender),
    session: rows[0]?.session,
    /** How many the sender was handing over when it ended. */
    inFlight: async () => {
      const text = `select from mails where state = 'sending' and sender = $1`;
      return (await pool.query(text, [rows[0]?.token])).rowCount ?? 0;
    },
    states: async (): Promise<Record<string, number>> => {
      const { rows: found } = await pool.query<{ state: string; count: number }>(
        `select state, count(*)::int as count from mails group by state`,
      );
      return Object.fromEntries(found.map((row) => [row.state, row.count]));
    },
    /** Message-IDs that came more than once. */
    twice: (): readonly string[] => {
      const ids = Map.groupBy(server.mails, ({ source }) => messageId(source));
      return [...ids].flatMap(([id, mails]) => (mails.length > 1 ? [id] : []));
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

for (const [where, tags] of Object.entries(jobPlaces))
  test(`a worker is killed amid its mails (jobs in ${where}): the other goes on before the queue notices, and sends none twice`, {
    tags,
  }, async () => {
    await using scene = await atWork(where);
    await scene.sender?.kill('SIGKILL');
    const killedAt = Date.now();
    const sending = await scene.inFlight();
    // What had left the dead one arrives at once.
    const next = (): number | undefined => scene.arrivals.find((at) => at > killedAt + 100);
    await until('the other one goes on', () => next() !== undefined);
    // The queue gives the jobs of a dead worker back after half a minute.
    expect((next() ?? Infinity) - killedAt).toBeLessThan(20_000);
    await until('all but those in flight are sent', async () => !('scheduled' in (await scene.states())));
    await scene.other?.kill('SIGTERM');
    expect(await scene.states()).toEqual({ sent: count - sending, ...(sending > 0 && { sending }) });
    expect(scene.twice()).toEqual([]);
  });

test('a worker is only thought dead, since its session broke: both go on, and no mail comes twice', async () => {
  await using scene = await atWork('Postgres');
  await scene.pool.query(`select pg_terminate_backend($1)`, [scene.session]);
  await until('all are sent', async () => (await scene.states())['sent'] === count);
  // Either notices it.
  expect(`${scene.sender?.stderr}${scene.other?.stderr}`).toContain('a worker ended amid its mails');
  expect(scene.arrivals).toHaveLength(count);
  expect(scene.twice()).toEqual([]);
});
