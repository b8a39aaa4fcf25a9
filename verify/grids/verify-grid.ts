import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestPostgres } from '../../test/support/test-postgres.ts';
import { administrate } from '../../test/support/administrate.ts';
import { visibleText } from '../../src/lib/visible-text.ts';
import { describe, print, stopSignal } from '../terminal.ts';
import { shortened, Skipped } from '../check.ts';
import type { Grid, Start } from './grid.ts';
import { editChecks, firstChecks, type GridCheck, lastChecks } from './grid-checks.ts';
import { installed } from './install.ts';
import { Scene, type SceneOptions } from './scene.ts';

const outcomes = ['as promised', 'otherwise', 'not tried'] as const;
type Outcome = (typeof outcomes)[number];

const scenes: readonly SceneOptions[] = [
  { zone: 'UTC', madeBy: 'program', deletes: 'kept' },
  { zone: 'Europe/Berlin', madeBy: 'program', deletes: 'carried' },
  { zone: 'UTC', madeBy: 'leadsync', deletes: 'carried' },
  { zone: 'Europe/Berlin', madeBy: 'leadsync', deletes: 'kept' },
];

/** Installs a program, starts it on a Postgres of our own, and tries all promises; the exit code. */
export async function verifyGrid(grid: Grid): Promise<number> {
  const signal = stopSignal('what was started is stopped and removed now');
  const counts: Record<Outcome, number> = { 'as promised': 0, otherwise: 0, 'not tried': 0 };
  const begun = Date.now();
  try {
    const folder = await installed(grid.package, print, signal);
    await using stack = new AsyncDisposableStack();
    const start = await prepare(folder, stack, signal);
    print(`Starting ${grid.title} ${grid.package.version} on a Postgres of its own`);
    const running = await grid.start(start);
    for (const [nth, options] of scenes.entries()) {
      signal.throwIfAborted();
      const { zone, madeBy, deletes } = options;
      print(
        `\n${grid.title}, table made by ${madeBy === 'program' ? grid.title : madeBy}, ${zone}, deletes ${deletes}`,
      );
      const scene = await Scene.open(start, running, `leads${'abcd'.charAt(nth)}`, options);
      for (const check of [...firstChecks, ...editChecks, ...lastChecks])
        counts[await run(check, scene, signal)] += 1;
    }
  } catch (error) {
    print(`\n${signal.aborted ? 'Stopped' : `It could not go on: ${describe(error)}`}`);
    counts['not tried'] += 1;
  }
  const { otherwise, 'not tried': untried } = counts;
  const seconds = Math.round((Date.now() - begun) / 1000);
  print(
    `\n${counts['as promised']} as promised, ${otherwise} otherwise, ${untried} not tried, in ${seconds} s. All that was started is stopped, its database removed.`,
  );
  return otherwise + untried === 0 ? 0 : 1;
}

/** A Postgres in a folder of its own; all that is made in it goes with the stack. */
async function prepare(folder: string, stack: AsyncDisposableStack, signal: AbortSignal): Promise<Start> {
  const home = await mkdtemp(join(tmpdir(), 'leadsync-grid-'));
  stack.defer(() => rm(home, { recursive: true, force: true }));
  // Postgres may run as another user.
  await chmod(home, 0o755);
  const server = await startTestPostgres(home);
  stack.defer(() => server.close());
  return {
    installed: folder,
    home,
    signal,
    stack,
    async database(name) {
      await administrate(server.connectionString, `create database ${name} template template0`);
      const url = new URL(server.connectionString);
      url.pathname = `/${name}`;
      return url.href;
    },
  };
}

async function run({ title, run: find }: GridCheck, scene: Scene, signal: AbortSignal): Promise<Outcome> {
  const say = (outcome: Outcome, what: string): Outcome => {
    print(`${outcome.padEnd(13)}${title}: ${what}`);
    return outcome;
  };
  if (signal.aborted) return 'not tried';
  try {
    return say('as promised', shortened(await find(scene)));
  } catch (error) {
    if (signal.aborted) return 'not tried';
    return say(error instanceof Skipped ? 'not tried' : 'otherwise', visibleText(describe(error), 1_000));
  }
}
