import { describe, expect, test } from 'vitest';
import type { LeadTable } from '../../src/sandbox/lead-table.ts';
import { body, calendarOf, due, dueLead, header } from '../support/due-lead.ts';
import { startMailServer } from '../support/mail-server.ts';

const minute = 60_000;

describe('what the mail tells', () => {
  test('the row of an ordinary lead, as the last sync read it', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const number = async (): Promise<string | undefined> => {
      await scene.pool.query(`update reminders set state = 'scheduled'`);
      await scene.send(scene.id);
      return /Row (\d+) of leads\.csv when it was last read/.exec(
        body(server.mails.at(-1)?.source ?? ''),
      )?.[1];
    };
    expect(await number(), 'just made').toBe('2');
    const { sandbox, sheet } = scene.workspace;
    sandbox.leads.add({ companyName: 'Other AG' });
    for (let times = 0; times < 2; times++) await scene.workspace.sync();
    expect(await number(), 'nothing to do').toBe('2');
    const [head = [], due = [], other = []] = sheet.grid();
    sheet.write([head, other, due]);
    await scene.workspace.sync();
    expect(await number(), 'sorted').toBe('3');
  });

  test('each offset is a mail of its own, in one thread', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, {
      agoMs: -5 * minute,
      reminders: { before: ['0m', '1m'] },
    });
    scene.pass(6 * minute);
    const ids = await scene.pool.query<{ id: number }>(`select id from reminders order by send_at`);
    for (const { id } of ids.rows) {
      await scene.pool.query(`update reminders set state = 'scheduled' where id = $1`, [id]);
      expect(await scene.send(id)).toEqual({ state: 'sent' });
    }
    const sources = server.mails.map(({ source }) => source);
    expect(new Set(sources.map((source) => header(source, 'Message-ID'))).size).toBe(2);
    expect(new Set(sources.map((source) => header(source, 'References'))).size).toBe(1);
  });

  test('what changed since the last reminder of the lead', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { lead: { city: 'Ulm' } });
    await scene.send(scene.id);
    expect(body(server.mails[0]?.source ?? '')).not.toMatch(/Ulm.*Bonn/s);
    const next = due(500);
    scene.workspace.sandbox.leads.edit(scene.leadId, { city: 'Bonn', nextFollowUpAt: next });
    await scene.workspace.sync();
    const [reminder] = await scene.plan();
    expect(await scene.send(reminder?.id ?? 0)).toEqual({ state: 'sent' });
    const text = body(server.mails[1]?.source ?? '');
    expect(text).toMatch(/City.*Ulm.*Bonn/);
    expect(text).not.toMatch(/Stage.*new.*new/);
  });

  test('with a calendar entry when that is asked for; a moved date raises its SEQUENCE', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port, { reminders: { calendar: true } });
    await scene.send(scene.id);
    scene.workspace.sandbox.leads.edit(scene.leadId, { nextFollowUpAt: due(500) });
    await scene.workspace.sync();
    const [reminder] = await scene.plan();
    await scene.send(reminder?.id ?? 0);
    const entries = server.mails.map(({ source }) => calendarOf(source));
    expect(entries.map((entry) => /SEQUENCE:(\d+)/.exec(entry)?.[1])).toEqual(['0', '1']);
    const uids = entries.map((entry) => /UID:(.*)/.exec(entry)?.[1]);
    expect(uids[0]).toBeTruthy();
    expect(uids[1]).toBe(uids[0]);
  });
});

describe('a calendar entry of a follow-up that was cleared before it was due', () => {
  /** One lead due in an hour, of which a mail with an entry was sent, then changed and synced. */
  async function entrySent(port: number, change: (leads: LeadTable, id: string) => void) {
    const scene = await dueLead(port, {
      agoMs: -60 * minute,
      reminders: { before: ['2h'], calendar: true, skipStages: ['won'] },
    });
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    change(scene.workspace.sandbox.leads, scene.leadId);
    await scene.workspace.sync();
    return scene;
  }
  const clear = (leads: LeadTable, id: string): void => {
    leads.edit(id, { nextFollowUpAt: null });
  };

  test('is taken back by one mail, with a higher SEQUENCE', async () => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port, clear);
    const [cancel, ...others] = await scene.plan();
    expect(others).toEqual([]);
    expect(await scene.send(cancel?.id ?? 0)).toEqual({ state: 'sent' });
    expect(await scene.plan()).toEqual([]);
    const source = server.mails[1]?.source ?? '';
    expect(header(source, 'Subject')).toContain('No follow-up any more: Due AG');
    const entry = calendarOf(source);
    expect(entry).toContain('STATUS:CANCELLED');
    expect(entry).toContain('SEQUENCE:1');
    expect(/UID:(.*)/.exec(entry)?.[1]).toBe(/UID:(.*)/.exec(calendarOf(server.mails[0]?.source ?? ''))?.[1]);
  });

  test('stays when the follow-up was set again meanwhile', async () => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port, clear);
    const [cancel] = await scene.plan();
    scene.workspace.sandbox.leads.edit(scene.leadId, { nextFollowUpAt: '2040-01-01T09:00:00.000Z' });
    expect(await scene.send(cancel?.id ?? 0)).toEqual({ state: 'cancelled' });
    expect(server.mails).toHaveLength(1);
  });

  test('stays when the follow-up moved, or its stage is not asked for any more', async () => {
    await using server = await startMailServer();
    for (const fields of [{ nextFollowUpAt: '2040-01-01T09:00:00.000Z' }, { stage: 'won' }]) {
      await using scene = await entrySent(server.port, (leads, id) => leads.edit(id, fields));
      expect(await scene.plan()).toEqual([]);
    }
    expect(server.mails).toHaveLength(2);
  });
});
