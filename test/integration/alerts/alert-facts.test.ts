import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { clearedForMs } from '../../../src/alerts/problems-of.ts';
import { connectionFacts } from '../../../src/store/alerts.ts';
import { alertScene, pathKey } from './alert-scene.ts';

const hour = 3_600_000;
const minute = 60_000;

describe('what is held, and what mails become', () => {
  test('held items are told from ten on, again when they have doubled, and are over below ten', async () => {
    await using scene = await alertScene();
    await scene.succeed();
    const worker = scene.worker();
    const hold = async (count: number): Promise<void> => {
      await scene.pool.query(`delete from held`);
      await scene.pool.query(
        `insert into held (kind, connection, lead_id, code, message, last_run, last_round)
         select 'conflict', 'main', 'lead-' || n, 'x', 'x', 1, 1 from generate_series(1, $1) n`,
        [count],
      );
      await worker.check();
    };
    await hold(9);
    await hold(10);
    await hold(19);
    await hold(20);
    await hold(11);
    await hold(25);
    expect(scene.hooked()).toEqual([
      'leadsync: main: 10 items are held',
      'leadsync: main: 20 items are held',
    ]);
    // A person has decided: the next sync carries it out.
    await scene.pool.query(`update held set resolution = 'lead'`);
    await worker.check();
    scene.pass(clearedForMs);
    await worker.check();
    expect(scene.hooked().slice(2)).toEqual(['leadsync: main: over: 20 items are held']);
  });

  test('reminders: failed, missed after a try, late by an hour; not what was too late from the beginning', async () => {
    await using scene = await alertScene();
    await scene.succeed();
    const add = (id: string, columns: string, values: string): Promise<unknown> =>
      scene.pool.query(
        `insert into mails (connection, lead_id, due_at, recipient, offset_text, ${columns})
         values ('main', $1, now(), 'a@example.com', '0m', ${values})`,
        [id],
      );
    await add('sent', 'state, send_at', `'sent', now() - interval '1 h'`);
    await add('old', 'state, send_at', `'missed', now() - interval '5 days'`);
    await add('failed long ago', 'state, send_at, updated_at', `'failed', now(), now() - interval '25 h'`);
    await add('just planned', 'state, send_at', `'scheduled', now() - interval '5 h'`);
    await add(
      'put off',
      'state, send_at, first_tried_at',
      `'scheduled', now() + interval '1 h', now() - interval '9 h'`,
    );
    const facts = async (): Promise<unknown> => {
      await using client = await borrow(scene.pool);
      return (await connectionFacts(client.db, 'main', Date.now())).mails;
    };
    expect(await facts()).toEqual({ failed: 0, missed: 0, late: 0 });
    await add('failed', 'state, send_at', `'failed', now()`);
    await add('tried', 'state, send_at, attempts', `'missed', now(), 2`);
    await add(
      'in vain',
      'state, send_at, first_tried_at',
      `'scheduled', now() - interval '3 h', now() - interval '2 h'`,
    );
    await add(
      'untouched',
      'state, send_at, updated_at',
      `'scheduled', now() - interval '2 h', now() - interval '9 h'`,
    );
    expect(await facts()).toEqual({ failed: 1, missed: 1, late: 2 });
    const worker = scene.worker();
    await worker.check();
    expect(scene.hooked()).toEqual(['leadsync: main: reminders fail']);
    expect(scene.seen[0]?.body).not.toContain('a@example.com');
  });
});

describe('the heartbeat', () => {
  test('is called once for each success, and not for what failed', async () => {
    await using scene = await alertScene({ heartbeat: `/beat/${pathKey}?status=up` });
    const [first, second] = [scene.worker(), scene.worker()];
    await first.check();
    expect(scene.beats()).toEqual([]);
    await scene.succeed();
    await first.check();
    await second.check();
    expect(scene.beats()).toEqual([`/beat/${pathKey}?status=up`]);
    await scene.fail();
    await first.check();
    expect(scene.beats()).toHaveLength(1);
    await scene.succeed();
    await second.check();
    expect(scene.beats()).toHaveLength(2);
  });

  test('one for all is silent while a connection waits too long; one for each is that of the connection', async () => {
    const two = { connections: ['main', 'other'], schedule: '0 2 * * *' };
    await using shared = await alertScene({ ...two, heartbeat: '/beat' });
    const worker = shared.worker();
    await worker.check();
    await shared.succeed();
    await worker.check();
    expect(shared.beats(), 'the other one has just begun').toEqual(['/beat']);
    shared.pass(48 * hour);
    await shared.succeed();
    await worker.check();
    expect(shared.beats()).toEqual(['/beat']);
    expect(shared.hooked()).toEqual(['leadsync: other: no sync succeeds']);
    await shared.succeed('other');
    await worker.check();
    expect(shared.beats()).toEqual(['/beat', '/beat']);

    await using each = await alertScene({ ...two, heartbeat: '/beat/{connection}' });
    await each.succeed();
    await each.worker().check();
    expect(each.beats()).toEqual(['/beat/main']);
  });

  test('that cannot be called is tried again, more and more seldom, and told; never with its path', async () => {
    let isBroken = true;
    await using scene = await alertScene({
      heartbeat: `/beat/${pathKey}`,
      answer: (response, path) => response.writeHead(isBroken && path.startsWith('/beat') ? 404 : 200).end(),
    });
    await scene.succeed();
    const worker = scene.worker();
    for (let n = 0; n < 20; n++) {
      await worker.check();
      scene.pass(minute);
    }
    expect(scene.beats().length).toBeLessThan(8);
    const tried = scene.beats().length;
    expect(scene.hooked()).toEqual(['leadsync: the heartbeat address cannot be called']);
    isBroken = false;
    scene.pass(hour);
    await worker.check();
    await worker.check();
    expect(scene.beats()).toHaveLength(tried + 1);
    scene.pass(clearedForMs);
    await worker.check();
    expect(scene.hooked().slice(1)).toEqual(['leadsync: over: the heartbeat address cannot be called']);
    const { rows } = await scene.pool.query(`select * from connections, alerts`);
    expect(JSON.stringify([scene.log, rows, scene.mails])).not.toContain(pathKey);
  });
});

async function borrow(pool: pg.Pool): Promise<{ readonly db: pg.PoolClient } & AsyncDisposable> {
  const db = await pool.connect();
  return { db, [Symbol.asyncDispose]: async () => db.release() };
}
