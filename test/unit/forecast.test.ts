import { expect, test } from 'vitest';
import { forecast } from '../../src/sync/forecast.ts';

const now = Date.UTC(2026, 10, 21, 2);
/** Four pages in 8 s, of which 3 were waited for the pace and 4 for a pause: 250 ms of work each. */
const run = {
  undoOf: null,
  pages: 4,
  sendLimit: true,
  createdAt: now - 8_000,
  waitedMs: 4_000,
  pacedMs: 3_000,
};
const actions = [
  { kind: 'update-lead', count: 2 },
  { kind: 'create-lead', count: 1 },
  { kind: 'delete-lead', count: 1 },
  { kind: 'mark-row', count: 3 },
  { kind: 'remove-row', count: 1 },
  { kind: 'unlink', count: 5 },
  { kind: 'create-row', count: 100 },
  { kind: 'hold', count: 7 },
] as const;
const free = { pauseMs: 0, perSecond: null };
const basis = { run, actions, outlook: free, isFile: true, now };

test('without a limit it takes as long as the plan, and as much for each further request', () => {
  expect(forecast(basis)).toEqual({
    leadRequests: 4 + 6 + 2 + 3 + 4,
    targetRequests: 0,
    waitMs: 0,
    durationMs: 1_000 + 15 * 250,
    finishAt: new Date(now + 4_750).toISOString(),
  });
});

test('a pause is waited for first, and each request for what the pace leaves above its own time', () => {
  const outlook = { pauseMs: 10_000, perSecond: 2 };
  expect(forecast({ ...basis, outlook })).toMatchObject({
    waitMs: 10_000 + 19 * 250,
    durationMs: 4_750 + 10_000 + 19 * 250,
  });
  expect(forecast({ ...basis, outlook: { pauseMs: 0, perSecond: 100 } })).toMatchObject({ waitMs: 0 });
});

test('of a service it is not known how many requests it takes; one that refuses limit costs one more', () => {
  expect(forecast({ ...basis, run: { ...run, sendLimit: false }, isFile: false })).toMatchObject({
    leadRequests: 20,
    targetRequests: null,
  });
});

test('an undo proves nothing of what a run has marked, but that the leads of unlinked rows are gone', () => {
  expect(forecast({ ...basis, run: { ...run, undoOf: 7 } })).toMatchObject({
    leadRequests: 4 + 6 + 2 + 3 + 5,
  });
});
