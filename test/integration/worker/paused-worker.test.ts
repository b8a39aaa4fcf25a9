import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Route } from '../../../src/demo/faults.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

const child = fileURLToPath(new URL('paused-child.ts', import.meta.url));

/** How long the leases of the processes live that are paused here; those of others live 30 s. */
const leaseMs = 1_500;

/** The request that is under way when the process is paused, and which of its kind. The reply waits for it when it wakes up. */
const moments: readonly { readonly name: string; readonly on: Route; readonly nth: number }[] = [
  { name: 'a page of leads is asked for', on: 'list', nth: 2 },
  { name: 'a lead is read again before it is written', on: 'get', nth: 1 },
  { name: 'a lead is written', on: 'update', nth: 1 },
  { name: 'a lead is made', on: 'create', nth: 1 },
];

test.each(moments)(
  'a worker that is paused past its lease while $name writes nothing more; another one carries on',
  async ({ on, nth }) => {
    await using workspace = await Workspace.open({ sandbox: { leads: 12, maxLimit: 5 } });
    const { sandbox, sheet, folder, env, database } = workspace;
    await workspace.sync();
    const [first = '', second = ''] = sheet.rows().map((row) => row['Lead ID'] ?? '');
    sheet.edit((row) => row['Lead ID'] === first, { City: 'Ulm' });
    sheet.edit((row) => row['Lead ID'] === second, { City: 'Bonn' });
    sheet.add({ Company: 'New row GmbH', City: 'Kiel' });

    const before = sandbox.stats.byRoute[on];
    sandbox.set({ faults: [{ kind: 'slow', ms: 300, when: { once: nth }, on: [on] }] });
    const paused = spawn(process.execPath, [child, String(leaseMs)], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void paused.kill('SIGKILL'));
    const said = text(paused.stdout);
    await until('the request is under way', () => sandbox.stats.byRoute[on] === before + nth);
    // In the middle of a transaction it would keep the other one waiting, until the server ends that after a minute.
    await until('it is paused between transactions', async () => {
      paused.kill('SIGSTOP');
      const { rowCount } = await database.pool.query(
        `select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
      );
      if (rowCount === 0) return true;
      paused.kill('SIGCONT');
      return false;
    });
    await until('its lease has run out', async () => {
      const { rowCount } = await database.pool.query('select from leases where expires_at < now()');
      return rowCount === 1;
    });
    expect((await workspace.sync()).status).toBe('succeeded');
    const others = sandbox.log.length;
    // What the people do now would be written over by somebody who goes on where he was.
    sandbox.leads.edit(first, { city: 'Mainz' });
    paused.kill('SIGCONT');
    await once(paused, 'exit');
    expect((await said).trim()).toBe('busy');
    expect(sandbox.log.slice(others)).toEqual([]);

    expect((await workspace.sync()).status).toBe('succeeded');
    expect(sandbox.leads.size).toBe(13);
    expect(new Set(sheet.rows().map((row) => row['Lead ID'])).size).toBe(13);
    const cities = new Map(sandbox.leads.list().map(({ id, city }) => [id, city]));
    expect([cities.get(first), cities.get(second)]).toEqual(['Mainz', 'Bonn']);
    expect(sheet.rows().map((row) => row['City'])).toEqual(
      sheet.rows().map((row) => cities.get(row['Lead ID'] ?? '') ?? ''),
    );
  },
);
