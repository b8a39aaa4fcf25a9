import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { corpus } from './corpus/corpus.ts';
import { abroad, type CorpusFile, people, sheetName } from './corpus/content.ts';
import { zip } from './corpus/zip.ts';
import { judgeFeatures } from './judge/features.ts';
import { LibreOffice } from './judge/libreoffice.ts';
import { otherReaders } from './judge/other-readers.ts';
import { compareParts, readParts } from './judge/parts.ts';
import { compareSheets } from './judge/sheet-changes.ts';
import { JudgedWorkbook } from './judge/workbook.ts';
import { all, attribute, canonicalXml } from './judge/xml.ts';
import { before, meant, rounds, syncThreeTimes, type SyncedFile } from './three-rounds.ts';

const files = await corpus();
/** For all files together on a busy machine, in milliseconds. */
const maxAttempts = 240_000;
/** Row of Dora, which the second round removes, when the headings are in row 1. */
const removedRow = 5;

describe('three rounds of changes on every workbook of the corpus', () => {
  const synced = new Map<string, SyncedFile | Error>();

  beforeAll(async () => {
    for (const file of files.filter(({ content }) => content.length > 0)) {
      synced.set(
        file.name,
        await syncThreeTimes(file).catch((error: unknown) => new Error(String(error), { cause: error })),
      );
    }
  }, maxAttempts);

  const resultOf = (name: string): SyncedFile => {
    const result = synced.get(name);
    if (result === undefined) throw new Error(`${name} was not played`);
    if (result instanceof Error) throw result;
    return result;
  };

  const inEach = (file: CorpusFile): void => {
    const headingRow = file.headingRow ?? 1;
    const removed = removedRow + headingRow - 1;

    test('is read as it is meant, and every change is done', () => {
      const { rowsBefore, outcomes, rowsAfter } = resultOf(file.name);
      expect(rowsBefore.map(({ leadId, cells }) => ({ id: leadId, ...cells }))).toEqual(before);
      expect(rowsBefore.map(({ row }) => row)).toEqual(before.map((_, n) => headingRow + 1 + n));
      expect(outcomes).toEqual(rounds.map((changes) => changes.map(() => 'done')));
      expect(byId(rowsAfter.map(({ leadId, cells }) => ({ id: leadId ?? '', ...cells })))).toEqual(
        byId(meant.map(({ shownDue: _, sync: __, ...row }) => row)),
      );
    });

    test('every part that need not change is byte for byte the same', () => {
      const [original, result] = [readParts(file.content), readParts(resultOf(file.name).content)];
      const book = new JudgedWorkbook(original);
      const sheet = book.sheet(sheetName);
      const mayChange = [sheet.part, book.workbookPart, ...book.related(sheet.part, 'table')];
      const difference = compareParts(original, result);
      expect({ ...difference, changed: [] }).toEqual({
        added: [],
        missing: [],
        changed: [],
        reordered: false,
      });
      expect(difference.changed.map(slashed)).toContain(sheet.part);
      expect(difference.changed.map(slashed).filter((name) => !mayChange.includes(name))).toEqual([]);
    });

    test('in the sheet only the cells differ that were to be changed', () => {
      const [had, has] = [file.content, resultOf(file.name).content].map((content) =>
        new JudgedWorkbook(readParts(content)).sheet(sheetName),
      );
      if (had === undefined || has === undefined) throw new Error('unreachable');
      const changes = compareSheets(had, has);
      expect(changes.sameElsewhere).toBe(true);
      expect(changes.rows).toEqual([]);
      const ours = file.full ? 'ABDEJ' : 'ABDEF';
      const allowed = (at: string) => {
        const row = Number(/\d+/.exec(at)?.[0]) - headingRow + 1;
        const column = at.replace(/\d+/, '');
        if (row === removedRow) return true;
        // A new row takes the formats of the row above.
        if (row > 1 + before.length) return ours.includes(column) || has.cells.get(at)?.text === '';
        return (expectedEdits[row] ?? '').includes(column === ours.at(-1) ? 'S' : column);
      };
      expect(changes.cells.filter((at) => !allowed(at))).toEqual([]);
    });

    test('in the workbook part only the calculation and the filter differ', () => {
      const [had, has] = [file.content, resultOf(file.name).content].map((content) => {
        const book = new JudgedWorkbook(readParts(content));
        const root = book.root(book.workbookPart);
        for (const calculation of all(root, 'calcPr')) calculation.parentNode?.removeChild(calculation);
        for (const name of all(root, 'definedName')) {
          if (attribute(name, 'name') === '_xlnm._FilterDatabase') name.textContent = '';
        }
        return canonicalXml(root);
      });
      expect(has).toBe(had);
    });

    test('formulas are calculated anew by who opens it', () => {
      const book = new JudgedWorkbook(readParts(resultOf(file.name).content));
      const hasFormulas = book
        .sheets()
        .some(({ cells }) => [...cells.values()].some((cell) => cell.formula !== null));
      const [calculation] = all(book.root(book.workbookPart), 'calcPr');
      if (hasFormulas) expect(attribute(calculation, 'fullCalcOnLoad')).toMatch(/^(1|true)$/);
    });

    test('all features are kept', () => {
      const verdicts = judgeFeatures(
        readParts(file.content),
        readParts(resultOf(file.name).content),
        sheetName,
        new Set([removed]),
      );
      expect([...verdicts].filter(([, { verdict }]) => verdict === 'lost')).toEqual([]);
    });

    test.each(Object.entries(otherReaders).filter(([, { cannot }]) => !cannot.includes(file.name)))(
      '%s reads what we meant',
      async (_, { read }) => {
        const rows = (await read(resultOf(file.name).content, sheetName)).map(([id = '', name, city]) => ({
          id,
          name,
          city,
        }));
        expect(byId(rows)).toEqual(byId(meant.map(({ id, name, city }) => ({ id, name, city: city ?? '' }))));
      },
    );

    test('table and filter reach to the last row', () => {
      const book = new JudgedWorkbook(readParts(resultOf(file.name).content));
      const sheet = book.sheet(sheetName);
      const last = Math.max(
        ...[...sheet.cells.values()]
          .filter(({ column, text }) => column === 'A' && text !== '')
          .map(({ row }) => row),
      );
      const filters = [sheet.root, ...book.related(sheet.part, 'table').map((name) => book.root(name))];
      for (const range of filters.flatMap((owner) => all(owner, 'autoFilter'))) {
        expect(Number(/\d+$/.exec(attribute(range, 'ref') ?? '')?.[0])).toBeGreaterThanOrEqual(last);
      }
    });
  };
  for (const file of files)
    describe(`${file.name}:`, { tags: file.by ?? [] }, () => {
      inEach(file);
    });

  describe('LibreOffice reads what we meant', { tags: 'soffice' }, () => {
    let shown: Map<string, Map<string, string[][]>>;
    let folder: string;

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
      await using office = await LibreOffice.start();
      const paths: string[] = [];
      for (const [n, file] of files.entries()) {
        const result = synced.get(file.name);
        if (result === undefined || result instanceof Error) continue;
        const path = join(folder, `file${n}.${file.extension}`);
        paths.push(path);
        await writeFile(path, readableByLibreOffice(file.name, result.content));
      }
      shown = await office.read(paths);
    }, maxAttempts);
    afterAll(() => rm(folder, { recursive: true, force: true }));

    test.each(files.map((file, n) => ({ ...file, n })))('$name', (file) => {
      resultOf(file.name);
      const grid = shown.get(`file${file.n}`)?.get(sheetName) ?? [];
      const rows = grid.slice(file.headingRow ?? 1).filter((row) => row[0] !== '');
      expect(byId(rows.map((row) => shownRow(row, file.full)))).toEqual(
        byId(meant.map((row) => meantRow(row, file.full))),
      );
      if (!file.full) return;
      expect(shown.get(`file${file.n}`)?.get('Rates')?.[3]?.[1]).toBe('3');
    });
  });
});

/** Columns that the rounds write, by row: S is the status column. */
const expectedEdits: Record<number, string> = { 2: 'DE', 3: 'S', 4: 'B', 6: 'ADE' };

const slashed = (name: string) => decodeURIComponent(name.replaceAll('\\', '/'));

function byId<Row extends { id: string }>(rows: readonly Row[]): Row[] {
  return rows.toSorted((a, b) => a.id.localeCompare(b.id));
}

/** LibreOffice 7.4 reads neither ZIP64 end records nor backslashes: such a result is packed again, parts as they are. */
function readableByLibreOffice(name: string, content: Buffer): Buffer {
  if (!/zip64|backslashes/.test(name)) return content;
  return zip(new Map([...readParts(content)].map(([part, bytes]) => [part.replaceAll('\\', '/'), bytes])));
}

function shownRow(
  row: readonly string[],
  full: boolean,
): { id: string } & Record<string, string | undefined> {
  const [id = '', name, notes, city, due] = row;
  if (!full) return { id, name, notes, city, due, sync: row[5] };
  return {
    id,
    name,
    notes,
    city,
    due,
    amount: row[5],
    double: row[6],
    abroad: row[7],
    code: row[8],
    sync: row[9],
  };
}

function meantRow(
  row: (typeof meant)[number],
  full: boolean,
): { id: string } & Record<string, string | undefined> {
  const person = people.find(
    ({ id, company }) => id === row.id || (row.id === 'id-l' && company === 'Loose Ltd'),
  );
  const ours = {
    id: row.id,
    name: row['name'] ?? '',
    notes: person?.notes ?? '',
    city: row['city'] ?? '',
    due: row.shownDue,
    sync: row.sync,
  };
  if (!full) return ours;
  if (person === undefined) return { ...ours, amount: '', double: '', abroad: '', code: '' };
  return {
    ...ours,
    amount: String(person.amount),
    double: String(person.amount * 2),
    abroad: String(abroad(ours.city, person.amount)),
    code: person.code,
  };
}
