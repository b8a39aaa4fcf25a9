import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkAlerts } from '../../../src/alerts/watch-alerts.ts';
import { clearedForMs } from '../../../src/alerts/problems-of.ts';
import { Workspace } from '../../support/workspace.ts';
import { never, pathKey, startReceivers, yearly } from './alert-scene.ts';

const hour = 3_600_000;

test('what becomes of real runs is told once, by its name, also across a restart, and over after the next success', async () => {
  await using receivers = await startReceivers();
  await using workspace = await Workspace.open({
    connection: { sync: { schedule: yearly } },
    env: { SMTP_URL: receivers.smtp },
  });
  const file = join(workspace.folder, 'leadsync.yaml');
  const alerts = {
    email: ['ops@example.com'],
    webhook: receivers.webhook,
    heartbeat: `${receivers.url}/beat/${pathKey}`,
  };
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), alerts }));
  const { sandbox } = workspace;
  for (let n = 0; n < 12; n++) sandbox.leads.add({ companyName: `Firm ${n}` });
  let ahead = 0;
  /** A worker of its own looks. */
  const check = async (): Promise<void> => {
    await using app = await workspace.openApp();
    const context = app.alerting;
    if (context === null) throw new Error('nobody is told');
    await checkAlerts({ ...context, clock: { ...context.clock, now: () => Date.now() + ahead } }, never);
  };
  const told = ['the sync failed', 'a sync was stopped by the guard', 'the Leads service rejects the key'];
  const titles = told.map((title) => `leadsync: main: ${title}`);

  await workspace.run();
  await check();
  expect([receivers.hooked(), receivers.beats()]).toEqual([[], [`/beat/${pathKey}`]]);

  sandbox.set({ faults: [{ kind: 'status', status: 500, when: { every: 1 }, on: [] }] });
  await workspace.run({ maxAttempts: 1 });
  await check();
  await workspace.run({ maxAttempts: 1 });
  ahead = hour;
  await check();
  expect(receivers.subjects()).toEqual(titles.slice(0, 1));
  expect((await workspace.cli('status')).stdout).toMatch(/^ {2}alert {4}the sync failed, since \d{4}-/m);
  expect(receivers.mails[0]).toMatchObject({ from: 'ops@example.com', to: ['ops@example.com'] });
  expect(receivers.mails[0]?.source).toContain('leads.unavailable');

  sandbox.set({ faults: [] });
  const leads = sandbox.leads.list();
  for (const { id } of leads) sandbox.leads.remove(id);
  await workspace.run();
  await check();
  expect(receivers.hooked()).toEqual(titles.slice(0, 2));
  expect(receivers.seen.at(-1)?.body).toContain('--allow empty-scan');

  sandbox.set({ faults: [{ kind: 'revoked', when: { after: 1 }, on: [] }] });
  await workspace.run();
  await check();
  expect(receivers.hooked()).toEqual(titles);

  sandbox.set({ faults: [] });
  await workspace.run({ allow: ['empty-scan', 'max-deletes', 'max-changes'] });
  await check();
  expect(receivers.hooked()).toHaveLength(3);
  expect(receivers.beats()).toHaveLength(2);
  ahead += clearedForMs;
  await check();
  const all = [...titles, ...told.map((title) => `leadsync: main: over: ${title}`)];
  expect(new Set(receivers.hooked())).toEqual(new Set(all));
  expect(new Set(receivers.subjects())).toEqual(new Set(all));
  expect([receivers.hooked().length, receivers.subjects().length]).toEqual([6, 6]);

  const [plain, tried] = await Promise.all([
    workspace.cli('check', '--json'),
    workspace.cli('check', '--test-alert'),
  ]);
  expect(plain.stdout).toContain('mail to ops@example.com, a webhook, a heartbeat');
  expect(tried.stdout).toContain('ok    alerts: webhook: a test was sent');
  expect(tried.stdout).toContain('ok    alerts: mail to ops@example.com: a test was sent');
  expect(receivers.hooked().slice(6)).toEqual(['leadsync: a test of the alerts']);
  expect(receivers.subjects().slice(6)).toEqual(['leadsync: a test of the alerts']);
  expect(receivers.beats(), 'a test is no success').toHaveLength(2);
  expect(JSON.stringify([plain, tried])).not.toContain(pathKey);
});
