import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Radicale, startRadicale } from '../../support/radicale.ts';
import { calendarScene, friday, monday } from './calendar-scene.ts';

const nothing = { put: 0, changed: 0, requested: 0 };

describe('entries that a person takes out of the way', { tags: 'radicale' }, () => {
  let server: Radicale;
  beforeAll(async () => {
    server = await startRadicale();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('deleted or completed, the follow-up stands and is reported; a new date brings the entry back', async () => {
    await using scene = await calendarScene(server, { leads: 3, calendar: { as: 'task' } });
    await scene.pass();
    const program = await scene.program();
    await program.remove('Lead 1');
    await program.edit('Lead 2', (text) =>
      text.replace('STATUS:NEEDS-ACTION', 'STATUS:COMPLETED\r\nCOMPLETED:20301231T000000Z'),
    );
    expect(await scene.pass()).toEqual(nothing);
    expect(await scene.pass()).toEqual(nothing);
    expect(await scene.entries()).toHaveLength(2);
    expect(scene.due()).toEqual([monday, monday, monday]);
    const { stdout } = await scene.workspace.cli('status', '--reminders');
    expect(stdout).toMatch(/Lead 1, due .*: the entry was deleted there; the follow-up stands/);
    expect(stdout).toMatch(/Lead 2, due .*: the entry was completed or cancelled there/);
    for (const nth of [0, 1]) scene.move(friday, nth);
    await scene.sync();
    expect(await scene.pass()).toEqual({ put: 1, changed: 1, requested: 0 });
    expect(await scene.dates()).toEqual([':20310303T080000Z', ':20310307T080000Z', ':20310307T080000Z']);
    expect((await scene.entries()).join()).not.toContain('COMPLETED');
  });

  test('they are listed with the day for which the follow-up is due, as long as it stands', async () => {
    await using scene = await calendarScene(server, { leads: 2 });
    for (const nth of [0, 1]) scene.move('2031-03-04T00:00:00.000Z', nth);
    await scene.sync();
    await scene.pass();
    const program = await scene.program();
    await program.remove('Lead 1');
    await program.edit('Lead 2', (text) => text.replace('END:VEVENT', 'STATUS:CANCELLED\r\nEND:VEVENT'));
    await scene.pass();
    const { stdout } = await scene.workspace.cli('status', '--reminders');
    expect(stdout).toContain('Lead 1, due Tue 4 Mar 2031: the entry was deleted there');
    expect(stdout).toContain('Lead 2, due Tue 4 Mar 2031: the entry was completed or cancelled there');
    for (const nth of [0, 1]) scene.move(null, nth);
    await scene.sync();
    await scene.pass();
    expect((await scene.workspace.cli('status', '--reminders')).stdout).not.toContain('the follow-up stands');
  });

  test('a calendar that is emptied at once is left alone until somebody says what that means', async () => {
    await using scene = await calendarScene(server, { leads: 5 });
    await scene.pass();
    const program = await scene.program();
    for (const nth of [1, 2, 3, 4]) await program.remove(`Lead ${nth}`);
    for (let pass = 0; pass < 2; pass++) expect(await scene.pass()).toEqual(nothing);
    expect(await scene.calendars()).toMatchObject([{ code: 'caldav.emptied' }]);
    expect(await scene.entries()).toHaveLength(1);
    const { stdout } = await scene.workspace.cli('status', '--reminders');
    expect(stdout).toContain('no longer has 4 of 5 entries');
    expect(stdout).toContain('leadsync resolve anna@example.com --use restore');

    expect((await scene.workspace.cli('resolve', 'Anna@example.com', '--use', 'restore')).code).toBe(0);
    expect(await scene.pass()).toEqual({ put: 4, changed: 0, requested: 0 });
    expect(await scene.calendars()).toMatchObject([{ code: null }]);

    for (const nth of [1, 2, 3, 4]) await program.remove(`Lead ${nth}`);
    await scene.pass();
    expect((await scene.workspace.cli('resolve', 'anna@example.com', '--use', 'deleted')).code).toBe(0);
    expect(await scene.pass()).toMatchObject({ put: 0, requested: 0 });
    const { stdout: listed } = await scene.workspace.cli('status', '--reminders');
    expect(listed.match(/the entry was deleted there/g)).toHaveLength(4);
  });

  test('an entry that becomes a series is left alone, and so is one without a zone', async () => {
    await using scene = await calendarScene(server, { leads: 2 });
    await scene.pass();
    const program = await scene.program();
    await program.edit('Lead 1', (text) => text.replace('END:VEVENT', 'RRULE:FREQ=WEEKLY\r\nEND:VEVENT'));
    await program.edit('Lead 2', (text) =>
      text.replace(/^DTSTART.*/m, 'DTSTART:20310305T080000').replace(/^DTEND.*\r\n/m, ''),
    );
    const before = await scene.entries();
    scene.move(friday, 0);
    scene.move(null, 1);
    await scene.sync();
    expect(await scene.pass()).toEqual(nothing);
    expect(await scene.entries()).toEqual(before);
    const { stdout } = await scene.workspace.cli('status', '--reminders');
    expect(stdout).toContain('Lead 1, due Fri 7 Mar 2031 09:00: it was made a series there');
    expect(stdout).toContain('Lead 2, no longer due: its date there has no time zone');
  });

  test("a person's own entries are never read, and an entry that a program stores under another name stays ours", async () => {
    await using scene = await calendarScene(server);
    await scene.pass();
    const program = await scene.program();
    const [text = ''] = await scene.entries();
    await program.remove('Lead 1');
    await program.add(
      'ABC-123.ics',
      text.replace(/^DTSTART.*/m, 'DTSTART:20310307T080000Z').replace(/^DTEND.*\r\n/m, ''),
    );
    await program.add('own.ics', text.replace(/UID:.*/, 'UID:mine').replace('Lead 1', 'Dentist'));
    expect(await scene.pass()).toMatchObject({ put: 0, requested: 1 });
    await scene.carryOut();
    expect(scene.due()).toEqual([friday]);
    await scene.pass();
    expect(await scene.entries()).toHaveLength(2);
    const { rows } = await scene.pool.query('select name from calendar_entries');
    expect(rows).toEqual([{ name: 'ABC-123.ics' }]);
  });
});
