import { expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import { makeHubSpotHarness } from '../../contract/hubspot-harness.ts';
import { append, headings, never, readAll, update, verdict } from '../../contract/target-harness.ts';

/** A clock that moves only by what is waited for. */
function stillClock() {
  const clock = { at: Date.parse('2026-11-21T10:00:00Z'), now: () => clock.at, random: () => 0 };
  return clock;
}

/** Again after as long as it was asked to wait; gives how often it had to. */
async function untilDone<T>(
  clock: { at: number },
  task: () => Promise<T>,
): Promise<{ result: T; waits: number[] }> {
  const waits: number[] = [];
  for (;;) {
    try {
      return { result: await task(), waits };
    } catch (error) {
      if (!(error instanceof LeadsyncError) || error.code !== 'target.rate-limited') throw error;
      waits.push(error.retryAfterMs ?? 0);
      clock.at += error.retryAfterMs ?? 0;
    }
  }
}

const companies = (count: number) =>
  Array.from({ length: count }, (_, n) => [`id-${n}`, `Company ${n}`, '', '', '', '']);

test('no request is refused by the limit of ten seconds, and a long list comes to its end all the same', async () => {
  const clock = stillClock();
  await using harness = await makeHubSpotHarness({ clock, limits: { tenSeconds: 4, daily: 10_000 } });
  harness.edit(() => [headings, ...companies(1_050)]);
  const target = harness.target();
  const { result, waits } = await untilDone(clock, () => readAll(target, 'a run'));
  expect(result.map(({ leadId }) => leadId)).toEqual(companies(1_050).map(([id]) => id));
  expect(waits).toEqual([10_000, 10_000, 10_000]);
  expect(harness.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
  expect(harness.sandbox.requests.filter(({ kind }) => kind === 'list')).toHaveLength(11);
  // Those that were not sent are not counted.
  expect(target.requests).toBe(harness.sandbox.requests.length);
});

test('a write that is cut short by the limit is finished by its repetitions', async () => {
  const clock = stillClock();
  await using harness = await makeHubSpotHarness({ clock, limits: { tenSeconds: 8, daily: 10_000 } });
  harness.edit(() => [headings, ...companies(300)]);
  const target = harness.target();
  const changes = [
    ...companies(300).map(([id = '', name = '']) => update(id, { name }, { city: 'Rome' })),
    ...companies(400)
      .slice(300)
      .map(([id = '', name = '']) => append(id, { name, city: 'Rome' })),
    ...companies(300).map(([id = '', name = '']) => update(id, { name }, { name })),
  ];
  const { result, waits } = await untilDone(clock, () => target.write(changes, never()));
  expect(new Set(result.map(verdict))).toEqual(new Set(['done']));
  expect(waits).toEqual([10_000]);
  expect(
    harness
      .show()
      ?.slice(1)
      .every((row) => row[3] === 'Rome'),
  ).toBe(true);
  expect(harness.show()).toHaveLength(401);
  expect(harness.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
});

test('a thousand refused records do not keep a write from its end, though the limit allows a few requests', async () => {
  const clock = stillClock();
  await using harness = await makeHubSpotHarness({
    clock,
    limits: { tenSeconds: 20, daily: 100_000 },
    traceIds: false,
  });
  harness.edit(() => [headings]);
  harness.sandbox.person.addRule('name', (name) => !name.endsWith('7'), 'No sevens, please.');
  const target = harness.target();
  const changes = companies(200).map(([id = '', name = '']) => append(id, { name }));
  const { result } = await untilDone(clock, () => target.write(changes, never()));
  const held = result.filter(({ status }) => status === 'held');
  expect(held).toHaveLength(20);
  expect(held[0]).toMatchObject({
    code: 'target.value-not-storable',
    message: expect.stringContaining('No sevens, please'),
  });
  expect(harness.show()).toHaveLength(181);
});

test('when the day is used up, nothing is sent until the midnight of the portal', async () => {
  const clock = stillClock();
  await using harness = await makeHubSpotHarness({
    clock,
    limits: { tenSeconds: 100, daily: 4 },
    timeZone: 'Europe/Berlin',
  });
  harness.edit(() => [headings, ...companies(150)]);
  const target = harness.target();
  expect(await readAll(target)).toHaveLength(150);
  const { result, waits } = await untilDone(clock, () => readAll(target));
  expect(result).toHaveLength(150);
  // 11:00 in Berlin.
  expect(waits).toEqual([13 * 3_600_000]);
  expect(harness.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
});

test.each(['America/Los_Angeles', 'US/Eastern', 'Asia/Kolkata'])(
  'the message says until when, in the time zone of the portal: %s',
  async (timeZone) => {
    const clock = stillClock();
    await using harness = await makeHubSpotHarness({
      clock,
      limits: { tenSeconds: 100, daily: 4 },
      timeZone,
    });
    harness.edit(() => [headings, ...companies(150)]);
    const target = harness.target({ timeZone: 'Europe/Berlin' });
    expect(await readAll(target)).toHaveLength(150);
    const error: unknown = await readAll(target).catch((thrown: unknown) => thrown);
    // It is the 21st everywhere.
    expect(error).toMatchObject({
      code: 'target.rate-limited',
      message: expect.stringContaining(
        `HubSpot's daily limit is used up until 2026-11-22 00:00 in the portal's time zone (${timeZone})`,
      ),
    });
    clock.at += (error as LeadsyncError).retryAfterMs ?? 0;
    expect(await readAll(target)).toHaveLength(150);
    expect(harness.sandbox.requests.filter(({ status }) => status === 429)).toEqual([]);
  },
);

test('a day that is used up before anything was heard: it is asked each hour, and the portal’s midnight counts', async () => {
  const clock = stillClock();
  const portal = { clock, limits: { tenSeconds: 100, daily: 4 }, timeZone: 'America/Los_Angeles' };
  await using harness = await makeHubSpotHarness(portal);
  harness.edit(() => [headings, ...companies(150)]);
  // Another app has used it up.
  const get = () =>
    fetch(`${harness.sandbox.url}/`, { headers: { authorization: `Bearer ${harness.sandbox.token}` } });
  for (let n = 0; n < 4; n++) await get();
  const { result, waits } = await untilDone(clock, () => readAll(harness.target()));
  expect(result).toHaveLength(150);
  // 2:00 in Los Angeles.
  expect(waits).toEqual(Array.from({ length: 22 }, () => 3_600_000));
});

test.each([403, 404, 500] as const)(
  'an account that HubSpot does not show (%i) keeps nothing from being done',
  async (status) => {
    await using harness = await makeHubSpotHarness();
    harness.edit(() => [headings, ...companies(3)]);
    harness.sandbox.before = ({ kind }) => (kind === 'account' ? { status } : undefined);
    expect(await readAll(harness.target())).toHaveLength(3);
  },
);

test('all connections with one token wait together', async () => {
  const clock = stillClock();
  await using harness = await makeHubSpotHarness({ clock, limits: { tenSeconds: 3, daily: 10_000 } });
  harness.edit(() => [headings, ...companies(50)]);
  expect(await readAll(harness.target())).toHaveLength(50);
  await expect(readAll(harness.target())).rejects.toMatchObject({
    code: 'target.rate-limited',
    retryAfterMs: 10_000,
  });
  expect(harness.sandbox.requests).toHaveLength(3);
});

test('a clock that is put back does not make a wait longer', async () => {
  const clock = stillClock();
  await using harness = await makeHubSpotHarness({ clock, limits: { tenSeconds: 3, daily: 10_000 } });
  harness.edit(() => [headings, ...companies(50)]);
  await readAll(harness.target());
  clock.at -= 3_600_000;
  await expect(readAll(harness.target())).rejects.toMatchObject({ retryAfterMs: 10_000 });
});
