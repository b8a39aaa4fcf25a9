import { expect, test } from 'vitest';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { Workspace } from '../../support/workspace.ts';

const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'Europe/Berlin' };

test('a year that nobody means, and a time that the clocks skip: held in the row, never sent, never mailed', async () => {
  await using workspace = await Workspace.open({
    connection: { reminders: { ...reminders, digest: '08:00' }, target: { timeZone: 'Europe/Berlin' } },
  });
  const due = '2099-06-01T10:00:00.000Z';
  const add = (companyName: string, nextFollowUpAt: string) =>
    workspace.sandbox.leads.add({ companyName, stage: 'new', nextFollowUpAt });
  const [typo, night] = [add('Typo AG', due), add('Night AG', due)];
  // The service may have what a table may not send: the row shows it.
  const old = add('Old AG', '0026-11-21T00:00:00.000Z');
  expect((await workspace.cli('sync')).code).toBe(0);
  workspace.sheet.edit((row) => row['Company'] === 'Typo AG', { 'Next follow-up': '21.11.0026' });
  workspace.sheet.edit((row) => row['Company'] === 'Night AG', { 'Next follow-up': '29.03.2099 02:30' });
  workspace.sheet.add({ Company: 'New AG', 'Next follow-up': '21.11.2262' });
  const { code, stdout } = await workspace.cli('sync');
  expect(code).toBe(3);
  expect(stdout).toMatch(/"0026-11-2\S*" is not in the years 1970 to 2200\. Type the date with its year/);
  expect(stdout).toMatch(/"29\.03\.2099 02:30" does not exist: the clocks are put forward over it/);
  expect(stdout).toMatch(
    /row 5 \("New AG"\) is new, but its Next follow-up "2262-11-2\S*" is not in the years 1970 to 2200/,
  );
  expect(workspace.sheet.text()).toContain('New AG,,,,,21.11.2262');
  const followUps = workspace.sandbox.leads
    .list()
    .map((lead) => `${lead.companyName} ${lead.nextFollowUpAt}`);
  expect(followUps.toSorted()).toEqual([
    `Night AG ${due}`,
    'Old AG 0026-11-21T00:00:00.000Z',
    `Typo AG ${due}`,
  ]);
  await using app = await workspace.openApp();
  await planMails(app);
  const { rows } = await app.pool.query<{ lead_id: string }>(
    `select lead_id from mails where kind = 'reminder'`,
  );
  expect(rows.map(({ lead_id }) => lead_id).toSorted()).toEqual([typo.id, night.id].toSorted());
  const nobody =
    /nobody is mailed about 1 lead with a follow-up outside of the years 1970 to 2200, such as 0026-11-21\S* in row \d/;
  expect((await workspace.cli('status', '--reminders')).stdout).toMatch(nobody);
  const check = await workspace.cli('check');
  expect([check.code, check.stdout]).toEqual([0, expect.stringMatching(nobody)]);
  workspace.sandbox.leads.edit(old.id, { nextFollowUpAt: due });
  workspace.sheet.edit((row) => row['Company'] === 'Typo AG', { 'Next follow-up': '21.11.2098' });
  workspace.sheet.edit((row) => row['Company'] === 'Night AG', { 'Next follow-up': '29.03.2099 03:30' });
  workspace.sheet.edit((row) => row['Company'] === 'New AG', { 'Next follow-up': '' });
  expect((await workspace.cli('sync')).code).toBe(0);
  expect((await workspace.cli('status', '--reminders')).stdout).not.toContain('nobody is mailed');
  expect(workspace.sandbox.leads.list()).toHaveLength(4);
});
