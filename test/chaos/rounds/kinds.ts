import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../src/demo/random.ts';
import type { Phase } from '../../../src/store/runs.ts';
import type { TestRedis } from '../../support/redis.ts';
import type { Member } from './member.ts';
import { earlyGraceMs } from './team.ts';
import type { TcpProxy } from './tcp-proxy.ts';
import type { World, WorldOptions } from './world.ts';
import type { Ending } from './world-postgres.ts';

interface Chaos {
  readonly world: World;
  readonly random: Random;
  /** By which all times are multiplied. */
  readonly pace: number;
}

/** One kind of chaos: it comes, lasts, and is over when it resolves. */
export type Kind = (chaos: Chaos) => Promise<void>;

/** What can go wrong, by name. */
export const kinds: Readonly<Record<string, Kind>> = {
  'kill a worker': (chaos) =>
    withMember(chaos, async (member) => {
      await member.kill();
      await lasts(chaos, 0, 3);
      member.start();
    }),
  'SIGTERM in a phase': async (chaos) => {
    const { world, random } = chaos;
    const phase = random.pick(phases);
    const member = await holderIn(world, phase);
    if (member === null) return world.trace(`no worker was seen in ${phase}`);
    world.trace(`${member.name} is in ${phase}: SIGTERM`);
    await member.end();
    await lasts(chaos, 0, 2);
    member.start();
  },
  'stop a worker for a while': (chaos) =>
    withMember(chaos, async (member) => {
      member.stop();
      await lasts(chaos, 1, 40);
      member.continue();
    }),
  'wrong clock': (chaos) =>
    withMember(chaos, async (member) => {
      const minutes = chaos.random.pick([-180, -10, -1, 1, 10, 180]);
      chaos.world.trace(`the clock of ${member.name} goes wrong by ${minutes} min`);
      chaos.world.clockWasWrong = true;
      member.setClock(minutes * 60_000);
      await lasts(chaos, 3, 20);
      member.setClock(0);
    }),
  'Postgres restarts': (chaos) => restartPostgres(chaos, 'fast'),
  'Postgres drops everything': (chaos) => restartPostgres(chaos, 'immediate'),
  'Postgres is killed': (chaos) => restartPostgres(chaos, 'kill'),
  'cable to Postgres': (chaos) => cut(chaos, 'postgres'),
  'cable to the mail server': (chaos) => cut(chaos, 'mail'),
  'cable to the service': async (chaos) => {
    const { network, name, sandbox } = pickOf(chaos.random, chaos.world.teams);
    // What waits in the cable left before its sender could know that it was to wait.
    sandbox.set({ earlyGraceMs: 3_600_000 });
    await cutProxy(chaos, network, `the service of ${name}`, 20);
    await sleep(2 * earlyGraceMs);
    sandbox.set({ earlyGraceMs });
  },
  'Redis is killed': (chaos) => restartRedis(chaos, async () => {}),
  'Redis comes back empty': (chaos) =>
    restartRedis(chaos, ({ folder }) => rm(join(folder, 'appendonlydir'), { recursive: true, force: true })),
  'Redis forgets everything': async ({ world }) => {
    // When it is away at this moment it is another chaos.
    await world.redis?.command('FLUSHALL').catch(() => {});
  },
  'cable to Redis': (chaos) => cut(chaos, 'redis'),
  'disk is full': async (chaos) => {
    const { world } = chaos;
    const team = world.teams.find(({ disk }) => disk !== null);
    if (team === undefined || !team.hasRoom) return;
    team.hasRoom = false;
    team.disk?.fill();
    await lasts(chaos, 3, 15);
    team.disk?.empty();
    team.hasRoom = true;
  },
};

/** In these a worker that has got a 429 may end, or lose the database, before the others know of it. */
export const untoldIn: ReadonlySet<string> = new Set([
  'kill a worker',
  'SIGTERM in a phase',
  'stop a worker for a while',
  'Postgres restarts',
  'Postgres drops everything',
  'Postgres is killed',
  'cable to Postgres',
]);

const ofRedis = Object.keys(kinds).filter((name) => name.includes('Redis'));

/** Those that can come where the jobs are in this. */
export function kindsFor(backend: WorldOptions['backend']): readonly string[] {
  return Object.keys(kinds).filter((name) => backend === 'redis' || !ofRedis.includes(name));
}

const phases = [
  'pull',
  'read',
  'plan',
  'push-leads',
  'push-rows',
  'receipt',
  'finish',
] as const satisfies Phase[];

function restartPostgres(chaos: Chaos, ending: Ending): Promise<void> {
  return once(chaos.world, 'Postgres', async () => {
    await chaos.world.postgres.stop(ending);
    await lasts(chaos, 0, 8);
    await chaos.world.postgres.start();
  });
}

/** `meanwhile`: what becomes of its folder. */
async function restartRedis(chaos: Chaos, meanwhile: (redis: TestRedis) => Promise<void>): Promise<void> {
  const { redis } = chaos.world;
  if (redis === null) return;
  await once(chaos.world, 'Redis', async () => {
    await redis.kill();
    await lasts(chaos, 0, 8);
    await meanwhile(redis);
    await redis.start();
  });
}

const underWay = new WeakMap<World, Set<string>>();

/** Of the same thing not two at once. */
async function once(world: World, what: string, run: () => Promise<void>): Promise<void> {
  const all = underWay.get(world) ?? new Set();
  underWay.set(world, all);
  if (all.has(what)) return;
  all.add(what);
  try {
    await run();
  } finally {
    all.delete(what);
  }
}

function withMember(chaos: Chaos, run: (member: Member) => Promise<void>): Promise<void> {
  const { world, random } = chaos;
  const up = world.members.filter(({ isUp }) => isUp);
  if (up.length === 0) return Promise.resolve();
  const member = pickOf(random, up);
  return once(world, member.name, () => {
    world.trace(`… it is ${member.name}`);
    return run(member);
  });
}

/** Between one machine and a server. */
function cut(chaos: Chaos, cable: string): Promise<void> {
  const { world, random } = chaos;
  const member = pickOf(random, world.members);
  const proxy = member.cables.get(cable);
  if (proxy === undefined) return Promise.resolve();
  return cutProxy(chaos, proxy, `${cable} of ${member.name}`, 40);
}

function cutProxy(chaos: Chaos, proxy: TcpProxy, what: string, upTo: number): Promise<void> {
  const { world, random } = chaos;
  return once(world, what, async () => {
    const [how, end] = [
      random.pick(['silent', 'silent', 'refused', 'reset']),
      random.pick(['resets', 'goes on']),
    ];
    world.trace(`${what}: ${how}${how === 'silent' ? `, then ${end}` : ''}`);
    if (how === 'reset') return proxy.reset();
    if (how === 'silent') proxy.silence();
    else proxy.refuse();
    await lasts(chaos, 1, upTo);
    if (end === 'resets') proxy.reset();
    proxy.heal();
  });
}

/** The worker whose run was seen in this phase; null when none was within some seconds. */
async function holderIn(world: World, phase: Phase): Promise<Member | null> {
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(5)) {
    const rows = await world.pool
      .query<{ holder: string }>(
        `select l.holder from runs r join leases l on l.name = r.connection || '/sync'
         where r.finished_at is null and r.mode = 'sync' and r.phase = $1 and l.expires_at > now()`,
        [phase],
      )
      .then(
        (result) => result.rows,
        () => [],
      );
    for (const { holder } of rows) {
      const pid = Number(holder.split(':').at(-1));
      const member = world.members.find((one) => one.pid === pid && one.isUp);
      if (member !== undefined) return member;
    }
  }
  return null;
}

/** From n to m seconds, at this pace; more often short than long. */
async function lasts({ random, pace, world }: Chaos, from: number, to: number): Promise<void> {
  const seconds = (from + (to - from) * random.float() ** 2) * pace;
  world.trace(`… for ${seconds.toFixed(1)} s`);
  await sleep(seconds * 1_000);
}

function pickOf<T>(random: Random, items: readonly T[]): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new Error('nothing to choose from');
  return item;
}
