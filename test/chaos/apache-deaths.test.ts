import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject, test } from 'vitest';
import type { SyncReport } from '../../src/sync/report.ts';
import { startApache } from '../support/apache.ts';
import { compiledEnv } from '../support/compiled.ts';
import { type Passed, startDavProxy } from '../support/dav-proxy.ts';
import { endState } from './crash-end.ts';
import { live } from './crash-life.ts';
import { fixedIds, type Scene } from './crash-scenes.ts';
import { Beginnings, CrashWorld } from './crash-world.ts';

const child = fileURLToPath(new URL('crash-child.ts', import.meta.url));
const server = inject('databaseUrl');
const beginnings = new Beginnings(server);
afterAll(() => beginnings[Symbol.asyncDispose]());

const idOf = (nth: number): string => `${fixedIds}0000-7000-8000-00000000000${nth}`;
const headings = ['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up', 'Status'];
const scene: Scene = {
  name: 'a file on Apache',
  service: {},
  sync: {},
  days: [
    ({ sandbox, sheet }) => {
      sheet.write([headings]);
      for (const nth of [1, 2, 3]) sandbox.leads.add({ id: idOf(nth), companyName: `Lead ${nth}` });
    },
  ],
};
const beginning = beginnings.of(scene);
const leftover = '.leads.csv.leadsync-tmp-';

/**
 * A file in step, work for both sides, and a process that is killed when Apache has carried out the request that `dies` tells, and
 * its reply was not read (null: lives on); somebody saves the file, and runs follow. Gives how everything stands, and what was
 * left behind.
 */
async function play(dies: ((request: Passed) => boolean) | null) {
  await using world = await CrashWorld.open(server, scene, await beginning);
  const { folder } = world;
  chmodSync(folder, 0o777);
  await using apache = await startApache(`Alias /world ${folder}
<Directory ${folder}>
  Dav On
  Require all granted
</Directory>`);
  await using proxy = await startDavProxy(apache.origin, () => 'pass', true);
  const life = { ...world.life, path: `${proxy.origin}/world/leads.csv` };
  const sync = async () => (await live(life, world.pool)).report as SyncReport;
  await sync();
  world.sandbox.leads.add({ id: idOf(4), companyName: 'Lead 4' });
  world.sandbox.leads.edit(idOf(1), { city: 'Ulm' });
  world.sheet.edit((row) => row['Lead ID'] === idOf(2), { City: 'Bonn' });
  world.sheet.add({ Company: 'Lead 5', City: 'Jena' });
  const argument = JSON.stringify({ database: world.database, life, end: null });
  const started = execFile(process.execPath, [child, argument], { env: compiledEnv });
  const ended = once(started, 'exit');
  const timeouts = new Set<unknown>();
  proxy.beforeReply = async (request) => {
    if (request.method === 'LOCK') timeouts.add(request.headers['timeout']);
    if (request.status >= 300 || dies?.(request) !== true) return;
    started.kill('SIGKILL');
    await ended;
  };
  // A lock ends as it would have after a minute.
  proxy.changed = (method) => (method === 'LOCK' ? { timeout: 'Second-2' } : {});
  expect(await ended).toEqual(dies === null ? [0, null] : [null, 'SIGKILL']);
  proxy.beforeReply = () => {};
  const left = readdirSync(folder).filter((name) => name.startsWith(leftover));
  // Who stores an hour later removes them.
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const name of left) utimesSync(join(folder, name), longAgo, longAgo);
  world.sheet.edit((row) => row['Lead ID'] === idOf(3), { City: 'Kiel' });
  await expect.poll(async () => (await sync()).receipt?.equal).toBe(5);
  const before = world.sheet.text();
  expect((await sync()).receipt.equal).toBe(5);
  expect(world.sheet.text()).toBe(before);
  return { state: await endState(world), left: left.length, timeouts: [...timeouts] };
}

test('killed when Apache has stored, renamed or locked: nothing is lost, doubled or left behind', {
  tags: 'apache2',
}, async () => {
  const undisturbed = await play(null);
  expect(undisturbed.timeouts).toEqual(['Second-60']);
  const isUpload = ({ method, path }: Passed) => method === 'PUT' && path.includes(leftover);
  const by = (method: string) => (request: Passed) => request.method === method;
  const [uploaded, locked, moved] = await Promise.all([play(isUpload), play(by('LOCK')), play(by('MOVE'))]);
  expect([uploaded.left, locked.left, moved.left]).toEqual([1, 1, 0]);
  for (const { state } of [uploaded, locked, moved]) expect(state).toEqual(undisturbed.state);
});
