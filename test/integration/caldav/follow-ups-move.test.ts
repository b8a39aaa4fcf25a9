import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Radicale, startRadicale } from '../../support/radicale.ts';
import { calendarScene, friday, monday, tuesday } from './calendar-scene.ts';

/** As a calendar program moves an entry. */
const movedTo =
  (date: string) =>
  (text: string): string =>
    text.replaceAll(/^(DT(?:START|END):)\d{8}/gm, `$1${date}`);

const nothing = { put: 0, changed: 0, requested: 0 };

describe('follow-ups in a calendar', { tags: 'radicale' }, () => {
  let server: Radicale;
  beforeAll(async () => {
    server = await startRadicale();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  test('each follow-up becomes an entry, once', async () => {
    await using scene = await calendarScene(server, { leads: 3 });
    expect(await scene.pass()).toEqual({ put: 3, changed: 0, requested: 0 });
    expect(await scene.dates()).toEqual([':20310303T080000Z', ':20310303T080000Z', ':20310303T080000Z']);
    expect((await scene.entries()).join()).toContain('SUMMARY:Follow-up: Lead 2');
    expect(await scene.pass()).toEqual(nothing);
  });

  test('moved in the service, it moves in the calendar; alarms, notes and categories stay', async () => {
    await using scene = await calendarScene(server);
    await scene.pass();
    const program = await scene.program();
    const alarm = 'BEGIN:VALARM\r\nACTION:DISPLAY\r\nDESCRIPTION:Soon\r\nTRIGGER:-PT5M\r\nEND:VALARM\r\n';
    await program.edit('Lead 1', (text) =>
      text.replace('END:VEVENT', `COMMENT:ask for Ms. Roth\r\nCATEGORIES:hot\r\n${alarm}END:VEVENT`),
    );
    scene.move(friday);
    await scene.sync();
    expect(await scene.pass()).toEqual({ put: 0, changed: 1, requested: 0 });
    expect(await scene.dates()).toEqual([':20310307T080000Z']);
    const [text] = await scene.entries();
    for (const kept of ['ask for Ms. Roth', 'CATEGORIES:hot', 'TRIGGER:-PT5M']) expect(text).toContain(kept);
    expect(await scene.pass()).toEqual(nothing);
  });

  test('moved by the person, the lead of the service moves, the row, and the entry of a colleague', async () => {
    await using scene = await calendarScene(server, { users: ['anna', 'bert'] });
    await scene.pass();
    const program = await scene.program('anna');
    await program.edit('Lead 1', (text) =>
      text
        .replace(/DTSTART.*\r\n/, 'DTSTART;TZID=Europe/Berlin:20310304T090000\r\n')
        .replace(/DTEND.*\r\n/, ''),
    );
    expect(await scene.pass()).toMatchObject({ requested: 1, changed: 0 });
    expect(await scene.pass()).toEqual(nothing);
    await scene.carryOut();
    expect(scene.due()).toEqual([tuesday]);
    expect(await scene.edits()).toMatchObject([
      { state: 'applied', from: monday, to: tuesday, requestedBy: 'anna@example.com' },
    ]);
    await scene.pass();
    expect(await scene.dates('bert')).toEqual([':20310304T080000Z']);
    expect(await scene.dates('anna')).toEqual([';TZID=Europe/Berlin:20310304T090000']);
    await scene.sync();
    expect(scene.workspace.sheet.rows()[0]?.['Next follow-up']).toContain('2031-03-04');
    expect(await scene.pass()).toEqual(nothing);
  });

  test('an all-day entry moved to another day is that day', async () => {
    await using scene = await calendarScene(server, { connection: { sync: { timeZone: 'Europe/Berlin' } } });
    scene.move('2031-03-02T23:00:00.000Z');
    await scene.sync();
    await scene.pass();
    expect(await scene.dates()).toEqual([';VALUE=DATE:20310303']);
    const program = await scene.program();
    await program.edit('Lead 1', (text) =>
      text.replace(/(DTSTART.*):20310303/, '$1:20310331').replace(/(DTEND.*):20310304/, '$1:20310401'),
    );
    await scene.pass();
    await scene.carryOut();
    // Summer time has begun.
    expect(scene.due()).toEqual(['2031-03-30T22:00:00.000Z']);
    await scene.pass();
    expect(await scene.dates()).toEqual([';VALUE=DATE:20310331']);
  });

  test('moved on both sides it is a conflict: each keeps its date until somebody decides', async () => {
    await using scene = await calendarScene(server);
    await scene.pass();
    const program = await scene.program();
    await program.edit('Lead 1', movedTo('20310304'));
    scene.move(friday);
    await scene.pass();
    await scene.carryOut();
    expect(await scene.edits()).toMatchObject([{ state: 'conflict', to: tuesday }]);
    await scene.sync();
    expect(await scene.pass()).toEqual(nothing);
    expect(scene.due()).toEqual([friday]);
    expect(await scene.dates()).toEqual([':20310304T080000Z']);
    const { rows } = await scene.pool.query<{ id: string }>(`select id from held where kind = 'edit'`);
    const resolved = await scene.workspace.cli('resolve', rows[0]?.id ?? '', '--use', 'lead');
    expect(resolved.code).toBe(0);
    await scene.pass();
    expect(await scene.dates()).toEqual([':20310307T080000Z']);
  });

  test('two people move one lead differently: the first is applied, the second a conflict', async () => {
    await using scene = await calendarScene(server, { users: ['anna', 'bert'] });
    await scene.pass();
    await (await scene.program('anna')).edit('Lead 1', movedTo('20310304'));
    await scene.pass();
    await (await scene.program('bert')).edit('Lead 1', movedTo('20310307'));
    await scene.carryOut();
    await scene.pass();
    await scene.carryOut();
    expect(scene.due()).toEqual([tuesday]);
    expect(await scene.edits()).toMatchObject([
      { state: 'applied', to: tuesday },
      { state: 'conflict', to: friday, requestedBy: 'bert@example.com' },
    ]);
    const shown = (at: string): string => at.replace('T', ' ').replace(':00.000Z', ' UTC');
    const requested = `lead "${shown(tuesday)}" | requested "${shown(friday)}" by bert@example.com`;
    expect((await scene.workspace.cli('conflicts')).stdout).toContain(requested);
    expect((await scene.workspace.cli('why', 'Lead 1')).stdout).toContain(requested);
    await scene.pass();
    expect(await scene.dates('bert')).toEqual([':20310307T080000Z']);
  });

  test('cleared, it is taken back; with a note of the person it is cancelled', async () => {
    await using scene = await calendarScene(server, { leads: 2 });
    await scene.pass();
    await (await scene.program()).edit('Lead 2', (text) =>
      text.replace('END:VEVENT', 'COMMENT:mine\r\nEND:VEVENT'),
    );
    for (const nth of [0, 1]) scene.move(null, nth);
    await scene.sync();
    expect(await scene.pass()).toEqual({ put: 0, changed: 2, requested: 0 });
    const entries = await scene.entries();
    expect(entries).toHaveLength(1);
    expect(entries[0]).toContain('STATUS:CANCELLED');
    expect(await scene.pass()).toEqual(nothing);
    scene.move(friday, 1);
    await scene.sync();
    await scene.pass();
    expect((await scene.entries())[0]).toContain('STATUS:CONFIRMED');
    expect(await scene.dates()).toEqual([':20310307T080000Z']);
  });
});
