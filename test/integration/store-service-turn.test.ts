import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { openDatabase } from '../../src/store/database.ts';
import { createServiceTurn } from '../../src/store/service-turn.ts';
import { until } from '../support/until.ts';
import { useScenes } from './store-scene.ts';

const scene = useScenes();
const never = new AbortController().signal;
const address = () => `https://${randomUUID()}.example`;

test('one asks at a time, of all processes; another key and another address are asked meanwhile', async () => {
  const here = scene();
  const url = address();
  const elsewhere = openDatabase({ connectionString: here.url });
  try {
    const turns = [here.pool, elsewhere, here.pool].map((pool) => createServiceTurn(pool, url, 'key'));
    let [asking, most, done] = [0, 0, 0];
    const ask = async (turn: ReturnType<typeof createServiceTurn>): Promise<void> => {
      await using _turn = await turn(never);
      most = Math.max(most, ++asking);
      await here.pool.query('select pg_sleep(0.01)');
      asking -= 1;
      done += 1;
    };
    {
      await using _other = await createServiceTurn(here.pool, url, 'another key')(never);
      await using _elsewhere = await createServiceTurn(here.pool, address(), 'key')(never);
      await Promise.all(turns.flatMap((turn) => [1, 2, 3, 4].map(() => ask(turn))));
    }
    expect({ most, done }).toEqual({ most: 1, done: 12 });
  } finally {
    await elsewhere.end();
  }
});

test('the turn of a process that died, or that was paused for too long, is free', async () => {
  const here = scene();
  const url = address();
  const dying = openDatabase({ connectionString: here.url });
  await createServiceTurn(dying, url, 'key')(never);
  const next = createServiceTurn(here.pool, url, 'key')(never);
  await dying.end();
  await next;
  const late = createServiceTurn(here.pool, url, 'key')(never);
  await here.pool.query(`update service_turns set expires_at = now() - interval '1 ms'`);
  await (await late)[Symbol.asyncDispose]();
});

test('waiting ends with the signal; giving back a turn that another has takes it from nobody', async () => {
  const here = scene();
  const url = address();
  const take = createServiceTurn(here.pool, url, 'key');
  const first = await take(never);
  const stop = new AbortController();
  const waiting = take(stop.signal);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow();
  await here.pool.query(`update service_turns set expires_at = now() - interval '1 ms'`);
  const second = await take(never);
  await first[Symbol.asyncDispose]();
  const third = take(never);
  let taken = false;
  void third.then(() => (taken = true));
  await until('somebody looks whether it is free', async () => {
    const { rowCount } = await here.pool.query(
      `select from pg_stat_activity where query like 'insert into service_turns%' and query_start > now() - interval '1 s'`,
    );
    return (rowCount ?? 0) > 0;
  });
  expect(taken).toBe(false);
  await second[Symbol.asyncDispose]();
  await (await third)[Symbol.asyncDispose]();
});
