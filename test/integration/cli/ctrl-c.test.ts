import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../../../src/postgres/embedded-postgres.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import { Terminal } from '../../support/terminal.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';
import { serversBelow } from '../store/embedded-postgres-scene.ts';

/** A workspace whose state is in the bundled Postgres. */
async function openScene(leads = 30) {
  await using stack = new AsyncDisposableStack();
  const workspace = stack.use(await Workspace.open({ sandbox: { leads, maxLimit: 10 } }));
  const { DATABASE_URL: _, ...env } = workspace.env;
  const data = join(workspace.folder, 'data');
  const owned = stack.move();
  return {
    workspace,
    data,
    cli: (...args: string[]) => workspace.start(args, { env: { DATABASE_URL: undefined } }).ended,
    terminal: (line: string) => new Terminal(line, { cwd: workspace.folder, env }),
    slow(spec: string) {
      workspace.sandbox.set({ faults: parseFaults(spec) });
    },
    servers: () => serversBelow(data),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

type Scene = Awaited<ReturnType<typeof openScene>>;

/** Ctrl-C in the terminal as soon as `isDue`: 130, and no Postgres is left. What was shown. */
async function interrupt(
  scene: Scene,
  line: string,
  isDue: () => boolean | Promise<boolean>,
): Promise<string> {
  await using terminal = scene.terminal(line);
  await until(`${line} is at work`, isDue);
  terminal.ctrlC();
  expect([await terminal.ended(), scene.servers()], terminal.shown).toEqual([130, []]);
  return terminal.shown;
}

/** A command that waits for a lock of somebody else, who does not keep the server from being stopped. */
async function startBehindLock(scene: Scene, line: string): Promise<Terminal> {
  const server = await startEmbeddedPostgres(scene.data);
  const locker = new pg.Client({ connectionString: server.connectionString });
  // It ends with the server.
  locker.on('error', () => {});
  await locker.connect();
  await locker.query('begin; lock table leadsync.runs, leadsync.held, leadsync.pairs');
  const terminal = scene.terminal(line);
  await until(
    `${line} waits`,
    async () => (await locker.query('select from pg_locks where not granted')).rowCount !== 0,
  );
  await server.close();
  expect(scene.servers()).toHaveLength(1);
  return terminal;
}

describe('Ctrl-C on a terminal', { tags: 'script' }, () => {
  test('in a sync that makes its database, reads and writes: 130, the server stops, and the next sync goes on', async () => {
    await using scene = await openScene();
    const { sandbox, sheet } = scene.workspace;
    await interrupt(scene, '$leadsync sync', () => scene.servers().length > 0);
    expect(sandbox.stats.requests).toBe(0);

    scene.slow('slow:ms=60000,once=3,on=list');
    const reading = await interrupt(scene, '$leadsync sync', () => sandbox.stats.byRoute.list === 3);
    expect(reading).toMatch(
      /stopped by Ctrl-C: run \d+ of main keeps what it has done \(20 leads in 2 pages\); the same command goes on/,
    );
    scene.slow('');
    const before = sandbox.stats.byRoute.list;
    expect((await scene.cli('sync')).code).toBe(0);
    expect(sandbox.stats.byRoute.list - before).toBe(1);
    expect(sheet.rows()).toHaveLength(30);

    sheet.edit(() => true, { Stage: 'won' });
    scene.slow('slow:ms=60000,once=5,on=PATCH');
    const patched = () => sandbox.log.filter(({ method }) => method === 'PATCH').length;
    const writing = await interrupt(
      scene,
      '$leadsync sync --allow max-changes --allow whole-field',
      () => patched() >= 5,
    );
    expect(writing).toMatch(/keeps what it has done \(writing to the service: \d+ of 27/);
    scene.slow('');
    expect((await scene.cli('sync', '--allow', 'max-changes', '--allow', 'whole-field')).code).toBe(0);
    expect(sandbox.leads.list().filter(({ stage }) => stage !== 'won')).toEqual([]);
  });

  test('in plan, apply, undo and check: 130, and the server stops', async () => {
    await using scene = await openScene();
    const { sandbox, sheet } = scene.workspace;
    expect((await scene.cli('sync')).code).toBe(0);
    sheet.edit((row) => row['Company'] === sheet.rows()[0]?.['Company'], { Stage: 'won' });
    expect((await scene.cli('plan', '--out', 'plan.json')).code).toBe(0);
    const asked = (): (() => boolean) => {
      const { requests } = sandbox.stats;
      return () => sandbox.stats.requests > requests;
    };
    scene.slow('slow:ms=60000');
    expect(await interrupt(scene, '$leadsync plan', asked())).toContain(
      'the same command goes on from there',
    );
    await interrupt(scene, '$leadsync apply plan.json', asked());
    await interrupt(scene, '$leadsync undo 1 --yes', asked());
    await interrupt(scene, '$leadsync check', asked());
    scene.slow('');
    expect((await scene.cli('sync')).code).toBe(0);
  });

  test.each([
    ['status', 'what was done before stays'],
    ['conflicts', 'what was done before stays'],
    ['status --runs', 'what was done before stays'],
    ['backup new.gz', 'what was done before stays'],
    ['restore old.gz --replace', 'what was done before stays'],
  ])('in %s, which waits for a lock: 130, the server stops, and says: %s', async (command, said) => {
    await using scene = await openScene(3);
    expect((await scene.cli('sync')).code).toBe(0);
    expect((await scene.cli('backup', 'old.gz')).code).toBe(0);
    await using terminal = await startBehindLock(scene, `$leadsync ${command}`);
    terminal.ctrlC();
    expect([await terminal.ended(), scene.servers()], terminal.shown).toEqual([130, []]);
    expect(terminal.shown).toContain(`stopped by Ctrl-C: ${said}`);
    expect(readFileSync(join(scene.workspace.folder, 'leads.csv'), 'utf8')).toContain('Lead ID');
    expect((await scene.cli('status')).code).toBe(0);
  });

  test('twice: the second one ends it at once, whatever it waits for', async () => {
    await using scene = await openScene(3);
    expect((await scene.cli('sync')).code).toBe(0);
    await using terminal = await startBehindLock(scene, '$leadsync sync');
    terminal.ctrlC();
    await until('it is heard', () => terminal.shown.includes('Another Ctrl-C ends it at once'));
    const ended = terminal.ended();
    // One that comes with the first, as npm passes it on, is not another one.
    const pressing = setInterval(() => terminal.ctrlC(), 200);
    expect(await ended).toBe(130);
    clearInterval(pressing);
    // Nobody was there to stop it; the next command does.
    expect(scene.servers()).toHaveLength(1);
  });

  test('a sync in the background reads nothing of what is typed: it is not stopped', async () => {
    await using scene = await openScene();
    const { sandbox } = scene.workspace;
    writeFileSync(
      join(scene.workspace.folder, 'job.sh'),
      'set -m\n$leadsync sync &\nwait $!\necho "ended $?"\n',
    );
    scene.slow('slow:ms=1000,on=list');
    await using terminal = scene.terminal('sh job.sh');
    await until('it reads', () => sandbox.stats.byRoute.list > 0);
    terminal.type('some words\r');
    expect(await terminal.ended()).toBe(0);
    expect(terminal.shown).toContain('ended 0');
    expect(terminal.shown).toMatch(/main: 10 leads/);
  });
});
