import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { madeOf, withoutMemory } from '../../support/made-of-run.ts';
import { Workspace } from '../../support/workspace.ts';

test('no edit is lost: whatever happens in the day, a night that remembers the table plans and tells what one that reads it does', async () => {
  const target = { pauseColumn: 'Pause' };
  await using workspace = await Workspace.open({ sandbox: { leads: 40 }, connection: { target } });
  const { sandbox, sheet, database } = workspace;
  const ids = sandbox.leads.list().map(({ id }) => id);
  const [a = '', b = '', c = '', d = '', e = '', f = ''] = ids;
  const row = (id: string, cells: Record<string, string>): void =>
    sheet.edit((one) => one['Lead ID'] === id, cells);
  const city = sandbox.leads.get(a)?.city ?? '';
  let [older, sorted] = ['', ''];
  /** What happens in each day, and what the next sync is allowed. */
  const days: readonly (readonly [day: string, change: () => void, ...allow: string[]])[] = [
    ['nothing, after the first sync', () => {}],
    ['nothing', () => {}],
    ['a row is edited', () => row(a, { City: 'typed' })],
    // By then both sides agree on the other value.
    ['the service takes the edit back', () => void sandbox.leads.edit(a, { city })],
    [
      'both sides are edited',
      () => (row(b, { City: 'typed' }), void sandbox.leads.edit(b, { city: 'meant' })),
    ],
    ['nothing, and a conflict is open', () => {}],
    ['a lead is deleted', () => void sandbox.leads.remove(c)],
    ['it stays away', () => {}],
    ['its row is marked', () => {}],
    ['nothing, and it stays marked', () => {}],
    ['a row is deleted', () => sheet.remove((one) => one['Lead ID'] === d)],
    ['it comes back', () => {}],
    ['a row is copied', () => sheet.write([...sheet.grid(), ...sheet.grid().slice(5, 6)])],
    ['nothing, and the copy stays', () => {}],
    ['the copy is deleted', () => sheet.write(sheet.grid().slice(0, -1))],
    ['an id is deleted', () => row(e, { 'Lead ID': '' })],
    [
      'the table is sorted',
      () => {
        sorted = sheet.text();
        const [headings = [], ...rows] = sheet.grid();
        sheet.write([headings, ...rows.toReversed()]);
      },
    ],
    ['and sorted back', () => writeFileSync(sheet.path, sorted)],
    [
      'both are made anew',
      () => (sheet.add({ Company: 'Typed' }), void sandbox.leads.add({ companyName: 'Made' })),
    ],
    [
      'leads are edited',
      () => {
        older = sheet.text();
        for (const id of ids.slice(10, 16)) sandbox.leads.edit(id, { city: 'moved' });
      },
    ],
    ['an older copy is put back', () => writeFileSync(sheet.path, older)],
    ['and is meant', () => {}, 'older-copy'],
    [
      'a field is kept in another column',
      () => workspace.configure({ target, fields: { city: 'Region', region: 'City' } }),
    ],
    ['and back', () => workspace.configure({ target })],
    ['an id is written in capitals', () => row(f, { 'Lead ID': f.toUpperCase() })],
    ['rows are paused', () => (row(a, { Pause: 'x', City: 'mine' }), row(f.toUpperCase(), { Pause: 'x' }))],
    ['their leads are edited', () => void sandbox.leads.edit(f, { city: 'theirs' })],
    ['nothing, and they stay paused', () => {}],
    ['one goes on', () => row(a, { Pause: '' })],
  ];
  await workspace.sync();
  for (const [day, change, ...allow] of days) {
    change();
    const plan = async () => madeOf(database.pool, await workspace.run({ mode: 'plan' }));
    const short = await plan();
    const long = await withoutMemory(database.pool, plan);
    expect(short, day).toEqual(long);
    const { requests } = await workspace.sync({ allow });
    // Its bytes were read, and nothing was parsed.
    if (day.startsWith('nothing')) expect(requests.target, day).toBe(1);
  }
});
