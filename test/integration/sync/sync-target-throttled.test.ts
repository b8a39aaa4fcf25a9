import { pino } from 'pino';
import { expect, test } from 'vitest';
import { LeadsyncError } from '../../../src/lib/errors.ts';
import type { SyncContext } from '../../../src/sync/context.ts';
import { advanceRun, type RunResult } from '../../../src/sync/run.ts';
import { otherTarget } from '../../support/other-target.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';

/** Takes a sync on until it is finished; the target throws this before each of its first `times` openings. */
async function syncWith(workspace: Workspace, fault: LeadsyncError, times: number): Promise<RunResult[]> {
  await using app = await workspace.openApp();
  const real = app.contexts.get(connectionName);
  if (real === undefined) throw new Error('the connection is not configured');
  let left = times;
  const target = otherTarget(real.target, {
    open: (...args) => (left-- > 0 ? Promise.reject(fault) : real.target.open(...args)),
  });
  const context: SyncContext = { ...real, log: pino({ level: 'silent' }), target };
  const results: RunResult[] = [];
  while (results.at(-1)?.kind !== 'finished') {
    const request = { mode: 'sync', allow: ['first-leads'], maxAttempts: 2 } as const;
    results.push(await advanceRun(context, request, new AbortController().signal));
  }
  return results;
}

const fault = (code: string): LeadsyncError =>
  new LeadsyncError(code, 'the target asks to wait', { retry: 'later', retryAfterMs: 7 });

test('a target that asks to wait is waited for, however often: it costs no try', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  const results = await syncWith(workspace, fault('target.rate-limited'), 4);
  const wait = { kind: 'again', afterMs: 7, why: 'target-throttled' };
  expect(results.slice(0, 4)).toEqual([wait, wait, wait, wait]);
  expect(results.at(-1)).toMatchObject({
    kind: 'finished',
    run: { report: { status: 'succeeded' }, attempts: 0 },
  });
  expect(workspace.sheet.rows()).toHaveLength(2);
});

test('any other fault of the target costs a try', async () => {
  await using workspace = await Workspace.open({ sandbox: { leads: 2 } });
  const results = await syncWith(workspace, fault('target.unavailable'), 4);
  expect(results).toMatchObject([
    { kind: 'again', afterMs: 7, why: 'fault' },
    { kind: 'finished', run: { report: { status: 'failed', problems: [{ code: 'target.unavailable' }] } } },
  ]);
});
