import { describe, expect, test } from 'vitest';
import { createCsvTarget } from '../../src/targets/csv/csv-target.ts';
import { localPlace } from '../../src/targets/local/local-place.ts';
import { csvOptions, withFile } from '../contract/csv-harness.ts';
import { append, readAll, update, verdict } from '../contract/target-harness.ts';

const signal = new AbortController().signal;
const rome = update('a', { city: 'Bonn' }, { city: 'Rome' });

describe('a file whose end is missing', () => {
  test.each([
    ['in a row', 'Lead ID,City,Company\na,Bonn,A\nb,Li', 'after 2 of 3 cells (line 3)'],
    ['in an id', 'Lead ID,City\na,Bonn\nb', 'after 1 of 2 cells (line 3)'],
    ['in a quoted cell', 'Lead ID,City\na,"x\ny"\nb,"Bonn\nc,Graz\n', 'quote is not closed (line 4)'],
    ['in a heading', 'Lead ID,Company,Cit', 'in the middle of its headings'],
    ['in the first heading', '\uFEFFLea', 'in the middle of its headings'],
    [
      'in a character',
      Buffer.from('Lead ID,City\na,Köln\nb,Kö').subarray(0, -1),
      'in the middle of a character',
    ],
    [
      'in a character of UTF-16',
      Buffer.from('\uFEFFLead ID,City\na,Bonn', 'utf16le').subarray(0, -1),
      'character',
    ],
  ])('%s', (_, content, message) =>
    withFile(content, async (harness) => {
      const fault = { code: 'target.incomplete', retry: 'later', message: expect.stringContaining(message) };
      const target = harness.target();
      await expect(target.open({ create: true }, signal).then(() => readAll(target))).rejects.toMatchObject(
        fault,
      );
      await expect(harness.target().write([rome], signal)).rejects.toMatchObject(fault);
      expect(harness.read()).toBe(content.toString());
    }),
  );

  test('a file that only lacks its last line end is whole', () =>
    withFile('Lead ID,City\na,Bonn', async (harness) => {
      expect(await readAll(harness.target())).toMatchObject([{ leadId: 'a', cells: { city: 'Bonn' } }]);
    }));
});

describe('rows of another width than the headings', () => {
  test('cells after the end of a row are not shown; empty ones are', () =>
    withFile('Lead ID,City,Company\na\nb,Bonn\nc,,\n', async (harness) => {
      expect((await readAll(harness.target())).map(({ cells }) => cells)).toEqual([
        {},
        { city: 'Bonn' },
        { city: null, name: null },
      ]);
    }));

  test('a row with more cells than there are headings cannot be read, unless they are empty', () =>
    withFile('Lead ID,Company,City\na,Müller, Söhne,Bonn\nb,Bert,Linz,,\n', async (harness) => {
      const shifted = { unreadable: '4 cells under 3 headings', why: 'shifted' };
      expect((await readAll(harness.target())).map(({ cells }) => cells)).toEqual([
        { name: shifted, city: shifted },
        { name: 'Bert', city: 'Linz' },
      ]);
    }));

  test('nothing is written into a row with more cells than headings, the status neither', () =>
    withFile('Lead ID,Company,City,Status\na,Müller, Söhne,Bonn,mine\n', async (harness) => {
      const target = createCsvTarget(localPlace(harness.path), { ...csvOptions, statusColumn: 'Status' });
      const before = harness.read();
      const change = {
        key: 's',
        kind: 'status',
        leadId: 'a',
        expect: {},
        shown: 'Bonn',
        text: 'held',
      } as const;
      expect(await target.write([change], signal)).toMatchObject([
        { status: 'held', code: 'target.cell-not-writable' },
      ]);
      expect(harness.read()).toBe(before);
    }));
});

describe('encodings', () => {
  const text = 'sep=;\nLead ID;Company;City;Own\na;Köln „Süd“;Bonn;€\n';
  const encodings = [
    ['UTF-8', (content: string) => Buffer.from(content)],
    ['UTF-8 with a mark', (content: string) => Buffer.from(`\uFEFF${content}`)],
    ['UTF-16LE', (content: string) => Buffer.from(`\uFEFF${content}`, 'utf16le')],
    ['UTF-16BE', (content: string) => Buffer.from(`\uFEFF${content}`, 'utf16le').swap16()],
    [
      'Windows-1252',
      (content: string) =>
        Buffer.from(
          content.replaceAll(
            /[„“”€]/g,
            (char) => ({ '„': '\x84', '“': '\x93', '”': '\x94' })[char] ?? '\x80',
          ),
          'latin1',
        ),
    ],
  ] as const;

  test.each(encodings)('%s with a line that names the delimiter is read and kept', (_, encode) =>
    withFile(encode(text), async (harness) => {
      const target = harness.target();
      expect(await readAll(target)).toEqual([
        { row: 2, leadId: 'a', cells: { name: 'Köln „Süd“', city: 'Bonn' }, status: null },
      ]);
      const changes = [update('a', { city: 'Bonn' }, { city: 'Üß;€' }), append('n', { name: 'Ñandú' })];
      expect((await target.write(changes, signal)).map(verdict)).toEqual(['done', 'done']);
      await target.write([append('m', { name: '“M”' })], signal);
      const now = `${text.replace('Bonn', '"Üß;€"')}n;Ñandú;;\nm;“M”;;\n`;
      expect(harness.bytes()).toEqual(encode(now));
      expect(await readAll(harness.target())).toMatchObject([
        { cells: { name: 'Köln „Süd“', city: 'Üß;€' } },
        { cells: { name: 'Ñandú' } },
        { cells: { name: '“M”' } },
      ]);
    }),
  );

  test('what Windows-1252 has not is held and named, and nothing is damaged', () => {
    const content = Buffer.from('Lead ID,City\na,K\xf6ln\n', 'latin1');
    return withFile(content, async (harness) => {
      const [outcome] = await harness.target().write([update('a', {}, { city: 'Łódź' })], signal);
      expect(outcome).toMatchObject({
        code: 'target.value-not-storable',
        message: expect.stringContaining('Windows-1252, which has no "Ł"'),
      });
      expect(harness.bytes()).toEqual(content);
    });
  });
});

describe('a file that is no CSV file we can read', () => {
  test.each([
    ['UTF-16 without mark', Buffer.from('Lead ID,City\n', 'utf16le'), 'NUL'],
    [
      'UTF-8 and Windows-1252 in one',
      Buffer.from('Lead ID,City\na,Köln\nb,K\xc3\xb6ln\n', 'latin1'),
      '(line 2)',
    ],
    ['an encoding of MS-DOS', Buffer.from('Lead ID,City\na,M\x81nchen\n', 'latin1'), '(line 2)'],
    ['a workbook', Buffer.from('PK\x03\x04 and so on'), '.xlsx'],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), '.xls'],
    ['an open quote before a quoted cell', 'Lead ID,City\na,"Bonn\nb,"Graz"\n', '(line 2)'],
    ['text behind a quote', 'Lead ID,City\na,"Bonn"x\n', '(line 2)'],
  ])('%s', (_, content, message) =>
    withFile(content, async (harness) => {
      const fault = { code: 'target.unreadable', retry: 'never', message: expect.stringContaining(message) };
      await expect(readAll(harness.target())).rejects.toMatchObject(fault);
      await expect(harness.target().write([rome], signal)).rejects.toMatchObject(fault);
      expect(harness.read()).toBe(content.toString());
    }),
  );
});
