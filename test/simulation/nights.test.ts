import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { habits } from './habits.ts';
import { simulate, tell, troubles, type Trouble } from './nights.ts';
import { SimDatabase } from './sim-database.ts';

const nights = 3;

/** Each kind of trouble next to people who work meanwhile, and all of them together. */
const mixes: readonly (readonly [string, readonly Trouble[], number])[] = [
  ['calm nights', ['answers'], 1],
  ['people at work meanwhile', ['answers', 'meanwhile', 'deletes'], 2],
  ['faults of the service', ['answers', 'meanwhile', 'faults', 'deletes'], 5],
  ['crashes', ['answers', 'meanwhile', 'crashes', 'deletes', 'policies'], 5],
  ['one job running twice, and leases that expire', ['meanwhile', 'crashes', 'twins', 'leases'], 4],
  ['workbooks', ['answers', 'meanwhile', 'crashes', 'deletes', 'xlsx'], 3],
  ['everything at once', troubles, 6],
  ['older copies, and tables that are elsewhere', ['meanwhile', 'deletes', 'xlsx', ...habits], 3],
];

/** All but files that somebody has open: a table that a service keeps is open to everybody at once. */
const inServices = troubles.filter((trouble) => trouble !== 'open-files' && trouble !== 'xlsx');

let database: SimDatabase;
beforeAll(async () => {
  database = await SimDatabase.open(inject('databaseUrl'), `nights_${process.pid}`);
});
afterAll(() => database[Symbol.asyncDispose]());

test.each(mixes)('%s', { timeout: 600_000 }, async (name, on, worlds) => {
  const first = 1000 * (1 + mixes.findIndex(([other]) => other === name));
  for (let seed = first; seed < first + worlds; seed++) {
    const verdict = await simulate(database, seed, nights, new Set(on));
    if (verdict.faults.length > 0) expect.fail(tell(verdict, nights, on, 40));
    expect(verdict.nights).toBe(nights);
  }
});

test('a Google spreadsheet: people and deaths between any two requests', { timeout: 600_000 }, async () => {
  for (let seed = 8001; seed <= 8004; seed++) {
    const play = { format: 'google-sheets' } as const;
    const verdict = await simulate(database, seed, nights, new Set(inServices), play);
    if (verdict.faults.length > 0) expect.fail(tell(verdict, nights, inServices, 40, play.format));
    expect(verdict.nights).toBe(nights);
  }
});

test('a HubSpot portal: people and deaths between any two requests', { timeout: 600_000 }, async () => {
  for (let seed = 9001; seed <= 9003; seed++) {
    const play = { format: 'hubspot' } as const;
    const verdict = await simulate(database, seed, nights, new Set(inServices), play);
    if (verdict.faults.length > 0) expect.fail(tell(verdict, nights, inServices, 40, play.format));
    expect(verdict.nights).toBe(nights);
  }
});

test.each(['webdav', 'msgraph'] as const)(
  'a file on %s: people, lost replies and deaths between any two requests',
  { timeout: 600_000 },
  async (format) => {
    const verdict = await simulate(database, 10_001, nights, new Set(troubles), { format });
    if (verdict.faults.length > 0) expect.fail(tell(verdict, nights, troubles, 40, format));
    expect(verdict.nights).toBe(nights);
  },
);

test('the same seed plays the same nights, operation by operation', async () => {
  const seeds = [72, 75];
  // A file is read while pages come: which of the two is first is up to the machine. That of another connection is one.
  const on = new Set(troubles.filter((trouble) => trouble !== 'moved-rows'));
  const play = async () => {
    const digests: string[] = [];
    for (const seed of seeds) {
      const play = { format: seed > 74 ? 'google-sheets' : 'hubspot' } as const;
      digests.push((await simulate(database, seed, 2, on, play)).digest);
    }
    return digests;
  };
  const first = await play();
  expect(await play()).toEqual(first);
  expect(new Set(first).size).toBe(seeds.length);
});
