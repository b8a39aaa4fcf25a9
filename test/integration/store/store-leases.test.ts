import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase, transaction } from '../../../src/store/database.ts';
import { acquireLease, type Lease, leaseHolder } from '../../../src/store/leases.ts';
import { type Scene, useScenes } from './store-scene.ts';

const scene = useScenes();

async function take({ pool, connection }: Pick<Scene, 'pool' | 'connection'>): Promise<Lease> {
  const lease = await acquireLease(pool, connection);
  if (lease === null) throw new Error('the lease is held by another');
  return lease;
}

/** A process that holds the lease. */
async function holder({ url, connection }: Scene) {
  const path = fileURLToPath(new URL('lease-child.ts', import.meta.url));
  const child = spawn(process.execPath, [path, url, connection], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    said: said.toString().trim(),
    pid: child.pid,
    async kill(): Promise<void> {
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** What a worker that was paused longer than its lease lives finds when it wakes up. */
const expire = ({ pool, connection }: Scene) =>
  pool.query(`update leases set expires_at = now() - interval '1 s' where name = $1`, [connection]);

const assertHeld = ({ pool }: Pick<Scene, 'pool'>, lease: Lease) =>
  transaction(pool, (db) => lease.assertHeld(db));

/** The server has noticed that the session of the dead process is gone. */
const acquired = (here: Scene) =>
  vi.waitUntil(() => acquireLease(here.pool, here.connection), { timeout: 60_000 });

describe('a lease', () => {
  test('is held by one at a time', async () => {
    const here = scene();
    const lease = await take(here);
    expect(await acquireLease(here.pool, here.connection)).toBeNull();
    await assertHeld(here, lease);
    await lease[Symbol.asyncDispose]();
    await (await take(here))[Symbol.asyncDispose]();
  });

  test('is taken by one of many that come at once', async () => {
    const here = scene();
    const leases = await Promise.all([1, 2, 3, 4, 5].map(() => acquireLease(here.pool, here.connection)));
    const held = leases.filter((lease) => lease !== null);
    expect(held).toHaveLength(1);
    await held[0]?.[Symbol.asyncDispose]();
  });

  test('does not concern other names', async () => {
    const [here, other] = [scene(), scene()];
    await using one = await take(here);
    await using two = await take(other);
    await assertHeld(here, one);
    await assertHeld(other, two);
  });

  test('gives its connection back, taken or not', async () => {
    const here = scene();
    // More often than the pool has connections.
    for (let time = 0; time < 12; time++) {
      const lease = await take(here);
      expect(await acquireLease(here.pool, here.connection)).toBeNull();
      await lease[Symbol.asyncDispose]();
    }
    expect(here.pool.idleCount).toBe(here.pool.totalCount);
  });

  test('is not lost by being given back', async () => {
    const here = scene();
    const lease = await take(here);
    await lease[Symbol.asyncDispose]();
    expect(lease.lost.aborted).toBe(false);
    await expect(assertHeld(here, lease)).rejects.toMatchObject({ code: 'run.lease-lost', retry: 'later' });
  });
});

describe('of two users that see nothing of each other', () => {
  /** As `alter role … set role …` does: such a session may not even see when it began itself. */
  async function asUser({ url, pool }: Scene): Promise<pg.Pool> {
    const user = `user_${randomBytes(6).toString('hex')}`;
    await pool.query(
      `create role ${user}; grant usage on schema leadsync to ${user}; grant all on leadsync.leases, leadsync.keeper to ${user}`,
    );
    const opened = openDatabase({ connectionString: url });
    opened.on('connect', (client) => void client.query(`set role ${user}`));
    onTestFinished(async () => {
      await opened.end();
      await pool.query(`drop owned by ${user}; drop role ${user}`);
    });
    return opened;
  }

  test('one holds it at a time, each sees who, and a session that ends frees it at once', async () => {
    const here = scene();
    const [one, two] = [await asUser(here), await asUser(here)];
    const { connection } = here;
    const lease = await take({ pool: one, connection });
    expect(await acquireLease(two, here.connection)).toBeNull();
    expect(await leaseHolder(two, here.connection)).toMatch(new RegExp(`:${process.pid}$`));
    await assertHeld({ pool: two }, lease);
    await here.pool.query(`select pg_terminate_backend(backend_pid, 5000) from leases where name = $1`, [
      here.connection,
    ]);
    const next = await vi.waitUntil(() => acquireLease(two, here.connection), { timeout: 5_000 });
    expect(await acquireLease(one, here.connection)).toBeNull();
    await next[Symbol.asyncDispose]();
    await lease[Symbol.asyncDispose]();
    await (await take({ pool: one, connection }))[Symbol.asyncDispose]();
  });
});

describe('a process that was killed', () => {
  test('frees its lease at once, not when it would expire', async () => {
    const here = scene();
    const other = await holder(here);
    expect(other.said).toBe('held');
    expect(await acquireLease(here.pool, here.connection)).toBeNull();
    expect(await leaseHolder(here.pool, here.connection)).toMatch(new RegExp(`:${other.pid}$`));
    const killed = Date.now();
    await other.kill();
    const lease = await acquired(here);
    expect(Date.now() - killed).toBeLessThan(10_000);
    await assertHeld(here, lease);
    await lease[Symbol.asyncDispose]();
  });

  test('is no holder any more', async () => {
    const here = scene();
    const other = await holder(here);
    await other.kill();
    await vi.waitUntil(async () => (await leaseHolder(here.pool, here.connection)) === null, {
      timeout: 60_000,
    });
  });
});

describe('a worker that was paused past its lease', () => {
  test('claims nothing more, also while nobody else came', async () => {
    const here = scene();
    await using lease = await take(here);
    await expire(here);
    await expect(assertHeld(here, lease)).rejects.toMatchObject({ code: 'run.lease-lost', retry: 'later' });
    expect(lease.lost.aborted).toBe(true);
    expect(lease.lost.reason).toMatchObject({ code: 'run.lease-lost' });
  });

  test('loses it to the next who comes, and does not take it from him by giving up', async () => {
    const here = scene();
    const paused = await take(here);
    await expire(here);
    await using next = await take(here);
    await expect(assertHeld(here, paused)).rejects.toMatchObject({ code: 'run.lease-lost' });
    await assertHeld(here, next);
    await paused[Symbol.asyncDispose]();
    await assertHeld(here, next);
    expect(next.lost.aborted).toBe(false);
    expect(await acquireLease(here.pool, here.connection)).toBeNull();
  });

  test('does not take it from the next one when it ends without having noticed', async () => {
    const here = scene();
    const paused = await take(here);
    await expire(here);
    await using next = await take(here);
    await paused[Symbol.asyncDispose]();
    await assertHeld(here, next);
    expect(await acquireLease(here.pool, here.connection)).toBeNull();
  });

  test('nothing of the transaction in which it asked is committed', async () => {
    const here = scene();
    await using lease = await take(here);
    await expire(here);
    const work = transaction(here.pool, async (db) => {
      await db.query(`insert into services (scope) values ($1)`, [here.connection]);
      await lease.assertHeld(db);
    });
    await expect(work).rejects.toMatchObject({ code: 'run.lease-lost' });
    const { rowCount } = await here.pool.query(`select from services where scope = $1`, [here.connection]);
    expect(rowCount).toBe(0);
  });

  test('nobody takes over between the question and the commit, nor waits for it', async () => {
    const here = scene();
    await using lease = await take(here);
    await transaction(here.pool, async (db) => {
      await lease.assertHeld(db);
      expect(await acquireLease(here.pool, here.connection)).toBeNull();
      // A renewal does not wait for it, so that one that stays away means a lost connection.
      await expire(here);
      expect(await acquireLease(here.pool, here.connection)).toBeNull();
    });
    await using next = await take(here);
    await assertHeld(here, next);
  });
});

describe('a broken session', () => {
  test('is a lost lease, told at once, and free for others', async () => {
    const here = scene();
    const lease = await take(here);
    const lost = once(lease.lost, 'abort');
    await here.pool.query(`select pg_terminate_backend(l.backend_pid) from leases l where l.name = $1`, [
      here.connection,
    ]);
    await lost;
    expect(lease.lost.reason).toMatchObject({ code: 'run.lease-lost', retry: 'later' });
    await expect(assertHeld(here, lease)).rejects.toMatchObject({ code: 'run.lease-lost' });
    const next = await acquired(here);
    await lease[Symbol.asyncDispose]();
    await assertHeld(here, next);
    await next[Symbol.asyncDispose]();
  });
});

describe('renewal', () => {
  test('keeps a lease alive past its time, and tells when it was taken meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const here = scene();
      await using lease = await take(here);
      await here.pool.query(`update leases set expires_at = now() + interval '1 s' where name = $1`, [
        here.connection,
      ]);
      vi.advanceTimersByTime(10_000);
      await vi.waitUntil(async () => {
        const { rows } = await here.pool.query<{ left: number }>(
          `select extract(epoch from expires_at - now())::float8 as left from leases where name = $1`,
          [here.connection],
        );
        return (rows[0]?.left ?? 0) > 20;
      });
      await here.pool.query(`update leases set token = gen_random_uuid() where name = $1`, [here.connection]);
      const lost = once(lease.lost, 'abort');
      vi.advanceTimersByTime(10_000);
      await lost;
      expect(lease.lost.reason).toMatchObject({ code: 'run.lease-lost' });
    } finally {
      vi.useRealTimers();
    }
  });
});

test('a renewal that gets no answer is not asked again, until the lease counts as lost', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const here = scene();
    const acquired = vi.spyOn(here.pool, 'connect');
    await using lease = await take(here);
    const session = (await acquired.mock.results[0]?.value) as pg.PoolClient;
    const asked = vi.spyOn(session, 'query');
    await transaction(here.pool, async (db) => {
      await db.query(`select from leases where name = $1 for update`, [here.connection]);
      vi.advanceTimersByTime(29_000);
      expect(asked).toHaveBeenCalledTimes(1);
    });
    await assertHeld(here, lease);
  } finally {
    vi.useRealTimers();
  }
});

test('nobody holds what nobody took', async () => {
  const here = scene();
  expect(await leaseHolder(here.pool, here.connection)).toBeNull();
  const lease = await take(here);
  expect(await leaseHolder(here.pool, here.connection)).toMatch(new RegExp(`:${process.pid}$`));
  await lease[Symbol.asyncDispose]();
  expect(await leaseHolder(here.pool, here.connection)).toBeNull();
});
