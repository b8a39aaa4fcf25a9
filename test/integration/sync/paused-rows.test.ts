import { expect, test } from 'vitest';
import type { CliResult } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';

test('paused rows are counted, and named with the lead; an undo leaves them alone', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 3 },
    connection: { target: { pauseColumn: 'Pause' } },
  });
  const { sandbox, sheet } = workspace;
  const [{ id: leadId } = { id: '' }, { id: other } = { id: '' }] = sandbox.leads.list();
  expect(await workspace.sync()).not.toHaveProperty('pausedRows');
  sandbox.leads.edit(leadId, { city: 'Bonn' });
  sandbox.leads.edit(other, { city: 'Bonn' });
  const { runId } = await workspace.sync();
  const pause = (text: string): void => sheet.edit((row) => row['Lead ID'] === leadId, { Pause: text });
  const why = (): Promise<CliResult> => workspace.cli('why', leadId);
  pause('x');
  sandbox.leads.edit(leadId, { city: 'Kiel' });

  const planned = await workspace.cli('plan');
  expect(planned.stdout).toContain('1 row is paused');
  expect((await workspace.cli('plan', '--json')).json()).toMatchObject({ pausedRows: 1, actions: [] });
  expect((await why()).stdout).not.toContain('paused');

  const synced = await workspace.cli('sync');
  expect(synced.stdout).toContain('2 of 3 records equal on both sides, 1 left as it is, 1 row paused');
  expect(await workspace.sync()).toMatchObject({ status: 'succeeded', pausedRows: 1, held: 0, putOff: 0 });
  expect((await why()).stdout).toMatch(
    /its row has been paused since 20\d\d-.*: neither side follows the other/,
  );

  const undone = await workspace.cli('undo', runId);
  expect(undone.stdout).toContain('its row is paused; neither side was put back');
  await workspace.cli('undo', runId, '--yes');
  const cityOf = (id: string) => sheet.rows().find((row) => row['Lead ID'] === id)?.['City'];
  expect([cityOf(leadId), cityOf(other) === 'Bonn']).toEqual(['Bonn', false]);

  pause('');
  expect(await workspace.sync()).not.toHaveProperty('pausedRows');
  expect([cityOf(leadId), (await why()).stdout.includes('paused')]).toEqual(['Kiel', false]);
});
