import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { clearedForMs } from '../../../src/alerts/problems-of.ts';
import { nextRun } from '../../../src/queue/due-times.ts';
import { agreeSchedules } from '../../../src/store/connections.ts';
import { claimDeliveries } from '../../../src/store/alerts.ts';
import { watchAlerts } from '../../../src/alerts/watch-alerts.ts';
import { refusal } from '../../support/mail-server.ts';
import { messageId } from '../../support/reminder-worker.ts';
import { slackMs, until } from '../../support/until.ts';
import { alertScene, pathKey, yearly } from './alert-scene.ts';

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
    `update alerts set owed = jsonb_set(owed, '{0,nextTryAt}', to_jsonb((owed->0->>'nextTryAt')::bigint + $1))
     where owed->0->>'channel' = 'webhook'`,
    [24 * hour - minute],
  );
  await scene.succeed();
  await worker.check();
  scene.pass(clearedForMs);
  await worker.check();
  expect([scene.hooked().length, scene.mails.length]).toEqual([1, 2]);
  scene.pass(24 * hour);
  await worker.check();
  expect(scene.hooked().slice(1)).toEqual([
    'leadsync: main: the sync failed',
    'leadsync: main: over: the sync failed',
  ]);
});

test('nothing is overdue that the schedule which workers have agreed on has not brought', async () => {
  await using scene = await alertScene({ schedule: '0 2 * * *' });
  const { pool, worker, pass, hooked } = scene;
  const { check } = worker();
  await check();
  const agreed = { connection: 'main', pattern: yearly, timeZone: 'UTC' };
  await agreeSchedules(pool, 'another', [{ ...agreed, nextRunAt: nextRun(yearly, 'UTC', Date.now()) }]);
  pass(3 * 24 * hour);
  await check();
  expect(hooked()).toEqual([]);
});

test('a connection whose worker is dead is noticed by another one, before and after a success', async () => {
  await using scene = await alertScene({ schedule: '0 2 * * *' });
  const worker = scene.worker();
  await worker.check();
  expect(scene.seen).toEqual([]);
  scene.pass(48 * hour);
  await worker.check();
  expect(scene.hooked()).toEqual(['leadsync: main: no sync succeeds']);
  expect(scene.seen[0]?.body).toContain('No sync had succeeded so far');

  await scene.succeed();
  await worker.check();
  scene.pass(clearedForMs);
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
    const told = scene.log.filter((line) => line.includes('was not delivered'));
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(new RegExp(said.replaceAll(/[()]/g, String.raw`\$&`)));
    const { rows } = await scene.pool.query(`select * from alerts`);
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
    const claimed = await claimDeliveries(scene.pool, ['ops@example.com', 'webhook'], Date.now(), hour, 9);
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
    expect(Date.now() - began).toBeLessThan(5_000 + slackMs);
    const { rows } = await scene.pool.query<{ open: number }>(
      `select count(*)::int as open from alerts, jsonb_array_elements(owed) one
       where to_timestamp((one->>'nextTryAt')::bigint / 1000.0) <= now()`,
    );
    expect(rows[0]?.open, 'it is due for the next worker').toBe(1);
  });
});
