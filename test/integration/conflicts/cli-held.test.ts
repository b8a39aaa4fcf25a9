import { expect, test, vi } from 'vitest';
import { defaultFields } from '../../../src/core/lead/mapping.ts';
import { requestEdit } from '../../../src/review/request-edit.ts';
import { noteCalendarFault, noteRead, useCalendar } from '../../../src/store/calendar-entries.ts';
import { transaction } from '../../../src/store/database.ts';
import { openStatusSite } from '../../support/status-site.ts';

// Each test starts many processes.
vi.setConfig({ testTimeout: 120_000 });

const [monday, tuesday, friday] = ['03', '04', '07'].map((day) => `2031-03-${day}T08:00:00.000Z`);
const anna = 'anna@example.com';
const calendar = { connection: 'main', recipient: anna };
const emptied = { code: 'caldav.emptied', message: 'Most entries have gone.', waitMs: 0 };

interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly company: string;
  readonly choices: readonly string[];
  readonly state?: string;
  readonly resolution?: string | null;
}

/** One of each kind waits for a person. */
async function scene() {
  const caldav = { [anna]: { url: 'https://dav.example.com/anna/', username: 'anna', password: 'x' } };
  const connection = { sync: { match: 'propose' }, reminders: { to: [anna], caldav } };
  const sandbox = { stages: ['new', 'won'] };
  const site = await openStatusSite({ connection, sandbox });
  const { workspace } = site;
  const { leads } = workspace.sandbox;
  const { pool } = workspace.database;
  const add = (companyName: string): string =>
    leads.add({ companyName, city: 'Ulm', stage: 'new', nextFollowUpAt: monday ?? null }).id;
  const [field, edit] = [add('Feld AG'), add('Termin AG')];
  await workspace.sync();
  workspace.sheet.edit((row) => row['Lead ID'] === field, { City: 'Bonn' });
  leads.edit(field, { city: 'Köln' });
  leads.edit(edit, { nextFollowUpAt: friday ?? null });
  const wanted = {
    leadId: edit,
    field: 'nextFollowUpAt',
    from: monday ?? null,
    to: tuesday ?? null,
  } as const;
  await transaction(pool, (db) =>
    requestEdit(
      db,
      { name: 'main', fields: defaultFields },
      { ...wanted, source: 'link', requestedBy: anna },
    ),
  );
  await workspace.sync({ mode: 'edit' });
  workspace.sheet.add({ Company: 'Neu AG', Stage: 'maybe' });
  workspace.sheet.add({ Company: 'ACME', City: 'Berlin', Stage: 'won' });
  leads.add({ companyName: 'Acme GmbH', city: 'Berlin', stage: 'new' });
  await workspace.sync();
  await useCalendar(pool, calendar, 'https://dav.example.com/anna/');
  await noteCalendarFault(pool, calendar, emptied);
  const listed = async (): Promise<readonly Listed[]> =>
    (await workspace.cli('conflicts', '--json')).json<{ conflicts: Listed[] }>().conflicts;
  return { site, workspace, pool, listed, leads, field, edit };
}

/** What waits, by kind: how people call it, the answer, what is said to it, and another kind's answer. */
const kinds = [
  ['field', 'Feld AG', 'lead', '"Köln" of the lead is kept, "Bonn" of the row is given up', 'link'],
  ['edit', 'Termin AG', 'requested', '"2031-03-04 08:00 UTC" of the request is kept', 'apart'],
  ['record', 'Neu AG', 'row', 'a lead is made of the row', 'lead'],
  ['match', 'Acme GmbH', 'link', 'the row and the lead are one', 'row'],
  ['calendar', anna, 'restore', 'the entries are written into the calendar again', 'lead'],
] as const;

test.each([
  ['number', ({ id }: Listed) => id],
  ['name', ({ company }: Listed) => company],
])('all that waits is one list, and each kind is settled by its %s', async (_, called) => {
  const here = await scene();
  await using _site = here.site;
  const { workspace } = here;
  const before = await here.listed();
  expect(Object.fromEntries(before.map(({ kind, company }) => [kind, company]))).toEqual(
    Object.fromEntries(kinds.map(([kind, company]) => [kind, company])),
  );
  expect(new Set(before.map(({ id }) => id)).size).toBe(kinds.length);
  const text = (await workspace.cli('conflicts')).stdout;
  const page = (await here.site.ask('/conflicts')).body;
  const of = (kind: string): Listed => before.find((one) => one.kind === kind) ?? expect.fail(kind);
  for (const { id, company, choices } of before) {
    expect(text).toMatch(new RegExp(`^ *${id}  ${company}`, 'm'));
    expect(text).toContain(`--use ${choices.join('|')}`);
    expect(page).toContain(`id="held-${id}"`);
    for (const use of choices) expect(page).toMatch(new RegExp(`action="/conflicts/${id}">[^§]*"${use}"`));
  }
  expect((await workspace.cli('status', '--json')).stdout).toContain(`"held":${kinds.length}`);

  for (const [kind, , , , wrong] of kinds) {
    const refused = await workspace.cli('resolve', called(of(kind)), '--use', wrong);
    expect(refused.code, kind).toBe(2);
    expect(refused.stderr).toContain(`It takes --use ${of(kind).choices.join(' or ')}.`);
  }
  for (const [kind, , use, says] of kinds) {
    const settled = await workspace.cli('resolve', called(of(kind)), '--use', use);
    expect([settled.code, settled.stdout, settled.stderr]).toEqual([0, expect.stringContaining(says), '']);
  }
  // What is answered keeps its number until it is carried out; an edit is carried out as an open one.
  expect((await here.listed()).map(({ id, state, resolution }) => [id, state ?? resolution])).toEqual(
    before
      .filter(({ kind }) => kind !== 'edit')
      .map(({ id, kind }) => [
        id,
        { field: 'lead', record: 'target', match: 'accepted', calendar: 'restore' }[kind],
      ]),
  );

  workspace.sandbox.set({ stages: ['new', 'won', 'maybe'] });
  await workspace.sync({ mode: 'edit' });
  expect(here.leads.get(here.edit)?.nextFollowUpAt).toBe(tuesday);
  await workspace.sync();
  await noteRead(here.pool, calendar);
  await noteCalendarFault(here.pool, calendar, null);
  expect(here.leads.list().map(({ companyName, city }) => `${companyName} ${city ?? ''}`)).toEqual([
    'Feld AG Köln',
    'Termin AG Ulm',
    'Acme GmbH Berlin',
    'Neu AG ',
  ]);
  expect((await here.listed()).filter(({ kind }) => kind !== 'field')).toEqual([]);
});

test('a calendar that is emptied again is asked about under another number, a fault in between changes none', async () => {
  const here = await scene();
  await using _site = here.site;
  const number = async () => (await here.listed()).find(({ kind }) => kind === 'calendar')?.id;
  const first = await number();
  await noteCalendarFault(here.pool, calendar, { code: 'caldav.unreachable', message: 'Away.', waitMs: 0 });
  expect(await number()).toBe(first);
  await noteCalendarFault(here.pool, calendar, emptied);
  expect(await number()).toBe(first);
  await noteRead(here.pool, calendar);
  await noteCalendarFault(here.pool, calendar, emptied);
  expect(Number(await number())).toBeGreaterThan(Number(first));
  expect((await here.workspace.cli('resolve', first ?? '', '--use', 'deleted')).code).toBe(2);
});
