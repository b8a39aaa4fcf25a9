import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { Workspace } from '../../support/workspace.ts';

const shiftedClock = fileURLToPath(new URL('../../chaos/rounds/shifted-clock.ts', import.meta.url));

/** The environment of a process whose machine is n ms ahead. */
async function machineAhead({ folder }: Workspace, ms: number): Promise<NodeJS.ProcessEnv> {
  const file = join(folder, 'clock');
  await writeFile(file, String(ms));
  return { CHAOS_CLOCK: file, NODE_OPTIONS: `--import ${shiftedClock}` };
}

test.each([
  ['30 minutes behind', -1_800_000],
  ['3 hours ahead', 10_800_000],
])('a worker that is %s runs every slot, when it is due by the clock of the database', async (_, ms) => {
  await using workspace = await Workspace.open();
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [fileURLToPath(new URL('clocks-child.ts', import.meta.url)), workspace.database.url],
    { env: { ...process.env, ...(await machineAhead(workspace, ms)) } },
  );
  const lateness = stdout.trim().split('\n').map(Number);
  expect(lateness).toHaveLength(5);
  for (const late of lateness) {
    expect(late).toBeGreaterThan(-100);
    // The machine is loaded now and then; minutes would be its clock.
    expect(late).toBeLessThan(20_000);
  }
});

test('commands on a machine that is 3 hours ahead: check says so, durations and coming runs are right', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 2 },
    connection: { sync: { schedule: '0 * * * *' } },
  });
  const env = await machineAhead(workspace, 10_800_000);
  const json = async <T>(...args: readonly string[]): Promise<T> =>
    (await workspace.start([...args, '--json'], { env }).ended).json<T>();
  const { checks } = await json<{ checks: readonly { name: string; ok: boolean; message: string }[] }>(
    'check',
  );
  const clocks = checks.find(({ name }) => name === 'clocks');
  expect(clocks).toMatchObject({ ok: true, warning: true });
  const said = /this machine ([\d.]+) s ahead, the service of main ([\d.]+) s (ahead|behind)/.exec(
    clocks?.message ?? '',
  );
  // What a slow reply takes off is far from the hours that would be wrong.
  expect(Math.abs(Number(said?.[1]) - 10_800), clocks?.message).toBeLessThan(60);
  expect(Number(said?.[2]), clocks?.message).toBeLessThan(60);
  expect(await json<{ durationMs: number }>('sync')).toMatchObject({ status: 'succeeded' });
  const { rows } = await workspace.database.pool.query<{ told: number; real: number }>(
    `select (report->>'durationMs')::float8 as told, extract(epoch from finished_at - created_at)::float8 * 1000 as real
     from runs where mode = 'sync'`,
  );
  expect(Math.abs((rows[0]?.told ?? 0) - (rows[0]?.real ?? 0))).toBeLessThan(5_000);
});
