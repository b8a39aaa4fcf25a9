import { CsvError, parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordAt } from '../../src/targets/csv/record-at.ts';
import { readCsvRecords } from '../../src/targets/csv/records.ts';
import { LeadsyncError } from '../../src/lib/errors.ts';

const dialect = { start: 0, delimiter: ',', headerRow: 1, hasSeparatorLine: false };

/** The texts of all cells of a file that comes in pieces of so many bytes. */
async function textsOf(file: Buffer, pieceBytes: number): Promise<unknown> {
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < file.length; at += pieceBytes) yield file.subarray(at, at + pieceBytes);
  }
  const rows: { texts: string[]; shown: string; line: number }[] = [];
  try {
    for await (const records of readCsvRecords(pieces(), dialect, 'x.csv'))
      for (const { cells, start, contentEnd, line } of records)
        rows.push({
          texts: cells.map(({ text }) => text),
          shown: file.toString('utf8', start, contentEnd),
          line,
        });
    return rows;
  } catch (error) {
    if (!(error instanceof LeadsyncError)) throw error;
    return error.message;
  }
}

const anyFile = fc.string({ unit: fc.constantFrom('a', 'ü', '"', '"', ',', '\r', '\n', ' '), maxLength: 24 });

test('law: records are those of csv-parse, or it refuses the file too', () => {
  const parsed = (text: string, isRelaxed: boolean): unknown => {
    try {
      return parse(text, {
        record_delimiter: ['\r\n', '\n', '\r'],
        relax_quotes: isRelaxed,
        relax_column_count: true,
      });
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      return null;
    }
  };
  const read = (bytes: Buffer): unknown => {
    const rows: string[][] = [];
    for (let at = 0; at < bytes.length; ) {
      const found = recordAt({ bytes, position: 0, isLast: true }, at, ',');
      if (found === null || typeof found === 'string') return null;
      rows.push(found.cells.map(({ text }) => text));
      at = found.end;
    }
    return rows;
  };
  fc.assert(
    fc.property(anyFile, (text) => {
      const rows = read(Buffer.from(text));
      // Text after a closing quote is refused here, and kept there with its quotes.
      expect(rows).toEqual(parsed(text, rows !== null));
    }),
    { numRuns: 5_000 },
  );
});

test('law: records are the same in whatever pieces a file comes', () =>
  fc.assert(
    fc.asyncProperty(anyFile, fc.integer({ min: 1, max: 9 }), async (text, pieceBytes) => {
      const file = Buffer.from(text);
      expect(await textsOf(file, pieceBytes)).toEqual(await textsOf(file, 1_000));
    }),
    { numRuns: 2_000 },
  ));

test('a quote that is never closed is told before the whole file is in memory', async () => {
  const line = Buffer.from('x'.repeat(64 * 1024));
  let read = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    yield Buffer.from('a,b\n"');
    for (; read < 1_000; read++) yield line;
  }
  const reading = (async () => {
    for await (const _ of readCsvRecords(endless(), dialect, 'x.csv'));
  })();
  await expect(reading).rejects.toThrow('too long, probably after a quote that is not closed (line 2)');
  expect(read).toBeLessThan(600);
});
