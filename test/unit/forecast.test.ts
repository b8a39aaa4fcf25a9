import { expect, test } from 'vitest';
import { forecast } from '../../src/sync/forecast.ts';

const now = Date.UTC(2026, 10, 21, 2);
const run = { pages: 4, pageSize: 1_000, pulled: 800 };
/** 250 ms for each page. */
const work = { ms: 1_000, answerMs: 1_000, requests: 4 };
const actions = [
  { kind: 'update-lead', reason: 'new-lead', count: 2 },
  { kind: 'create-lead', reason: 'new-lead', count: 1 },
  { kind: 'delete-lead', reason: 'new-lead', count: 1 },
  { kind: 'mark-row', reason: 'new-lead', count: 3 },
  { kind: 'remove-row', reason: 'new-lead', count: 1 },
  { kind: 'unlink', reason: 'new-lead', count: 5 },
  { kind: 'create-row', reason: 'new-lead', count: 100 },
  { kind: 'hold', reason: 'new-lead', count: 7 },
] as const;
const free = { pauseMs: 0, perSecond: null };
const basis = { run, work, actions, outlook: free, isFile: true, now };

test('without a limit it takes as long as the plan, and as much for each further request', () => {
  expect(forecast(basis)).toEqual({
    leadRequests: 4 + 6 + 2 + 3 + 4,
    targetRequests: 0,
    waitMs: 0,
    durationMs: 1_000 + 15 * 250,
    finishAt: new Date(now + 4_750).toISOString(),
  });
});

test('what the plan took beside its requests is no time of a request', () => {
  const creates = [{ kind: 'create-lead', reason: 'new-row', count: 40 }] as const;
  const slow = { ms: 2_400, answerMs: 40, requests: 2 };
  const asked = { ...basis, actions: creates, work: slow, run: { ...run, pages: 2 } };
  expect(forecast(asked)).toMatchObject({ leadRequests: 82, durationMs: 2_400 + 80 * 20 });
});

test('a pause is waited for first, and each request for what the pace leaves above its own time', () => {
  const outlook = { pauseMs: 10_000, perSecond: 2 };
  expect(forecast({ ...basis, outlook })).toMatchObject({
    waitMs: 10_000 + 19 * 250,
    durationMs: 4_750 + 10_000 + 19 * 250,
  });
  expect(forecast({ ...basis, outlook: { pauseMs: 0, perSecond: 100 } })).toMatchObject({ waitMs: 0 });
});

test('of an online table it is not known how many requests it takes', () => {
  expect(forecast({ ...basis, isFile: false })).toMatchObject({
    leadRequests: 19,
    targetRequests: null,
  });
});

test('an undo proves nothing of what a run has marked, but that the leads of unlinked rows are gone', () => {
  const undoing = actions.map((one) => ({ ...one, reason: 'undone' }));
  expect(forecast({ ...basis, actions: undoing })).toMatchObject({
    leadRequests: 4 + 6 + 2 + 3 + 5,
  });
});

test('what was done of the plan before it was taken up again is reckoned from what was done since', () => {
  const more = forecast({ ...basis, actions: [], run: { ...run, pages: 40 } });
  expect(more).toMatchObject({ leadRequests: 40, durationMs: 10_000 });
  const compared = forecast({ ...basis, actions: [], work: { ms: 700, answerMs: 0, requests: 0 } });
  expect(compared).toMatchObject({ leadRequests: 4, durationMs: 700 });
});

test.each([
  ['a service that clamps a page has as many again', 1_000, 4],
  ['one that learned to ask for fewer on the way asks for more pages', 100, 8],
  ['without `limit` there are as many again', 0, 4],
])('%s', (_name, pageSize, pages) => {
  expect(forecast({ ...basis, actions: [], run: { ...run, pageSize } }).leadRequests).toBe(pages);
});
