import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { RowChange, RowOutcome, Target } from '../../src/ports/target.ts';
import { append, never } from '../contract/target-harness.ts';
import type { CorpusFile } from './corpus/content.ts';
import { writtenByExcelts } from './corpus/excelts.ts';
import { oddFiles } from './corpus/odd.ts';
import { readParts } from './judge/parts.ts';
import { targetOf } from './three-rounds.ts';

const loose = { name: 'Loose Ltd', city: 'Leeds', due: null };
const due = '2026-12-01T08:15:00.000Z';
const again = (leadId: string, values: typeof loose): RowChange => ({
  ...append(leadId, values),
  kind: 'append',
  leadId,
  values,
  isRepeated: true,
});

/** Rows with and without cells, one that is there in another spelling of its id, and one that a row without id may be. */
const batches: readonly (readonly RowChange[])[] = [
  [
    append('n1', { name: 'New & <One>', city: 'Nice', due }, 'new'),
    append('n2', { name: 'ünï 🎈', city: null }),
  ],
  [
    append('n3', { name: 'Three', city: '0042', due: null }),
    append('n4', { name: 'Four', city: 'Oslo', due }),
  ],
  [append('n5', { city: 'Rome' })],
  [append('N1', { name: 'Another', city: null, due: null }), append('id-a', { name: 'Anna', due: null })],
  [append('n6', { name: 'Six', city: 'Ulm', due }, 'new')],
  [again('n7', loose), append('n8', { name: 'Eight', city: 'Bonn', due: null })],
  [append('n9', { name: 'Nine', city: null, due })],
];

interface Played {
  readonly outcomes: readonly (readonly RowOutcome[])[];
  readonly parts: ReadonlyMap<string, Buffer>;
  /** After each batch: whether the rows that are there stay packed when more are added. */
  readonly known: readonly boolean[];
}

/** All batches, by one target object or each by its own; `between`: what happens after one. */
async function play(
  { content, extension, sheet }: CorpusFile,
  isOneObject: boolean,
  between: (path: string, batch: number) => Promise<void> = async () => undefined,
): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
  try {
    const path = join(folder, `leads.${extension}`);
    await writeFile(path, content);
    const one = targetOf(path, sheet);
    const usual = one.batchSize;
    const [outcomes, known]: [(readonly RowOutcome[])[], boolean[]] = [[], []];
    for (const [index, changes] of batches.entries()) {
      const target: Target = isOneObject ? one : targetOf(path, sheet);
      outcomes.push(await target.write(changes, never()));
      known.push(target.batchSize > usual);
      await between(path, index);
    }
    return { outcomes, parts: readParts(await readFile(path)), known };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Those that are not packed in the usual way, and those with something below the place of new rows. */
const neverKnown: readonly string[] = ['autofilter', 'table, epoch 1904', 'zip: stored entries'];

const full = (name: string, content: Buffer): CorpusFile => ({
  name,
  extension: 'xlsx',
  content,
  full: true,
});
const files = [
  full('autofilter', writtenByExcelts('autofilter')),
  full('table, epoch 1904', writtenByExcelts('table-1904')),
  ...oddFiles().filter(({ name }) => !name.startsWith('zip:') || neverKnown.includes(name)),
];

describe.each(files)('rows added to a workbook that is as the last write left it: $name', (file) => {
  test('are the same, byte for byte, as when the workbook is read each time', async () => {
    const [kept, fresh] = [await play(file, true), await play(file, false)];
    expect(kept.outcomes).toEqual(fresh.outcomes);
    expect(kept.parts).toEqual(fresh.parts);
    // Of what gave its id to a row that was there, the next write has to read the rows.
    const known = neverKnown.includes(file.name) ? [] : [0, 1, 2, 3, 4, 6];
    expect(kept.known.flatMap((isKnown, batch) => (isKnown ? [batch] : []))).toEqual(known);
  });
});

test('what somebody changes between two batches is seen', async () => {
  const file = files.find(({ name }) => !neverKnown.includes(name));
  if (file === undefined) throw new Error('no workbook');
  const theirs = append('n6', { name: 'Theirs', city: 'Turin', due: null });
  const { outcomes } = await play(file, true, async (path, batch) => {
    if (batch === 3) await targetOf(path).write([theirs], never());
  });
  expect(outcomes[4]).toMatchObject([{ key: 'n6', code: 'row.exists' }]);
});
