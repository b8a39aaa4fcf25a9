import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, inject, test } from 'vitest';
import type { SyncReport } from '../../src/sync/report.ts';
import { compiledEnv } from '../support/compiled.ts';
import { type DavHabits, startDavServer } from '../support/dav-server.ts';
import { endState } from './crash-end.ts';
import { live } from './crash-life.ts';
import { Beginnings, CrashWorld } from './crash-world.ts';
import { fixedIds, type Scene } from './crash-scenes.ts';

const child = fileURLToPath(new URL('crash-child.ts', import.meta.url));
const server = inject('databaseUrl');
const beginnings = new Beginnings(server);
afterAll(() => beginnings[Symbol.asyncDispose]());

const idOf = (nth: number): string => `${fixedIds}0000-7000-8000-00000000000${nth}`;
const headings = ['Lead ID', 'Company', 'Segment', 'City', 'Region', 'Stage', 'Next follow-up', 'Status'];
const scene: Scene = {
  name: 'a file on WebDAV',
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

/**
 * A file in step, work for both sides, and a process that is killed when its nth upload is stored and not yet replied to (null:
 * lives on); somebody saves the file, and runs follow. Gives how everything stands, and how many uploads there were.
 */
async function play(habits: DavHabits, nth: number | null) {
  await using world = await CrashWorld.open(server, scene, await beginning);
  await using dav = await startDavServer(world.folder, habits);
  const life = { ...world.life, path: `${dav.origin}/leads.csv` };
  const sync = async () => (await live(life, world.pool)).report as SyncReport;
  await sync();
  world.sandbox.leads.add({ id: idOf(4), companyName: 'Lead 4' });
  world.sandbox.leads.edit(idOf(1), { city: 'Ulm' });
  world.sheet.edit((row) => row['Lead ID'] === idOf(2), { City: 'Bonn' });
  world.sheet.add({ Company: 'Lead 5', City: 'Jena' });
  let uploads = 0;
  const argument = JSON.stringify({ database: world.database, life, end: null });
  const started = execFile(process.execPath, [child, argument], { env: compiledEnv });
  const ended = once(started, 'exit');
  dav.beforeReply = async (method, path, status) => {
    const isUpload = method === 'MOVE' || (method === 'PUT' && path === '/leads.csv');
    if (!isUpload || status >= 300 || ++uploads !== nth) return;
    started.kill('SIGKILL');
    await ended;
  };
  expect(await ended).toEqual(nth === null ? [0, null] : [null, 'SIGKILL']);
  dav.beforeReply = () => {};
  world.sheet.edit((row) => row['Lead ID'] === idOf(3), { City: 'Kiel' });
  if ((await sync()).putOff > 0) await sync();
  const before = world.sheet.text();
  expect((await sync()).receipt.equal).toBe(5);
  expect(world.sheet.text()).toBe(before);
  return { state: await endState(world), uploads };
}

test.each<[string, DavHabits]>([
  ['stored on a condition', {}],
  ['renamed into place', { isApache: true }],
])('killed after an upload that is %s, before its reply: nothing is lost or doubled', async (_, habits) => {
  const undisturbed = await play(habits, null);
  expect(undisturbed.uploads).toBeGreaterThan(0);
  for (let nth = 1; nth <= undisturbed.uploads; nth++)
    expect((await play(habits, nth)).state).toEqual(undisturbed.state);
});
