import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterEach, expect, test, vi } from 'vitest';
import { isDatabaseOutage } from '../../../src/postgres/database-outage.ts';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { signOfLifeMs, transaction } from '../../../src/store/database.ts';
import { useScenes } from './store-scene.ts';

const scene = useScenes();

/** The end of a connection; an error before it is none of ours. */
const endOf = (db: pg.PoolClient): Promise<void> =>
  new Promise((resolve) => void db.once('end', () => resolve()));

async function terminate(pool: pg.Pool, db: pg.PoolClient): Promise<void> {
  const ended = endOf(db);
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
  await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await ended;
}

test('a connection that breaks between two statements of a transaction is an outage', async () => {
  const { pool } = scene();
  const work = transaction(pool, async (db) => {
    await terminate(pool, db);
    await db.query('select 1');
  });
  const fault: unknown = await work.catch((error: unknown) => error);
  expect(isDatabaseOutage(fault), String(fault)).toBe(true);
});

test('what the work itself found out is told, also when the connection broke', async () => {
  const { pool } = scene();
  const found = new LeadsyncError('run.lease-lost', 'another process works on this connection now');
  const work = transaction(pool, async (db) => {
    await terminate(pool, db);
    throw found;
  });
  await expect(work).rejects.toBe(found);
});

test('a process that is paused in the middle of a transaction keeps its locks for a minute and no longer', async () => {
  const { pool } = scene();
  const { rows } = await pool.query(`show idle_in_transaction_session_timeout`);
  expect(rows).toEqual([{ idle_in_transaction_session_timeout: '1min' }]);
  const work = transaction(pool, async (db) => {
    const ended = endOf(db);
    await db.query(`set local idle_in_transaction_session_timeout = '50ms'`);
    await ended;
    await db.query('select 1');
  });
  const fault: unknown = await work.catch((error: unknown) => error);
  expect(isDatabaseOutage(fault), String(fault)).toBe(true);
});

afterEach(() => void vi.useRealTimers());

test('a transaction whose process lives may wait for something else for as long as that takes', async () => {
  const { pool } = scene();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const answer = await transaction(pool, async (db) => {
    await db.query(`set local idle_in_transaction_session_timeout = '2s'`);
    for (const end = performance.now() + 5_000; performance.now() < end; ) {
      await sleep(200);
      vi.advanceTimersByTime(signOfLifeMs);
    }
    return db.query('select 1 as one');
  });
  expect(answer.rows).toEqual([{ one: 1 }]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a transaction whose server is silent gives one sign of life, not a line of them', async () => {
  const { pool } = scene();
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const other = await pool.connect();
  try {
    await other.query('select pg_advisory_lock(7)');
    await transaction(pool, async (db) => {
      const asked = vi.spyOn(db, 'query');
      const work = db.query('select pg_advisory_xact_lock(7)');
      vi.advanceTimersByTime(5 * signOfLifeMs);
      expect(asked.mock.calls).toEqual([['select pg_advisory_xact_lock(7)'], ['select 1']]);
      await other.query('select pg_advisory_unlock(7)');
      await work;
      // Its answer comes after that of the sign.
      await db.query('select 2');
      vi.advanceTimersByTime(signOfLifeMs);
      expect(asked).toHaveBeenCalledTimes(4);
    });
  } finally {
    other.release(true);
  }
});

test('a session outlives a request to a service: its turn would end with it', () => {
  expect(scene().pool.options.idleTimeoutMillis).toBeGreaterThan(65_000);
});
