import { expect, test } from 'vitest';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

const query = { stage: 'new' };
const due = new Date(Date.now() + 3_600_000).toISOString();

test('a lead that the filter hides has no mail, and status and why say so; when the list shows it again it has one', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 0 },
    connection: { leads: { query }, reminders: { to: ['anna@example.com'], timeZone: 'UTC' } },
  });
  const { sandbox } = workspace;
  await using app = await workspace.openApp();
  const { id } = sandbox.leads.add({ companyName: 'Acme', stage: 'new', nextFollowUpAt: due });
  sandbox.leads.add({ companyName: 'Bolt', stage: 'new', nextFollowUpAt: null });
  const mails = async (): Promise<readonly string[]> => {
    await workspace.sync();
    await planMails(app);
    const text = 'select lead_id as lead, state from mails where connection = $1';
    const { rows } = await workspace.database.pool.query<{ lead: string; state: string }>(text, [
      connectionName,
    ]);
    return rows.map(({ lead, state }) => `${lead} ${state}`);
  };
  expect(await mails()).toEqual([`${id} scheduled`]);

  sandbox.leads.edit(id, { stage: 'won' });
  expect(await mails()).toEqual([`${id} cancelled`]);
  expect(JSON.parse((await workspace.cli('status', '--json')).stdout)).toMatchObject({
    connections: [{ outsideLeads: 1 }],
  });
  expect((await workspace.cli('status')).stdout).toContain('1 lead that leads.query does not show');
  expect((await workspace.cli('why', id)).stdout).toContain('leads.query has not shown it since');

  sandbox.leads.edit(id, { stage: 'new' });
  expect(await mails()).toEqual([`${id} scheduled`]);
  expect((await workspace.cli('why', id)).stdout).not.toContain('leads.query');
});

test('many rows outside of the filter are edited: each lead is asked for once, through rate limits; then none is', async () => {
  await using workspace = await Workspace.open({
    sandbox: { leads: 0 },
    connection: { leads: { query } },
  });
  const { sandbox, sheet } = workspace;
  const leads = Array.from({ length: 250 }, (_, nth) =>
    sandbox.leads.add({ companyName: `Acme ${nth}`, stage: 'new', city: 'Bonn' }),
  );
  await workspace.sync();
  const [stays] = leads;
  for (const { id } of leads) if (id !== stays?.id) sandbox.leads.edit(id, { stage: 'won' });
  const asked = async (sync: Promise<unknown>): Promise<readonly string[]> => {
    const from = sandbox.log.length;
    await sync;
    const log = sandbox.log.slice(from);
    return log.flatMap(({ method, path, status }) =>
      method === 'GET' && status === 200 && path !== '/v1/leads' ? [path] : [],
    );
  };
  expect(await asked(workspace.sync())).toEqual([]);

  sheet.write(
    sheet
      .grid()
      .map((line, nth) => (nth === 0 ? line : line.map((cell) => (cell === 'Bonn' ? `Ulm ${nth}` : cell)))),
  );
  sandbox.set({
    faults: [{ kind: 'status', status: 429, retryAfter: { seconds: 0 }, when: { once: 120 }, on: ['get'] }],
  });
  const planned = await asked(workspace.run({ mode: 'plan' }));
  expect(planned.length).toBe(249);
  expect(new Set(planned).size).toBe(249);

  expect(await workspace.sync({ allow: ['whole-field', 'max-changes'] })).toMatchObject({
    status: 'succeeded',
    updated: { leads: 250 },
  });
  const cities = new Set(sandbox.leads.list().map(({ city }) => city));
  expect(cities.size).toBe(250);
  expect(await asked(workspace.sync())).toEqual([]);
}, 120_000);
