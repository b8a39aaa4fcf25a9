import type { ServerResponse } from 'node:http';
import type pg from 'pg';
import { describe, expect, test } from 'vitest';
import { settleMs } from '../../src/alerts/decide-alerts.ts';
import { connectionFacts } from '../../src/store/alert-facts.ts';
import { claimTellings } from '../../src/store/tellings.ts';
import { watchAlerts } from '../../src/alerts/watch-alerts.ts';
import { refusal } from '../support/mail-server.ts';
import { messageId } from '../support/reminder-worker.ts';
import { until } from '../support/until.ts';
import { alertScene, pathKey } from './alert-scene.ts';

const hour = 3_600_000;
const minute = 60_000;

test('workers that look at the same moment tell once', async () => {
  await using scene = await alertScene();
  const workers = [scene.worker(), scene.worker(), scene.worker()];
  await scene.fail();
  for (let n = 0; n < 5; n++) await Promise.all(workers.map(({ check }) => check()));
  expect(scene.mails).toHaveLength(1);
  expect(scene.hooked()).toHaveLength(1);
});

test('what one worker is telling is left alone by the others', async () => {
  let answer: (() => void) | undefined;
  await using scene = await alertScene({
    answer: (response) => {
      answer ??= () => response.end('ok');
    },
  });
  const [first, second] = [scene.worker(), scene.worker()];
  await scene.fail();
  const telling = first.check();
  await until('the webhook is called', () => answer !== undefined);
  await second.check();
  answer?.();
  await telling;
  expect(scene.hooked()).toHaveLength(1);
});

test('a channel that could not be told of a problem hears of it before it hears that it is over', async () => {
  let isBroken = true;
  await using scene = await alertScene({
    answer: (response) => response.writeHead(isBroken ? 503 : 200).end(),
  });
  const worker = scene.worker();
  await scene.fail();
  await worker.check();
  isBroken = false;
  await scene.pool.query(
    `update tellings set next_try_at = now() + interval '1 day' where channel = 'webhook'`,
  );
  await scene.succeed();
  await worker.check();
  scene.pass(settleMs);
  await worker.check();
  expect([scene.hooked().length, scene.mails.length]).toEqual([1, 2]);
  scene.pass(24 * hour);
  await worker.check();
  expect(scene.hooked().slice(1)).toEqual([
    'leadsync: main: the sync failed',
    'leadsync: main: over: the sync failed',
  ]);
});

test('a connection whose worker is dead is noticed by another one, before and after a success', async () => {
  await using scene = await alertScene({ schedule: '0 2 * * *' });
  const worker = scene.worker();
  await worker.check();
  expect(scene.seen).toEqual([]);
  scene.pass(48 * hour);
  await worker.check();
  expect(scene.hooked()).toEqual(['leadsync: main: no sync succeeds']);
  expect(scene.seen[0]?.body).toContain('none had succeeded so far');

  await scene.succeed();
  await worker.check();
  scene.pass(settleMs);
  await worker.check();
  scene.pass(48 * hour);
  await worker.check();
  expect(scene.hooked().slice(1)).toEqual([
    'leadsync: main: over: no sync succeeds',
    'leadsync: main: no sync succeeds',
  ]);
  expect(scene.seen.at(-1)?.body).toContain('The last success was at');
});

describe('a channel that does not work', () => {
  test.each<[string, (response: ServerResponse, path: string) => void, string]>([
    ['500', (response) => response.writeHead(500).end('no'), 'it answered 500'],
    [
      'a redirect',
      (response) => response.writeHead(307, { location: `/elsewhere` }).end(),
      'a redirect (307)',
    ],
    ['silence', () => {}, 'within 400 ms|UND_ERR_HEADERS_TIMEOUT'],
    ['a reset', (response) => response.destroy(), 'ECONNRESET|UND_ERR_SOCKET'],
  ])('the webhook: %s; the mail goes, the webhook is told later', async (name, fault, said) => {
    let isBroken = true;
    await using scene = await alertScene({
      ...(name === 'silence' && { callMs: 400 }),
      answer: (response, path) => (isBroken ? fault(response, path) : response.end('ok')),
    });
    const worker = scene.worker();
    await scene.fail();
    await worker.check();
    await worker.check();
    expect(scene.mails).toHaveLength(1);
    expect(
      scene.seen.map(({ url }) => url),
      'once, and nowhere else',
    ).toEqual([`/hook/${pathKey}`]);
    isBroken = false;
    scene.pass(minute + 1_000);
    await worker.check();
    await worker.check();
    expect(scene.hooked()).toHaveLength(2);
    expect(scene.mails).toHaveLength(1);
    const told = scene.log.filter((line) => line.includes('could not be told'));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(new RegExp(said.replaceAll(/[()]/g, String.raw`\$&`)));
    const { rows } = await scene.pool.query(`select * from tellings, alerts`);
    expect(JSON.stringify([scene.log, rows])).not.toContain(pathKey);
  });

  test('the webhook: a reply without an end is a success and is not read', async () => {
    let ended = 0;
    await using scene = await alertScene({
      answer: (response) => {
        const chunk = Buffer.alloc(64 * 1024, 'x');
        const write = (): void => {
          if (!response.destroyed) response.write(chunk, () => setImmediate(write));
        };
        response.on('close', () => ended++);
        write();
      },
    });
    const worker = scene.worker();
    await scene.fail();
    await worker.check();
    scene.pass(hour);
    await worker.check();
    expect(scene.hooked()).toHaveLength(1);
    await until('the connection is closed', () => ended === 1);
  });

  test('the mail server: the webhook goes, the mail is sent later, once, with the same Message-ID', async () => {
    let isBroken = true;
    await using scene = await alertScene({
      taken: () => (isBroken ? refusal(451, '4.7.1 come again') : null),
    });
    const worker = scene.worker();
    await scene.fail();
    await worker.check();
    expect(scene.hooked()).toHaveLength(1);
    isBroken = false;
    for (let n = 0; n < 3; n++) {
      scene.pass(minute + 1_000);
      await worker.check();
    }
    expect(scene.hooked()).toHaveLength(1);
    expect(scene.mails).toHaveLength(2);
    const ids = scene.mails.map(({ source }) => messageId(source));
    expect(ids[0]).toBe(ids[1]);
  });

  test('a recipient who is refused for good is given up and logged; nobody else is', async () => {
    await using scene = await alertScene({ taken: () => refusal(550, '5.1.1 no such user') });
    const worker = scene.worker();
    await scene.fail();
    await worker.check();
    scene.pass(hour);
    await worker.check();
    expect(scene.mails).toHaveLength(1);
    expect(scene.log.filter((line) => line.includes('is given up'))).toHaveLength(1);
    expect(scene.hooked()).toHaveLength(1);
  });
});

describe('a worker that ends between seeing and telling', () => {
  test('it had written down what is owed: another one tells it', async () => {
    await using scene = await alertScene();
    const first = scene.worker();
    await scene.fail();
    await first.check(AbortSignal.abort());
    await first.stop();
    expect(scene.seen).toEqual([]);
    const second = scene.worker();
    await second.check();
    expect([scene.mails.length, scene.hooked().length]).toEqual([1, 1]);
  });

  test('it had begun to tell: another one waits for it, and then does', async () => {
    await using scene = await alertScene();
    const worker = scene.worker();
    await scene.fail();
    await worker.check(AbortSignal.abort());
    const claimed = await claimTellings(scene.pool, ['ops@example.com', 'webhook'], Date.now(), hour, 9);
    expect(claimed).toHaveLength(2);
    await worker.check();
    expect([scene.mails.length, scene.hooked().length]).toEqual([0, 0]);
    scene.pass(hour + 1_000);
    await worker.check();
    expect([scene.mails.length, scene.hooked().length]).toEqual([1, 1]);
  });

  test('the watch goes on by itself, and ends at once when a receiver is silent', async () => {
    await using scene = await alertScene({ answer: () => {} });
    const { context } = scene.worker();
    await scene.fail();
    const began = Date.now();
    {
      await using _watch = watchAlerts(context, 10);
      await until('the receiver is called', () => scene.seen.length === 1 && scene.mails.length === 1);
    }
    expect(Date.now() - began).toBeLessThan(5_000);
    const { rows } = await scene.pool.query<{ open: number }>(
      `select count(*)::int as open from tellings where ended_at is null and next_try_at <= now()`,
    );
    expect(rows[0]?.open, 'it is due for the next worker').toBe(1);
  });
});

describe('what is held, and what mails become', () => {
  test('held items are told from ten on, again when they have doubled, and are over below ten', async () => {
    await using scene = await alertScene();
    await scene.succeed();
    const worker = scene.worker();
    const hold = async (count: number): Promise<void> => {
      await scene.pool.query(`delete from held`);
      await scene.pool.query(
        `insert into held (connection, lead_id, code, message, last_run, last_round)
         select 'main', 'lead-' || n, 'x', 'x', 1, 1 from generate_series(1, $1) n`,
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
    scene.pass(settleMs);
    await worker.check();
    expect(scene.hooked().slice(2)).toEqual(['leadsync: main: over: 20 items are held']);
  });

  test('reminders: failed, missed after a try, late by an hour; not what was too late from the beginning', async () => {
    await using scene = await alertScene();
    await scene.succeed();
    const add = (id: string, columns: string, values: string): Promise<unknown> =>
      scene.pool.query(
        `insert into reminders (connection, lead_id, due_at, recipient, offset_text, ${columns})
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
    scene.pass(settleMs);
    await worker.check();
    expect(scene.hooked().slice(1)).toEqual(['leadsync: over: the heartbeat address cannot be called']);
    const { rows } = await scene.pool.query(`select * from pulses, alerts`);
    expect(JSON.stringify([scene.log, rows, scene.mails])).not.toContain(pathKey);
  });
});

async function borrow(pool: pg.Pool): Promise<{ readonly db: pg.PoolClient } & AsyncDisposable> {
  const db = await pool.connect();
  return { db, [Symbol.asyncDispose]: async () => db.release() };
}
