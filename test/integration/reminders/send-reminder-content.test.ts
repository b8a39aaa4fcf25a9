import { describe, expect, test } from 'vitest';
import { body, calendarOf, due, dueLead, header } from '../../support/due-lead.ts';
import { startMailServer } from '../../support/mail-server.ts';

const minute = 60_000;

describe('what the mail tells', () => {
  test('the row of an ordinary lead, as the last sync read it', async () => {
    await using server = await startMailServer();
    await using scene = await dueLead(server.port);
    const number = async (): Promise<string | undefined> => {
      await scene.pool.query(`update mails set state = 'scheduled'`);
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
    const ids = await scene.pool.query<{ id: number }>(`select id from mails order by send_at`);
    for (const { id } of ids.rows) {
      await scene.pool.query(`update mails set state = 'scheduled' where id = $1`, [id]);
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
    const next = due(90_000);
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
    scene.workspace.sandbox.leads.edit(scene.leadId, { nextFollowUpAt: due(90_000) });
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

describe('a calendar entry that is not so any more', () => {
  const far = '2040-01-01T09:00:00.000Z';
  /** One lead due in an hour, of which a mail with an entry was sent. */
  async function entrySent(port: number, reminders: object = {}, afterMs = 0) {
    const scene = await dueLead(port, {
      agoMs: -60 * minute,
      reminders: {
        before: ['2h'],
        calendar: true,
        skipStages: ['won'],
        routes: [{ when: { region: ['BY'] }, to: ['ben@example.com'] }],
        ...reminders,
      },
    });
    scene.pass(afterMs);
    expect(await scene.send(scene.id)).toEqual({ state: 'sent' });
    const edit = (fields: object): void => void scene.workspace.sandbox.leads.edit(scene.leadId, fields);
    return {
      ...scene,
      edit,
      /** The lead is changed and synced; returns what is to be sent then. */
      change: async (fields: object) => {
        edit(fields);
        await scene.workspace.sync();
        return scene.plan();
      },
    };
  }
  const uid = (entry: string): string | undefined => /UID:(.*)/.exec(entry)?.[1];

  test.each<[string, object, string]>([
    ['cleared', { nextFollowUpAt: null }, 'The date of the follow-up was cleared.'],
    ['in a stage that is skipped', { stage: 'won' }, 'The lead is now in a stage without reminders'],
    ['somebody else has it', { region: 'BY' }, 'Reminders of this lead now go to somebody else.'],
  ])('%s: taken back by one mail, with the reason and a higher SEQUENCE', async (_, fields, reason) => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port);
    const notice = (await scene.change(fields)).find(({ recipient }) => recipient === 'anna@example.com');
    expect(await scene.send(notice?.id ?? 0)).toEqual({ state: 'sent' });
    expect((await scene.plan()).filter(({ recipient }) => recipient === 'anna@example.com')).toEqual([]);
    const [first = '', second = ''] = server.mails.map(({ source }) => source);
    expect(header(second, 'Subject')).toContain('Follow-up cancelled: Due AG');
    expect(body(second)).toContain(reason);
    const entry = calendarOf(second);
    expect(entry.replaceAll('\r\n ', '')).toContain(`DESCRIPTION:${reason}`);
    expect(entry).toContain('STATUS:CANCELLED');
    expect(entry).toContain('SEQUENCE:1');
    expect(uid(entry)).toBe(uid(calendarOf(first)));
  });

  test.each<[string, object]>([
    ['cleared', { nextFollowUpAt: null }],
    ['in a stage that is skipped', { stage: 'won' }],
    ['somebody else has it', { region: 'BY' }],
  ])('%s, and as before after that was told: it comes back by one mail', async (_, fields) => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port);
    const { nextFollowUpAt, stage, region } = scene.workspace.sandbox.leads.list()[0] ?? {};
    const ofAnna = async (change: object) =>
      (await scene.change(change)).filter(({ recipient }) => recipient === 'anna@example.com');
    const [notice] = await ofAnna(fields);
    expect(await scene.send(notice?.id ?? 0)).toEqual({ state: 'sent' });
    const [again, ...others] = await ofAnna({ nextFollowUpAt, stage, region });
    expect(others).toEqual([]);
    expect(await scene.send(again?.id ?? 0)).toEqual({ state: 'sent' });
    expect((await scene.plan()).filter(({ recipient }) => recipient === 'anna@example.com')).toEqual([]);
    const [first = '', , third = ''] = server.mails.map(({ source }) => source);
    const entry = calendarOf(third);
    expect(entry).toContain('STATUS:CONFIRMED');
    expect(entry).toContain('SEQUENCE:2');
    expect(uid(entry)).toBe(uid(calendarOf(first)));
  });

  test.each(['seen by the next sync', 'seen when the next mail is to leave'])(
    'the lead is deleted, %s: taken back with the reason, once',
    async (when) => {
      await using server = await startMailServer();
      const before = when.includes('sync') ? ['2h'] : ['50m', '20m'];
      await using scene = await entrySent(server.port, { before }, 11 * minute);
      // The guard takes no deletion of every lead.
      for (let more = 0; more < 20; more++)
        scene.workspace.sandbox.leads.add({ companyName: `Other ${more}` });
      await scene.workspace.sync();
      scene.pass(30 * minute);
      const [next] = await scene.plan();
      scene.workspace.sandbox.leads.remove(scene.leadId);
      // A lead counts as deleted when two syncs in a row miss it.
      const syncTwice = async (): Promise<void> => {
        for (let times = 0; times < 2; times++) await scene.workspace.sync();
      };
      if (next === undefined) await syncTwice();
      else expect(await scene.send(next.id)).toEqual({ state: 'cancelled' });
      const [notice, ...others] = next === undefined ? await scene.plan() : await scene.due();
      expect(others).toEqual([]);
      expect(await scene.send(notice?.id ?? 0)).toEqual({ state: 'sent' });
      const { source = '' } = server.mails[1] ?? {};
      expect(header(source, 'Subject')).toContain('Follow-up cancelled: Due AG');
      expect(body(source)).toContain('The lead was deleted.');
      expect(calendarOf(source)).toContain('STATUS:CANCELLED');
      await syncTwice();
      expect(await scene.plan()).toEqual([]);
      expect(server.mails).toHaveLength(2);
    },
  );

  test('moved: moved by one mail for each change, also back again', async () => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port);
    const was = scene.workspace.sandbox.leads.list()[0]?.nextFollowUpAt ?? '';
    for (const [index, nextFollowUpAt] of [far, was, far].entries()) {
      const [notice, ...others] = await scene.change({ nextFollowUpAt });
      expect(others).toEqual([]);
      expect(await scene.send(notice?.id ?? 0)).toEqual({ state: 'sent' });
      expect(await scene.plan()).toEqual([]);
      const { source = '' } = server.mails[index + 1] ?? {};
      expect(header(source, 'Subject')).toContain('Follow-up moved: Due AG');
      expect(body(source)).toContain('The follow-up was moved to this date');
      const entry = calendarOf(source);
      expect(entry).toContain(`SEQUENCE:${index + 1}`);
      expect(entry).toContain(`DTSTART:${nextFollowUpAt.replaceAll(/[-:]|\.\d+/g, '')}`);
      expect(uid(entry)).toBe(uid(calendarOf(server.mails[0]?.source ?? '')));
    }
    expect(new Set(server.mails.map(({ source }) => header(source, 'Message-ID'))).size).toBe(4);
  });

  test('moved and moved back before a mail could leave: none', async () => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port);
    const was = scene.workspace.sandbox.leads.list()[0]?.nextFollowUpAt;
    expect(await scene.change({ nextFollowUpAt: far })).toHaveLength(1);
    expect(await scene.change({ nextFollowUpAt: was })).toEqual([]);
  });

  test('moved again, or set again, when the mail is to leave: that one does not, another tells of it', async () => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port);
    const [cancel] = await scene.change({ nextFollowUpAt: null });
    scene.edit({ nextFollowUpAt: far });
    expect(await scene.send(cancel?.id ?? 0)).toEqual({ state: 'cancelled' });
    expect(await scene.due()).toHaveLength(1);
    expect(await scene.send((await scene.due())[0]?.id ?? 0)).toEqual({ state: 'sent' });
    expect(header(server.mails[1]?.source ?? '', 'Subject')).toContain('Follow-up moved: Due AG');
  });

  test('cleared, seen when the next mail is to leave: taken back at once, and once', async () => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port, { before: ['50m', '20m'] }, 11 * minute);
    scene.pass(30 * minute);
    const [next] = await scene.plan();
    scene.edit({ nextFollowUpAt: null });
    expect(await scene.send(next?.id ?? 0)).toEqual({ state: 'cancelled' });
    expect(await scene.due()).toHaveLength(1);
    expect(await scene.send((await scene.due())[0]?.id ?? 0)).toEqual({ state: 'sent' });
    expect(calendarOf(server.mails[1]?.source ?? '')).toContain('STATUS:CANCELLED');
    // The next look, before a sync, goes by what was agreed on, and sees it again when the mail is to leave.
    for (const { id } of await scene.plan()) expect(await scene.send(id)).toEqual({ state: 'cancelled' });
    await scene.workspace.sync();
    expect(await scene.plan()).toEqual([]);
    expect(server.mails).toHaveLength(2);
  });

  test('no second mail when a reminder tells of the new date anyway', async () => {
    await using server = await startMailServer();
    await using scene = await entrySent(server.port);
    const soon = new Date(Date.now() + 90 * minute).toISOString();
    expect(await scene.change({ nextFollowUpAt: soon })).toMatchObject([{ offsetText: '2h' }]);
  });
});
