import { expect, test } from 'vitest';
import { connectionStatus } from '../../../src/ops/connection-status.ts';
import { lastRun } from '../../../src/store/runs.ts';
import { editScene, friday, monday, tuesday } from './edit-scene.ts';

test('the lead gets the value without a scan, and the next sync takes it to the row', async () => {
  await using scene = await editScene();
  const before = await lastRun(scene.database.pool, 'main', 'sync');
  const from = scene.sandbox.log.length;

  expect(await scene.carryOut({})).toMatchObject({
    status: 'succeeded',
    updated: { leads: 1, rows: 0 },
    held: 0,
    putOff: 0,
    problems: [],
  });

  const requests = scene.sandbox.log.slice(from).map(({ method, path }) => `${method} ${path}`);
  const lead = `/v1/leads/${scene.leadId}`;
  expect(requests).toEqual([`GET ${lead}`, `PATCH ${lead}`, `GET ${lead}`]);
  expect([scene.due(), scene.rowDue()]).toEqual([tuesday, monday]);
  expect(await scene.edits()).toMatchObject([{ state: 'applied', note: null }]);
  // It is no sync: not for the status, nor for what follows from the last one.
  expect((await lastRun(scene.database.pool, 'main', 'sync'))?.id).toBe(before?.id);
  const status = await connectionStatus(scene.database.pool, {
    name: 'main',
    leads: { baseUrl: scene.sandbox.url, apiKey: { reveal: () => 'key' } },
    sync: { match: 'off' },
  } as never);
  expect(status.lastRun?.runId).toBe(String(before?.id));

  expect(await scene.sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 1 } });
  expect([scene.due(), scene.rowDue()]).toEqual([tuesday, tuesday]);
});

test('it is cleared, it is there already, it is another by now, it is gone', async () => {
  await using scene = await editScene({}, 4);
  const [cleared = '', there = '', other = '', gone = ''] = scene.ids;
  scene.sandbox.leads.edit(there, { nextFollowUpAt: tuesday });
  scene.sandbox.leads.edit(other, { nextFollowUpAt: friday });
  scene.sandbox.leads.remove(gone);
  const report = await scene.carryOut(
    { leadId: cleared, to: null },
    { leadId: there },
    { leadId: other },
    { leadId: gone },
  );
  expect(report).toMatchObject({ status: 'partial', held: 2, putOff: 0 });
  expect(report.problems.map(({ code }) => code)).toEqual(['edit.conflict', 'edit.failed']);
  expect(await scene.edits()).toMatchObject([
    { state: 'applied' },
    { state: 'unchanged' },
    { state: 'conflict', shown: friday },
    { state: 'failed', note: 'the lead is not there any more' },
  ]);
  const shown = new Map(scene.sandbox.leads.list().map((lead) => [lead.id, lead['nextFollowUpAt'] ?? null]));
  expect([cleared, there, other].map((id) => shown.get(id))).toEqual([null, tuesday, friday]);
});

test('a row that was edited meanwhile is an ordinary conflict at the next sync', async () => {
  await using scene = await editScene();
  scene.sheet.edit((row) => row['Lead ID'] === scene.leadId, { 'Next follow-up': '2031-03-05 08:00' });
  await scene.carryOut({});
  const report = await scene.sync();
  expect(report).toMatchObject({ held: 1, problems: [{ code: 'conflict.both-edited' }] });
  expect([scene.due(), scene.rowDue()]).toEqual([tuesday, '2031-03-05T08:00:00.000Z']);
});

test('a field that is not two-way, or not mapped, is refused in words', async () => {
  await using scene = await editScene();
  const fields = (direction: 'to-target' | 'to-leads') => [
    { field: 'nextFollowUpAt', column: 'Due', type: 'instant' as const, direction },
  ];
  await expect(scene.request({}, fields('to-target'))).rejects.toMatchObject({ code: 'edit.not-allowed' });
  await expect(scene.request({}, fields('to-leads'))).rejects.toMatchObject({ code: 'edit.not-allowed' });
  await expect(scene.request({ field: 'secret' })).rejects.toMatchObject({
    code: 'edit.not-allowed',
    message: 'secret cannot be changed here: it is not mapped',
  });
  await expect(scene.request({ to: 'soon' })).rejects.toMatchObject({ code: 'edit.invalid' });
  expect(await scene.edits()).toEqual([]);
});

test('the same request twice is one; another one of the same person takes its place, of another person stands beside it', async () => {
  await using scene = await editScene();
  const first = await scene.request();
  expect((await scene.request({ requestedBy: 'Anna@Example.com' })).id).toBe(first.id);
  await scene.request({ to: friday });
  await scene.request({ requestedBy: 'ben@example.com' });
  await scene.carryOut();
  expect(await scene.edits()).toMatchObject([
    { state: 'superseded', to: tuesday },
    { state: 'applied', to: friday },
    { state: 'conflict', to: tuesday, shown: friday, requestedBy: 'ben@example.com' },
  ]);
  expect(scene.due()).toBe(friday);
});

test('a key that is refused leaves the edit open, and says so; the next run carries it out', async () => {
  await using scene = await editScene();
  scene.sandbox.set({ faults: [{ kind: 'revoked', when: { every: 1 }, on: [] }] });
  expect(await scene.carryOut({})).toMatchObject({ status: 'failed' });
  expect(await scene.edits()).toMatchObject([{ state: 'open', runId: null, note: expect.any(String) }]);
  scene.sandbox.set({ faults: [] });
  expect(await scene.carryOut()).toMatchObject({ status: 'succeeded' });
  expect(scene.due()).toBe(tuesday);
});

test('a calendar that is shifted as a whole is held before any lead is changed', async () => {
  await using scene = await editScene({ reminders: { to: ['anna@example.com'] } }, 13);
  const moved = scene.ids.slice(0, 11).map((leadId) => ({ leadId, source: 'calendar' as const }));
  const report = await scene.carryOut(...moved, { leadId: scene.ids[12] ?? '', source: 'link' });
  expect(report).toMatchObject({ status: 'stopped', held: 11, updated: { leads: 1 } });
  expect(report.problems[0]?.message).toContain(
    'leadsync resolve --requested-by anna@example.com --connection main --use requested',
  );
  // Asked again, as a calendar is with each look: nothing new.
  for (const edit of moved) await scene.request(edit);
  expect(await scene.edits()).toHaveLength(12);

  const { stdout } = await scene.cli('resolve', '--requested-by', 'Anna@example.com', '--use', 'target');
  expect(stdout).toContain('11 conflicts decided: the requested value is kept.');
  expect(await scene.carryOut()).toMatchObject({ status: 'succeeded', updated: { leads: 11 } });
  expect(scene.due()).toBe(tuesday);
});
