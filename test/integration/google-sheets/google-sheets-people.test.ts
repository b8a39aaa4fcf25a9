import { describe, expect, test } from 'vitest';
import type { RowChange } from '../../../src/ports/target.ts';
import { type GoogleSheetsHarness, makeGoogleSheetsHarness } from '../../contract/google-sheets-harness.ts';
import { append, link, never, remove, unlink, update, verdict } from '../../contract/target-harness.ts';

const headings = ['Lead ID', 'Company', 'Notes', 'City', 'Next follow-up', 'Sync'];
const rows = Array.from({ length: 8 }, (_, n) => [
  `id-${n}`,
  `Company ${8 - n}`,
  `note ${n}`,
  `City ${n}`,
  '',
  '',
]);
const loose = ['', 'Loose Ltd', 'mine', 'Leeds', '', ''];
const table = [headings, ...rows, loose];
const seen = (n: number) => ({ name: `Company ${8 - n}`, city: `City ${n}`, due: null });

const changes: readonly RowChange[] = [
  update('id-1', seen(1), { city: 'Rome' }),
  update('id-6', seen(6), { name: 'New name', city: null }),
  link('id-l', { name: 'Loose Ltd', city: 'Leeds', due: null }),
  remove('id-3', seen(3)),
  unlink('id-4', seen(4)),
  append('id-n', { name: 'Newcomer', city: 'Nice' }),
];

/** What a person does between any two requests, and what they would see if nobody else had been there. */
const people: Record<string, (harness: GoogleSheetsHarness) => void> = {
  'sorts the table': ({ sandbox, tab }) => sandbox.person.sortRange(tab, 'A2:F10', 1),
  'inserts a row on top': ({ sandbox, tab }) => sandbox.person.insertRows(tab, 1),
  'inserts rows in the middle': ({ sandbox, tab }) => sandbox.person.insertRows(tab, 3, 2),
  'deletes a row that nobody writes': ({ sandbox, tab }) => sandbox.person.deleteRows(tab, 1),
  'deletes a row that is written': ({ sandbox, tab }) => sandbox.person.deleteRows(tab, 2),
  'moves a row': ({ sandbox, tab }) => sandbox.person.moveRows(tab, 7, 1, 2),
  'inserts a column on the left': ({ sandbox, tab }) => sandbox.person.insertColumns(tab, 0),
  'inserts a column in the middle': ({ sandbox, tab }) => sandbox.person.insertColumns(tab, 2),
  'deletes a column of their own': ({ sandbox, tab }) => sandbox.person.deleteColumns(tab, 2),
  'moves a column': ({ sandbox, tab }) => sandbox.person.moveColumn(tab, 3, 1),
  'types into a cell': ({ sandbox, tab }) => sandbox.person.type(tab, 1, 3, 'typed'),
  'types below the table': (harness) =>
    harness.sandbox.person.type(harness.tab, harness.show()?.length ?? 0, 1, 'typed below'),
  'hides rows': ({ sandbox, tab }) => sandbox.person.hideRows(tab, 2, 3),
};

/** Rows by what only the person writes, so that they are found wherever they are; cells by heading. */
function cellsOf(grid: readonly (readonly string[])[]): Map<string, string> {
  const [head = [], ...body] = grid;
  const notes = head.indexOf('Notes');
  const ids = head.indexOf('Lead ID');
  const cells = new Map<string, string>();
  for (const row of body) {
    const key = (notes >= 0 ? row[notes] : '') || row[ids] || row[head.indexOf('Company')] || '';
    row.forEach((cell, column) => {
      if (cell !== '') cells.set(`${key} ${head[column]}`, cell);
    });
  }
  return cells;
}

async function setUp(): Promise<GoogleSheetsHarness> {
  const harness = await makeGoogleSheetsHarness();
  harness.edit(() => table);
  await harness.target({ statusColumn: 'Sync' }).open({ create: true }, never());
  return harness;
}

/** Again for as long as somebody moved something while it was read. */
async function patiently<T>(write: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      expect(error).toMatchObject({ code: 'target.changed', retry: 'now' });
    }
  }
}

describe('a person at work between any two requests of a write', () => {
  test.each(Object.entries(people))(
    '%s: no cell is lost, and what is reported as done is there',
    async (_, act) => {
      for (let at = 1; at <= 8; at++) {
        await using harness = await setUp();
        const { sandbox } = harness;
        // What the table would be without us.
        await using alone = await setUp();
        act(alone);
        let acted = false;
        let n = 0;
        sandbox.before = () => {
          if (++n === at) act(harness);
          acted ||= n === at;
        };
        const target = harness.target({ statusColumn: 'Sync' });
        const outcomes = await patiently(() => target.write(changes, never()));
        sandbox.before = null;
        if (!acted) break;

        const shown = harness.show() ?? [];
        const now = cellsOf(shown);
        const own = cellsOf(alone.show() ?? []);
        const done = new Set(outcomes.filter(({ status }) => status === 'done').map(({ key }) => key));
        const touched = new Map([
          ['note 1', 'id-1'],
          ['id-1', 'id-1'],
          ['note 6', 'id-6'],
          ['id-6', 'id-6'],
          ['mine', 'id-l'],
          ['Loose Ltd', 'id-l'],
          ['note 3', 'id-3'],
          ['id-3', 'id-3'],
          ['note 4', 'id-4'],
          ['id-4', 'id-4'],
          ['Company 4', 'id-4'],
        ]);
        for (const [key, cell] of own) {
          const contentHash = [...touched.keys()].find((each) => key.startsWith(`${each} `));
          const lead = contentHash === undefined ? undefined : touched.get(contentHash);
          if (lead !== undefined && done.has(lead)) continue;
          expect([at, key, now.get(key)]).toEqual([at, key, cell]);
        }
        const head = shown[0] ?? [];
        const ids = shown.map((row) => row[head.indexOf('Lead ID')]);
        const city = (id: string) => shown[ids.indexOf(id)]?.[head.indexOf('City')];
        if (done.has('id-1')) expect(city('id-1')).toBe('Rome');
        if (done.has('id-n')) expect(city('id-n')).toBe('Nice');
        if (done.has('id-l')) expect(city('id-l')).toBe('Leeds');
        if (done.has('id-3')) expect(ids).not.toContain('id-3');
        if (done.has('id-4')) expect(ids).not.toContain('id-4');
        expect(ids.filter((id) => id === 'id-n').length).toBeLessThan(2);

        // The next run finds everything in order.
        expect((await target.open({ create: true }, never())).missing).toEqual([]);
      }
    },
  );
});

test('a row that is pushed away by the very write is not reported as done, and the next write puts it right', async () => {
  await using harness = await setUp();
  const { sandbox, tab } = harness;
  sandbox.before = ({ method }) => {
    if (method !== 'spreadsheets.values.batchUpdate') return;
    sandbox.before = null;
    sandbox.person.insertRows(tab, 1);
  };
  const target = harness.target();
  const change = update('id-1', seen(1), { city: 'Rome' });
  const outcomes = await target.write([change], never());
  expect(outcomes.map(verdict)).toEqual(['row.changed']);
  expect(harness.show()?.toSpliced(1, 1)).toEqual(table);
  expect((await target.write([change], never())).map(verdict)).toEqual(['done']);
  expect(harness.show()?.[3]).toEqual(rows[1]?.with(3, 'Rome'));
});

test('a lost reply of a write to moved rows: the repetition puts right what was hit', async () => {
  await using harness = await setUp();
  const { sandbox, tab } = harness;
  sandbox.before = ({ method }) => {
    if (method !== 'spreadsheets.values.batchUpdate') return;
    sandbox.before = null;
    sandbox.person.moveRows(tab, 1, 1, 9);
    return { kind: 'reset-after' };
  };
  const target = harness.target();
  const change = update('id-1', seen(1), { city: 'Rome' });
  await expect(target.write([change], never())).rejects.toMatchObject({ code: 'target.unavailable' });
  expect((await target.write([change], never())).map(verdict)).toEqual(['done']);
  const [first, second = [], ...others] = rows;
  expect(harness.show()).toEqual([headings, second.with(3, 'Rome'), ...others, first, loose]);
});

test('an id that hit another row is taken out again when a row is inserted just before that', async () => {
  await using harness = await setUp();
  const { sandbox, tab } = harness;
  sandbox.before = ({ method }) => {
    if (method === 'spreadsheets.values.batchUpdate') sandbox.person.moveRows(tab, 9, 1, 1);
    if (method !== 'spreadsheets.batchUpdate') return;
    sandbox.before = null;
    sandbox.person.insertRows(tab, 3);
  };
  const id = link('id-l', { name: 'Loose Ltd', city: 'Leeds', due: null });
  expect((await harness.target().write([id], never())).map(verdict)).toEqual(['row.changed']);
  const blank = headings.map(() => '');
  expect(harness.show()).toEqual([headings, loose, ...rows.slice(0, 1), blank, ...rows.slice(1)]);
});
