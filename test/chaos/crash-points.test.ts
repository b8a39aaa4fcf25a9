import { availableParallelism } from 'node:os';
import { afterAll, describe, expect, inject, test } from 'vitest';
import type { SyncReport } from '../../src/sync/report.ts';
import { endState } from './crash-end.ts';
import type { CrashPoint } from './crash-points.ts';
import { type Scene, scenes } from './crash-scenes.ts';
import { Beginnings, CrashWorld } from './crash-world.ts';

const server = inject('databaseUrl');
const beginnings = new Beginnings(server);
afterAll(() => beginnings[Symbol.asyncDispose]());

/** What surrounds the work of a run: its lease and counters, the scan, reading the target, its end. */
const frame = /^(?:run|pull|read-target)\b/;
/** How often a request waits for the pace depends on the clock: another run of the same may wait once less. */
const ofTheClock = /movePace.* \(\d+\)$/;
const seen = new Set<string>();

/** Every sixth one, unless `npm run test:deaths` asks for all. */
const playAll = process.env['DEATHS'] === 'all';

/**
 * Before every side effect, which for the outside is the moment after the one before it, and after the last. The frame of
 * a run is the same in every scene: what an earlier scene had of it is left out.
 */
function crashPoints(names: readonly string[]): CrashPoint[] {
  const points = names.flatMap((name, index) => {
    const isLast = index === names.length - 1;
    if (!isLast && ((frame.test(name) && seen.has(name)) || ofTheClock.test(name))) return [];
    const before = { name, way: 'before' } as const;
    return isLast ? [before, { name, way: 'after' } as const] : [before];
  });
  for (const name of names) seen.add(name);
  return points.filter((_, index) => playAll || index % 6 === 0);
}

for (const scene of scenes) {
  const { from, names, undisturbed } = await prepare(scene);
  const points = crashPoints(names);
  describe(`${scene.name}: ${names.length} side effects, ${points.length} deaths here`, () => {
    for (const end of points) {
      test.concurrent(`${names.indexOf(end.name) + 1}: dies ${end.way} ${end.name}`, async () => {
        using _ = await turn();
        await using world = await CrashWorld.open(server, scene, from);
        await world.syncInChild(end);
        const { putOff } = (await world.sync()).report as SyncReport;
        // A create that was begun and never sent is made again once that is proven, which can take the run after.
        if (putOff > 0) await world.sync();
        await converge(world);
        expect(await endState(world)).toEqual(undisturbed);
      });
    }
  });
}

/** What the scene begins with, and what a run does that nobody disturbs. */
async function prepare(scene: Scene) {
  const from = await beginnings.of(scene);
  await using world = await CrashWorld.open(server, scene, from);
  const names = await world.syncInChild(null);
  await converge(world);
  return { from, names, undisturbed: await endState(world) };
}

/** A further sync has nothing to do. */
async function converge(world: CrashWorld): Promise<void> {
  const before = { file: world.sheet.text(), writes: writesTo(world) };
  const none = { leads: 0, rows: 0 };
  expect((await world.sync()).report).toMatchObject({
    created: none,
    updated: none,
    deleted: none,
    putOff: 0,
  });
  expect({ file: world.sheet.text(), writes: writesTo(world) }).toEqual(before);
}

function writesTo({ sandbox }: CrashWorld): number {
  return sandbox.log.filter(({ method }) => method !== 'GET').length;
}

const waiting: (() => void)[] = [];
let free = Math.min(2, availableParallelism());

/** More children at once than processors would only make all of them slow. */
async function turn(): Promise<Disposable> {
  if (free > 0) free -= 1;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  return {
    [Symbol.dispose]() {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}
