import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mailHandlers } from '../../../jobs/mails.ts';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { workMails } from '../../../src/worker/work-mails.ts';
import { until } from '../../support/until.ts';
import { outbox } from '../../support/worker.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

describe('a reminder', () => {
  const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' };

  test('leaves when the follow-up falls due, not before, once; with a date that was moved meanwhile it moves', async () => {
    await using workspace = await Workspace.open({ connection: { reminders } });
    const { sandbox } = workspace;
    await using app = await workspace.openApp();
    const dueAt = Date.now() + 3_000;
    const due = new Date(dueAt).toISOString();
    const stays = sandbox.leads.add({ companyName: 'Stays AG', nextFollowUpAt: due });
    const moves = sandbox.leads.add({ companyName: 'Moves AG', nextFollowUpAt: due });
    const cleared = sandbox.leads.add({ companyName: 'Cleared AG', nextFollowUpAt: due });
    expect((await workspace.sync()).created.rows).toBe(3);
    // After the sync that agreed on the dates: only the reading of the lead just before the mail sees this.
    sandbox.leads.edit(moves.id, { nextFollowUpAt: '2040-01-01T09:00:00.000Z' });
    sandbox.leads.edit(cleared.id, { nextFollowUpAt: null });
    await planMails(app);

    const states = async (): Promise<Record<string, string>> => {
      const { rows } = await workspace.database.pool.query<{ lead: string; state: string }>(
        `select lead_id as lead, state from mails where connection = $1 and due_at = $2`,
        [connectionName, due],
      );
      return Object.fromEntries(rows.map(({ lead, state }) => [lead, state]));
    };
    expect(await states()).toEqual({
      [stays.id]: 'scheduled',
      [moves.id]: 'scheduled',
      [cleared.id]: 'scheduled',
    });
    await using _works = await workMails(app);
    const mailedAt: number[] = [];
    await until('all are settled', async () => {
      if (mailedAt.length === 0 && (await outbox(workspace)).length > 0) mailedAt.push(Date.now());
      return (
        !Object.values(await states()).includes('scheduled') &&
        !Object.values(await states()).includes('sending')
      );
    });
    expect(await states()).toEqual({
      [stays.id]: 'sent',
      [moves.id]: 'cancelled',
      [cleared.id]: 'cancelled',
    });
    const others = async () => {
      const { rows } = await workspace.database.pool.query(
        `select lead_id as lead, state, due_at from mails where due_at <> $1`,
        [due],
      );
      return rows;
    };
    // It is planned anew right after it was cancelled.
    await until('the moved one is planned', async () => (await others()).length > 0);
    expect(await others()).toEqual([{ lead: moves.id, state: 'scheduled', due_at: expect.anything() }]);
    const mails = await outbox(workspace);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toMatch(/^Subject: .*Stays_AG/m);
    expect(mails[0]).toContain('To: anna@example.com');
    for (const at of mailedAt) expect(at).toBeGreaterThanOrEqual(dueAt);
  });

  test.each([1, 3])(
    'whose worker is stopped while it reads the lead is sent by the next one, at once: %d',
    async (count) => {
      await using workspace = await Workspace.open({ connection: { reminders } });
      const { sandbox } = workspace;
      const nextFollowUpAt = new Date(Date.now() - 1_000).toISOString();
      for (let n = 0; n < count; n++) sandbox.leads.add({ companyName: `Due ${n} AG`, nextFollowUpAt });
      await workspace.sync();
      sandbox.set({ faults: [{ kind: 'slow', ms: 60_000, when: { once: 1 }, on: ['get'] }] });
      await using app = await workspace.openApp();
      {
        await using _first = await workMails(app);
        await planMails(app);
        await until('the lead is read', () => sandbox.stats.byRoute.get === 1);
      }
      expect(await outbox(workspace)).toEqual([]);
      await using _second = await workMails(app);
      await until('the mails are there', async () => (await outbox(workspace)).length === count);
    },
  );

  test('that cannot be written as a file is tried again', async () => {
    await using workspace = await Workspace.open({ connection: { reminders } });
    workspace.sandbox.leads.add({ nextFollowUpAt: new Date(Date.now() - 1_000).toISOString() });
    await workspace.sync();
    await using app = await workspace.openApp();
    await planMails(app);
    await mkdir(join(workspace.folder, 'data'), { recursive: true });
    await writeFile(join(workspace.folder, 'data', 'outbox'), 'in the way');
    const send = () =>
      mailHandlers(app)['send-mails'](
        { connection: connectionName, isChat: false, at: 0 },
        { requestedAt: 0 },
        new AbortController().signal,
      );
    expect(await send()).toEqual({ done: {} });
    expect(await outbox(workspace).catch(() => [])).toEqual([]);
    await rm(join(workspace.folder, 'data', 'outbox'));
    await app.pool.query('update mails set try_at = now()');
    expect(await send()).toEqual({ done: {} });
    expect(await outbox(workspace)).toHaveLength(1);
  });
});
