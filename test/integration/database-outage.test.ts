import { expect, test } from 'vitest';
import { runHandlers } from '../../src/cli/run-job.ts';
import { TcpProxy } from '../chaos/rounds/tcp-proxy.ts';
import { connectionName, Workspace } from '../support/workspace.ts';

test('a sync for which the database is away, or breaks off, is taken up again and does not fail', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 3 } });
  const url = new URL(workspace.database.url);
  await using cable = await TcpProxy.open(Number(url.port));
  url.port = String(cable.port);
  workspace.env['DATABASE_URL'] = url.href;
  await using app = await workspace.openApp();
  const sync = async () => {
    const payload = { connection: connectionName, allow: [], patience: 1 };
    return runHandlers(app)['sync']?.(payload, { requestedAt: Date.now() }, new AbortController().signal);
  };
  const again = { againAfterMs: 1_000, wholeQueue: false };

  cable.refuse();
  expect(await sync()).toEqual(again);
  cable.heal();
  workspace.sandbox.set({ faults: [{ kind: 'slow', ms: 500, when: { once: 1 }, on: ['list'] }] });
  const cutOff = sync();
  await expect.poll(() => workspace.sandbox.stats.byRoute.list).toBe(1);
  cable.refuse();
  expect(await cutOff).toEqual(again);
  cable.heal();
  expect(await sync()).toEqual({ done: { runId: expect.any(Number) } });
  expect(workspace.sheet.rows()).toHaveLength(3);
});
