import { setTimeout as sleep } from 'node:timers/promises';
import type { SyncReport } from '../../../src/sync/report.ts';
import type { CliResult } from '../../support/cli.ts';
import { judgeRound } from './judge.ts';
import { type Kind, kinds, untoldIn } from './kinds.ts';
import { World, type WorldOptions } from './world.ts';

export interface RoundOptions extends WorldOptions {
  /** So long do people work and things break. */
  readonly seconds: number;
  readonly pace: number;
  /** Which kinds, one after the other; null: as chance says. */
  readonly script: readonly string[] | null;
  /** Kinds that chance may choose. */
  readonly only: readonly string[];
  /** Is given the world, to end it when the round is not to be played to its end. */
  readonly opened?: (world: World) => void;
}

export interface Verdict {
  readonly seed: number;
  readonly backend: WorldOptions['backend'];
  readonly faults: readonly string[];
  readonly excused: readonly string[];
  readonly chaoses: readonly string[];
  readonly counts: Readonly<
    Record<'edits' | 'due' | 'mails' | 'syncs' | 'requests' | 'throttled' | 'seconds', number>
  >;
  /** Of a failed one. */
  readonly folder: string | null;
}

/** How long (ms) it may take until everything is quiet when nothing goes wrong any more. */
const quietWithinMs = 300_000;

/** One round: a new world, people and chaos in it for a while, peace, and what is wrong then. */
export async function playRound(options: RoundOptions): Promise<Verdict> {
  const from = performance.now();
  const world = await World.open(options);
  options.opened?.(world);
  const chaoses: string[] = [];
  let excused: readonly string[] = [];
  try {
    for (const member of world.members) member.start();
    await settled(world, 'all workers are up', () => world.members.every(({ isReady }) => isReady));
    for (const { name } of world.teams) await syncUntilQuiet(world, name);
    world.trace('both sides are in step: people and chaos begin');
    const stop = new AbortController();
    const activities = [
      ...world.teams.map((team) =>
        repeat(stop.signal, world, `people ${team.name}`, 150, 1_200, () => team.work()),
      ),
      ...world.teams.map(({ name }) =>
        repeat(stop.signal, world, `syncs ${name}`, 300, 3_000, () => world.askForSync(name)),
      ),
      repeat(stop.signal, world, 'commands', 4_000, 12_000, () => runCommand(world)),
    ];
    for (const team of world.teams) team.setMoody(options.pace < 1 ? 7 : 15);
    await unleash(world, options, chaoses);
    stop.abort();
    await Promise.all(activities);
    await heal(world);
    world.trace('everything is healed');
    await quiet(world, options.pace < 1);
    ({ excused } = await judgeRound(world));
    for (const member of world.members) await member.end();
    judgeOutput(world);
  } catch (error) {
    world.fault(
      `the round broke off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }
  const counts = await count(world, performance.now() - from);
  if (world.faults.length > 0) world.keep();
  const verdict: Verdict = {
    seed: world.seed,
    backend: options.backend,
    faults: [...world.faults],
    excused,
    chaoses,
    counts,
    folder: world.faults.length > 0 ? world.folder : null,
  };
  await world[Symbol.asyncDispose]();
  return verdict;
}

/** Chaos, one kind after the other and sometimes two at once, until the time is up. */
async function unleash(world: World, options: RoundOptions, chaoses: string[]): Promise<void> {
  const { script, seconds, pace, only } = options;
  const random = world.random('chaos');
  const end = Date.now() + seconds * 1_000;
  const play = async (name: string, kind: Kind): Promise<void> => {
    chaoses.push(name);
    world.trace(`CHAOS ${name}`);
    const from = Date.now();
    await kind({ world, random, pace });
    if (untoldIn.has(name)) world.untold.push({ from, to: Date.now() });
    world.trace(`over: ${name}`);
  };
  const playNamed = async (name: string | undefined): Promise<void> => {
    const kind = kinds[name ?? ''];
    if (name === undefined || kind === undefined) throw new Error(`there is no chaos ${name}`);
    await play(name, kind);
  };
  if (script !== null) {
    for (const name of script) {
      await settled(world, 'all workers are up', () => world.members.every(({ isUp }) => isUp));
      const asked = world.teams.map(({ sandbox }) => sandbox.stats.requests);
      await settled(world, 'a service is asked', () =>
        world.teams.some(({ sandbox }, nth) => sandbox.stats.requests > (asked[nth] ?? 0)),
      );
      await playNamed(name);
    }
    return;
  }
  const choose = (): string | undefined => only[random.below(only.length)];
  const lane = async (): Promise<void> => {
    while (Date.now() < end) {
      await playNamed(choose());
      await sleep(random.below(4_000) * pace);
    }
  };
  const second = async (): Promise<void> => {
    while (Date.now() < end) {
      await sleep(random.below(15_000) * pace);
      await playNamed(choose());
    }
  };
  await Promise.all([lane(), second()]);
}

/** Does something again and again, with pauses of `least` to `most` ms. */
async function repeat(
  stop: AbortSignal,
  world: World,
  what: string,
  least: number,
  most: number,
  run: () => Promise<void>,
): Promise<void> {
  const random = world.random(what);
  while (!stop.aborted) {
    await run();
    await sleep(least + random.below(most - least), undefined, { signal: stop }).catch(() => {});
  }
}

/** What somebody at the machine does meanwhile. */
async function runCommand(world: World): Promise<void> {
  const random = world.random(`command ${world.events.length}`);
  const { name } = world.teams[random.below(world.teams.length)] ?? { name: 'a' };
  if (random.below(4) > 0) {
    judgeExit(world, await world.guest.command('sync', '--json', '--connection', name));
    return;
  }
  const command = world.guest.run(['sync', '--json', '--connection', name]);
  await sleep(random.below(3_000));
  await command.kill();
  world.untold.push({ from: Date.now(), to: Date.now() });
  world.trace('a sync of the guest was killed');
}

const codes: Readonly<Record<string, number>> = { succeeded: 0, failed: 1, partial: 3, stopped: 4 };

/** The exit code says what the report says. */
function judgeExit(world: World, result: CliResult): SyncReport | null {
  const { code, stdout, stderr } = result;
  let status: unknown;
  try {
    status = result.json()['status'];
  } catch {
    status = undefined;
  }
  world.trace(
    `sync of the guest: ${code} ${String(status)}${code === 0 ? '' : ` ${stdout.slice(0, 1_000)}`}`,
  );
  const expected = typeof status === 'string' ? codes[status] : 1;
  if (code !== expected)
    world.fault(`sync ended with code ${code}, not ${expected}: ${stdout}${stderr.slice(-1_000)}`);
  return typeof status === 'string' ? result.json<SyncReport>() : null;
}

async function heal(world: World): Promise<void> {
  await world.postgres.start();
  await world.redis?.command('PING');
  for (const team of world.teams) {
    team.setMoody(null);
    team.network.heal();
    team.disk?.empty();
    team.hasRoom = true;
  }
  for (const member of [...world.members, world.guest]) member.heal();
  for (const member of world.members) if (member.process === null) member.start();
  await settled(world, 'all workers are up again', () => world.members.every(({ isReady }) => isReady));
}

/** Syncs until there is nothing to do, and waits until no mail and no job is owed. */
async function quiet(world: World, isShort: boolean): Promise<void> {
  const noRunIsOpen = async (): Promise<boolean> =>
    (await world.pool.query(`select from runs where finished_at is null`)).rowCount === 0;
  // By the workers alone: no job was lost. That of a killed worker is taken up when its lock has ended, after 45 s.
  if (!isShort) await settled(world, 'no run is open', noRunIsOpen);
  for (const { name } of world.teams) await syncUntilQuiet(world, name);
  await settled(world, 'no mail is owed', async () => {
    const owed = await world.hurryMails(isShort);
    await sleep(2_000);
    return owed === 0;
  });
  await settled(world, 'no run is open at the end', noRunIsOpen);
}

async function syncUntilQuiet(world: World, name: string): Promise<void> {
  await settled(world, `${name} is in step`, async () => {
    const report = judgeExit(world, await world.guest.command('sync', '--json', '--connection', name));
    if (report === null) return false;
    const { created, updated, deleted, putOff, status } = report;
    const writes = [created, updated, deleted].flatMap(({ leads, rows }) => [leads, rows]);
    return (
      (status === 'succeeded' || status === 'partial') && putOff === 0 && writes.every((one) => one === 0)
    );
  });
}

async function settled(world: World, what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = Date.now() + quietWithinMs; !(await isSo()); await sleep(100))
    if (Date.now() > end) throw new Error(`${what}: not within ${quietWithinMs / 1_000} s`);
  world.trace(what);
}

/** No secret is in anything that was printed. */
function judgeOutput(world: World): void {
  for (const member of [...world.members, world.guest]) {
    const { printed } = member;
    for (const secret of world.secrets)
      if (printed.includes(secret)) world.fault(`${member.name} printed the secret ${secret}`);
  }
}

async function count(world: World, ms: number): Promise<Verdict['counts']> {
  const sum = (of: (team: World['teams'][number]) => number): number =>
    world.teams.reduce((total, team) => total + of(team), 0);
  const syncs = await world.pool
    .query<{ count: number }>(`select count(*)::int as count from runs where mode = 'sync'`)
    .then(
      ({ rows }) => rows[0]?.count ?? 0,
      () => 0,
    );
  return {
    edits: sum(({ people }) => people.edits.length),
    due: sum(({ due }) => due.all.length),
    mails: world.mails.length,
    syncs,
    requests: sum(({ sandbox }) => sandbox.stats.requests),
    throttled: sum(({ sandbox }) => sandbox.stats.throttled),
    seconds: Math.round(ms / 1_000),
  };
}
