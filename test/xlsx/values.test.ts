import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonical, type Values } from '../../src/core/lead/value.ts';
import type { RowChange } from '../../src/ports/target.ts';
import { append, never, readAll, update } from '../contract/target-harness.ts';
import { LibreOffice } from './judge/libreoffice.ts';
import { readParts } from './judge/parts.ts';
import { JudgedWorkbook } from './judge/workbook.ts';
import { targetOf } from './three-rounds.ts';

const spice = fc.constantFrom(
  '=1+1',
  '0042',
  '1e5',
  '1,5',
  '12:30',
  'TRUE',
  '#N/A',
  '_x0041_',
  '_x005F_x0041_',
  '_xD800_',
  "'quoted",
  '+49 171',
  '-5',
  '@me',
  ' lead',
  'trail ',
  '\ttab',
  'two\nlines',
  'two\r\nlines',
  ' ',
  ']]>',
  '<b>&amp;</b>',
  '&#65;',
  '\u0000',
  '\u0001\u001f\u007f\u0085',
  '\ufffe\uffff',
  '\ufeffmark',
  'a\u0301',
  '\u2028',
  '🎈',
  '\ud83c',
  '\udf88x',
  '2026-11-21',
);
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.array(fc.oneof(spice, fc.string({ maxLength: 3 })), { maxLength: 4 }).map((pieces) => pieces.join('')),
);
/** What Excel's dates can hold, in milliseconds, less what Berlin's clocks show twice. */
const instant = fc
  .date({ min: new Date('1900-03-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true })
  .map((date) => date.toISOString())
  .filter((iso) => !shownTwice(iso));
const row = fc.record({ name: fc.option(text), city: fc.option(text), due: fc.option(instant) });

const local = new Intl.DateTimeFormat('sv', {
  timeZone: 'Europe/Berlin',
  dateStyle: 'short',
  timeStyle: 'medium',
});

function shownTwice(iso: string): boolean {
  const at = Date.parse(iso);
  const minutes = [30, 60, 120];
  return minutes.some((by) =>
    [at - by * 60_000, at + by * 60_000].some((other) => local.format(other) === local.format(at)),
  );
}

async function inFolder(body: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
  try {
    await body(join(folder, 'leads.xlsx'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const canonicalRow = (values: Values) =>
  Object.fromEntries(Object.entries(values).map(([field, value]) => [field, canonical(value)]));
const changesOf = (rows: readonly Values[]): RowChange[] =>
  rows.map((values, n) => append(`id-${n}`, values));

/** The id alone carries no value that could be lost on the way. */
async function writeRows(path: string, rows: readonly Values[]): Promise<string[]> {
  await targetOf(path).open({ create: true }, never());
  const outcomes = await targetOf(path).write(changesOf(rows), never());
  return outcomes.map((outcome) => (outcome.status === 'done' ? 'done' : outcome.code));
}

describe('values in a workbook', () => {
  test('every text and instant comes back, or is held as not storable; writing it again changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), (rows) =>
        inFolder(async (path) => {
          const outcomes = await writeRows(path, rows);
          expect(outcomes.filter((code) => code !== 'done' && code !== 'target.value-not-storable')).toEqual(
            [],
          );
          const read = new Map((await readAll(targetOf(path))).map(({ leadId, cells }) => [leadId, cells]));
          for (const [n, values] of rows.entries()) {
            const cells = read.get(`id-${n}`);
            if (outcomes[n] !== 'done') expect(cells).toBeUndefined();
            else expect(canonicalRow((cells ?? {}) as Values)).toEqual(canonicalRow(values));
          }
          const again = rows.flatMap((values, n) =>
            outcomes[n] === 'done' ? [update(`id-${n}`, values, values)] : [],
          );
          const target = targetOf(path);
          expect((await target.write(again, never())).every(({ status }) => status === 'done')).toBe(true);
        }),
      ),
      { numRuns: 30 },
    );
  });

  test('only what no cell can hold is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 20 }), (texts) =>
        inFolder(async (path) => {
          const outcomes = await writeRows(
            path,
            texts.map((name) => ({ name, city: null, due: null })),
          );
          for (const [n, value] of texts.entries()) {
            if (outcomes[n] !== 'done') expect(value).toMatch(/[^\P{C}\t\n\r]/u);
          }
        }),
      ),
      { numRuns: 20 },
    );
  });

  test('32,767 characters fit, one more is held', () =>
    inFolder(async (path) => {
      const outcomes = await writeRows(path, [
        { name: '&'.repeat(32_767), city: null, due: null },
        { name: 'x'.repeat(32_768), city: null, due: null },
      ]);
      expect(outcomes).toEqual(['done', 'target.value-not-storable']);
      const [only, ...others] = await readAll(targetOf(path));
      expect(others).toEqual([]);
      expect(only?.cells['name']).toBe('&'.repeat(32_767));
    }));

  test('an instant keeps its millisecond in both epochs of the calendar and on both sides of a clock change', () =>
    inFolder(async (path) => {
      const moments = [
        '2026-03-29T00:59:59.999Z',
        '2026-03-29T01:00:00.000Z',
        '2026-10-24T23:59:59.999Z',
        '2026-10-25T02:00:00.001Z',
        '1999-12-31T23:00:00.000Z',
        '2024-02-29T12:34:56.789Z',
      ];
      await writeRows(
        path,
        moments.map((due) => ({ name: 'x', city: null, due })),
      );
      expect((await readAll(targetOf(path))).map(({ cells }) => cells['due'])).toEqual(moments);
    }));

  test('LibreOffice sees the same texts and moments', { tags: 'soffice' }, () =>
    inFolder(async (path) => {
      const [rows = []] = fc.sample(fc.array(row, { minLength: 300, maxLength: 300 }), {
        numRuns: 1,
        seed: 42,
      });
      const outcomes = await writeRows(path, rows);
      await using office = await LibreOffice.start();
      const grid = (await office.read([path])).get('leads')?.values().next().value ?? [];
      const shown = new Map(grid.slice(1).map((cells) => [cells[0], cells]));
      for (const [n, values] of rows.entries()) {
        if (outcomes[n] !== 'done') continue;
        expect([n, seen(shown.get(`id-${n}`)?.[1] ?? '')]).toEqual([n, seen(values.name ?? '')]);
        expect([n, seen(shown.get(`id-${n}`)?.[2] ?? '')]).toEqual([n, seen(values.city ?? '')]);
        expect([n, apart(shown.get(`id-${n}`)?.[3] ?? '', values.due ?? null)]).toEqual([
          n,
          'at most a second',
        ]);
      }
    }),
  );

  test('the judge reads the same texts from the parts', () =>
    inFolder(async (path) => {
      const [rows = []] = fc.sample(fc.array(row, { minLength: 300, maxLength: 300 }), {
        numRuns: 1,
        seed: 7,
      });
      const outcomes = await writeRows(path, rows);
      const [sheet] = new JudgedWorkbook(readParts(await readFile(path))).sheets();
      const shown = new Map<string, Map<string, string>>();
      for (const { row: line, column, text: value } of sheet?.cells.values() ?? []) {
        const key = sheet?.cells.get(`A${line}`)?.text ?? '';
        shown.set(key, (shown.get(key) ?? new Map<string, string>()).set(column, value));
      }
      for (const [n, values] of rows.entries()) {
        if (outcomes[n] === 'done')
          expect(parsed(shown.get(`id-${n}`)?.get('B') ?? '')).toBe(parsed(values.name ?? ''));
      }
    }));
});

/** LibreOffice shows whole seconds of Berlin's clocks, cut off or rounded. */
function apart(shownDue: string, due: string | null): string {
  if (due === null || shownDue === '')
    return due === null && shownDue === '' ? 'at most a second' : `${shownDue}, not ${due}`;
  const asUtc = (clock: string) => Date.parse(`${clock.replace(' ', 'T')}Z`);
  const gap = Math.abs(asUtc(shownDue) - asUtc(local.format(new Date(due))));
  return gap <= 1_000 ? 'at most a second' : `${shownDue}, not ${due}`;
}

/** The judge's parser takes the line ends of XML 1.1 for such. */
function parsed(value: string): string | null {
  return canonical(value.replaceAll(/\r?[\u0085\u2028]/g, '\n'));
}

/** LibreOffice drops characters that its text engine cannot show, and csv knows one kind of line end. */
function seen(value: string): string {
  return (canonical(value) ?? '').replace(/[^\P{C}\n]/gu, '');
}
