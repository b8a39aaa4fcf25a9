import { describe, expect, test } from 'vitest';
import { leadsPauseMs } from '../../../src/reminders/send/circuit-breakers.ts';
import type { LeadTable } from '../../../src/demo/lead-table.ts';
import { body, due, dueLead, header } from '../../support/due-lead.ts';
import { startMailServer } from '../../support/mail-server.ts';

/** Of each read that fails. */
const triesInPlace = 3;
const minute = 60_000;

test('a mail is sent once, however often its job runs', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  expect(await scene.states()).toMatchObject([{ state: 'sent', attempts: 1 }]);
  expect(server.mails).toHaveLength(1);
  const { source = '' } = server.mails[0] ?? {};
  expect(header(source, 'Subject')).toContain('Due_AG');
  expect(scene.log).toEqual([]);
});

test('two jobs of one reminder at once: one mail', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  await Promise.all([1, 2, 3, 4].map(() => scene.send(scene.id)));
  expect(server.mails).toHaveLength(1);
});

describe('before the mail leaves the lead is read again', () => {
  const edits: Readonly<Record<string, (leads: LeadTable, id: string) => void>> = {
    moved: (leads, id) => leads.edit(id, { nextFollowUpAt: '2040-01-01T09:00:00.000Z' }),
    cleared: (leads, id) => leads.edit(id, { nextFollowUpAt: null }),
    deleted: (leads, id) => leads.remove(id),
    'in a stage that is skipped': (leads, id) => leads.edit(id, { stage: 'Won' }),
    'in the region of somebody else': (leads, id) => leads.edit(id, { region: 'BY' }),
  };
  test.each(Object.keys(edits))('%s: no mail', async (what) => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, {
      reminders: { skipStages: ['won'], routes: [{ when: { region: ['BY'] }, to: ['ben@example.com'] }] },
    });
    edits[what]?.(scene.workspace.sandbox.leads, scene.leadId);
    expect(await scene.send(scene.id)).toEqual({ state: 'cancelled' });
    expect(server.mails).toEqual([]);
  });

  test('moved: planned for that moment at once, whatever the agreed date, and sent then', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const later = new Date(Date.now() + 20 * minute).toISOString();
    scene.workspace.sandbox.leads.edit(scene.leadId, { nextFollowUpAt: later });
    expect(await scene.send(scene.id)).toEqual({ state: 'cancelled' });
    const due = await scene.due();
    expect(due).toMatchObject([{ dueAt: Date.parse(later), state: 'scheduled' }]);
    expect(await scene.plan(), 'another planning before a sync leaves it so').toEqual(due);
    scene.pass(20 * minute);
    expect(await scene.send(due[0]?.id ?? 0)).toEqual({ state: 'sent' });
    expect(server.mails).toHaveLength(1);
  });

  test('for somebody else now: he gets it at once', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, {
      reminders: { routes: [{ when: { region: ['BY'] }, to: ['ben@example.com'] }] },
    });
    scene.workspace.sandbox.leads.edit(scene.leadId, { region: 'BY' });
    expect(await scene.send(scene.id)).toEqual({ state: 'cancelled' });
    expect(await scene.send((await scene.due())[0]?.id ?? 0)).toEqual({ state: 'sent' });
    expect(server.mails.map(({ to }) => to)).toEqual([['ben@example.com']]);
  });

  test('moved and moved back before any sync: it is planned and sent after all', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const { leads } = scene.workspace.sandbox;
    const was = leads.list()[0]?.nextFollowUpAt ?? null;
    leads.edit(scene.leadId, { nextFollowUpAt: null });
    expect(await scene.send(scene.id)).toEqual({ state: 'cancelled' });
    leads.edit(scene.leadId, { nextFollowUpAt: was });
    const [again] = await scene.plan();
    expect(again?.id).toBe(scene.id);
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    expect(server.mails).toHaveLength(1);
  });
});

const waitOf = (outcome: object | 'waits'): number =>
  typeof outcome === 'object' && 'againAfterMs' in outcome ? Number(outcome.againAfterMs) : 0;

describe('a service that cannot be asked', () => {
  test('429: tried again when it says so, without a request before', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const { sandbox } = scene.workspace;
    sandbox.set({
      faults: [{ kind: 'status', status: 429, retryAfter: { seconds: 2 }, when: { once: 1 }, on: ['get'] }],
    });
    const first = await scene.send(scene.id, Date.now());
    expect(first).toEqual({ againAfterMs: expect.any(Number) });
    expect(waitOf(first)).toBeGreaterThanOrEqual(2_000);
    const asked = sandbox.stats.requests;
    expect(await scene.send(scene.id, Date.now())).toEqual({ againAfterMs: expect.any(Number) });
    expect(sandbox.stats.requests).toBe(asked);
    expect(await scene.states()).toMatchObject([{ state: 'scheduled', attempts: 1 }]);
    expect(server.mails).toEqual([]);
  });

  test('an outage: tried again later and later; after half an hour sent with what is known', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const { sandbox } = scene.workspace;
    sandbox.set({ faults: [{ kind: 'status', status: 503, when: { every: 1 }, on: ['get'] }] });
    const firstAt = Date.now();
    for (const wait of [2, 2, 4, 8, 14]) {
      const outcome = await scene.send(scene.id, firstAt);
      const againAfterMs = waitOf(outcome);
      expect(Math.round(againAfterMs / minute)).toBe(wait);
      scene.pass(wait * minute);
    }
    expect(sandbox.stats.byRoute.get).toBe(5 * triesInPlace);
    expect(server.mails).toEqual([]);
    expect(await scene.send(scene.id, firstAt)).toEqual({ state: 'sent' });
    expect(sandbox.stats.byRoute.get).toBe(6 * triesInPlace);
    expect(body(server.mails[0]?.source ?? '')).toMatch(
      /the Leads service was unavailable\. .* known at \d\d:\d\d/,
    );
  });

  test('three leads in a row cannot be read: the next are not asked about; then one that was not tried finds out', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const { sandbox } = scene.workspace;
    for (let n = 1; n < 5; n++) sandbox.leads.add({ companyName: `Due ${n}`, nextFollowUpAt: due(1_000) });
    await scene.workspace.sync();
    const [a = 0, b = 0, c = 0, d = 0, e = 0] = (await scene.plan()).map(({ id }) => id);
    sandbox.set({ faults: [{ kind: 'status', status: 500, when: { every: 1 }, on: ['get'] }] });
    const asked = (): number => sandbox.stats.byRoute.get;
    const wait = async (id: number): Promise<number> => {
      const outcome = await scene.send(id, Date.now());
      return waitOf(outcome);
    };
    const before = asked();
    for (const id of [a, b, c]) expect(await wait(id)).toBeGreaterThanOrEqual(2 * leadsPauseMs);
    expect(await wait(d)).toBeLessThanOrEqual(leadsPauseMs);
    expect(await wait(a), 'one of those that failed comes later').toBeGreaterThan(leadsPauseMs);
    expect(asked() - before).toBe(3 * triesInPlace);
    scene.pass(leadsPauseMs);
    expect(await wait(d)).toBeGreaterThanOrEqual(2 * leadsPauseMs);
    expect(await wait(e)).toBeLessThanOrEqual(leadsPauseMs);
    expect(asked() - before).toBe(4 * triesInPlace);
    sandbox.set({ faults: [] });
    scene.pass(leadsPauseMs);
    for (const id of [e, a, b, c, d]) expect(await scene.send(id, Date.now())).toEqual({ state: 'sent' });
    expect(server.mails).toHaveLength(5);
  });

  test('one minute before the half hour is over it comes back for its end', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    scene.workspace.sandbox.set({
      faults: [{ kind: 'status', status: 500, when: { every: 1 }, on: ['get'] }],
    });
    const from = Date.now();
    scene.pass(30 * minute - 10_000);
    const outcome = await scene.send(scene.id, from);
    const wait = waitOf(outcome);
    expect(wait).toBeGreaterThan(5_000);
    expect(wait).toBeLessThanOrEqual(10_000);
  });
});

describe('late', () => {
  test('the Date is when it was sent, not when it was planned', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { agoMs: 3 * 60 * minute });
    const before = Math.floor(Date.now() / 1_000) * 1_000;
    await scene.send(scene.id);
    expect(Date.parse(header(server.mails[0]?.source ?? '', 'Date'))).toBeGreaterThanOrEqual(before);
  });

  test('within the grace period: sent, saying so', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { agoMs: 3 * 60 * minute });
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    expect(body(server.mails[0]?.source ?? '')).toContain('This mail is late');
  });

  test('entered when its time before is past: sent at once, and no word of being late', async () => {
    await using server = await startMailServer();
    for (const agoMs of [-12 * 60 * minute, 2 * 60 * minute]) {
      await using scene = await dueLead(server.port, { agoMs, reminders: { before: ['2d'] } });
      expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
      expect(body(server.mails.at(-1)?.source ?? '')).not.toContain('late');
    }
  });

  test('after it: missed', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { agoMs: 3 * 60 * minute });
    scene.pass(21 * 60 * minute + minute);
    expect(await scene.send(scene.id)).toEqual({ state: 'missed' });
    expect(server.mails).toEqual([]);
  });

  test('into the quiet hours: put off to their end, and not late by then', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    scene.setRules({ graceMs: 60 * minute });
    const minuteOfDay = (fromNow: number): number => {
      const text = new Date(Date.now() + fromNow).toISOString();
      return Number(text.slice(11, 13)) * 60 + Number(text.slice(14, 16));
    };
    // As when a mail is tried again some minutes later.
    scene.setRules({ quietHours: { from: minuteOfDay(-minute), to: minuteOfDay(120 * minute) } });
    const outcome = await scene.send(scene.id);
    const wait = waitOf(outcome);
    expect(wait).toBeGreaterThan(118 * minute);
    expect(wait).toBeLessThanOrEqual(120 * minute);
    expect(server.mails).toEqual([]);
    scene.pass(wait);
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  });
});

test('a lead that is moved three times before it is due gives one mail', async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port, { agoMs: -60 * minute });
  for (const [times, ms] of [50 * minute, 30 * minute, -1_000].entries()) {
    scene.workspace.sandbox.leads.edit(scene.leadId, {
      nextFollowUpAt: new Date(Date.now() + ms).toISOString(),
    });
    expect((await scene.workspace.sync()).updated.rows, `move ${times}`).toBe(1);
    await scene.plan();
  }
  const { rows } = await scene.pool.query<{ id: number }>(`select id from mails`);
  expect(rows).toHaveLength(4);
  for (const { id } of rows) await scene.send(id);
  expect(server.mails).toHaveLength(1);
  const states = (await scene.states()).map(({ state }) => state);
  expect(states.toSorted()).toEqual(['cancelled', 'cancelled', 'cancelled', 'sent']);
});

test("another organization's key does not show the lead: it is not gone, the mail waits, and goes out by what is known", async () => {
  await using server = await startMailServer();
  await using scene = await dueLead(server.port);
  const { leads } = scene.workspace.sandbox;
  for (const companyName of ['Ems AG', 'Isar AG']) leads.add({ companyName });
  await scene.workspace.sync();
  for (const { id } of leads.list()) leads.remove(id);
  leads.add({ companyName: 'Foreign AG' });
  expect(await scene.workspace.sync()).toMatchObject({ problems: [{ code: 'guard.other-service' }] });
  expect(await scene.send(scene.id)).toEqual({ againAfterMs: 5 * 60_000 });
  expect(await scene.states()).toMatchObject([{ state: 'scheduled' }]);
  scene.pass(30 * minute);
  expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
  expect(server.mails).toHaveLength(1);
});
