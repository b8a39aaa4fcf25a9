import { readFile, writeFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Values } from '../../src/core/lead/value.ts';
import type { RowChange, Target, TargetRow } from '../../src/ports/target.ts';
import { createXlsxTarget } from '../../src/targets/xlsx/xlsx-target.ts';
import { localPlace } from '../../src/targets/local/local-place.ts';
import {
  append,
  contractFields,
  link,
  mark,
  never,
  readAll,
  remove,
  update,
} from '../contract/target-harness.ts';
import type { CorpusFile } from './corpus/content.ts';

const looseCells: Values = { name: 'Loose Ltd', city: 'Leeds', due: null };
const annaCells: Values = { name: 'Anna AG', city: 'Aachen', due: '2026-11-21T08:30:00.000Z' };
const oddText = ' =1+1 & "quoted" <b>\n next line, ünï 🎈 ';

/** Before the first round, as every workbook of the corpus says. */
export const before: readonly (Values & { id: string | null })[] = [
  { id: 'id-a', ...annaCells },
  { id: 'id-b', name: 'Bert BV', city: 'Bonn', due: null },
  { id: 'id-c', name: 'Cleo & Söhne <GmbH>', city: 'Köln', due: '2026-03-30T10:00:00.000Z' },
  { id: 'id-d', name: 'Dora "D" Ltd', city: 'Dublin', due: '2027-01-01T23:00:00.000Z' },
  { id: null, ...looseCells },
];

/** Every kind of change, on rows that were there and on rows that an earlier round made. */
export const rounds: readonly (readonly RowChange[])[] = [
  [
    update('id-a', annaCells, { city: 'Rome', due: '2026-12-24T17:00:00.000Z' }),
    append('id-n1', { name: 'New & <One>', city: 'Nice', due: '2026-12-01T08:15:00.000Z' }),
    link('id-l', looseCells, { due: '2027-03-01T09:00:00.000Z' }),
    mark('id-b', { name: 'Bert BV' }, 'deleted 2026-11-21'),
  ],
  [
    update('id-c', { name: 'Cleo & Söhne <GmbH>' }, { name: oddText }),
    update('id-n1', { city: 'Nice' }, { city: 'Rome' }),
    append('id-n2', { name: 'N2', city: null, due: null }),
    append('id-n3', { name: 'N3', city: 'Oslo', due: '2026-12-31T23:30:00.000Z' }),
    remove('id-d', { name: 'Dora "D" Ltd' }),
  ],
  [
    update('id-a', { city: 'Rome' }, { due: null }),
    update('id-l', { name: 'Loose Ltd' }, { city: 'Rome' }),
    remove('id-n3', { city: 'Oslo' }),
    append('id-n4', { name: 'N4', city: '0042', due: '2026-06-30T22:00:00.000Z' }),
  ],
];

/** After the last round: what we meant, and what Europe/Berlin's clocks show. */
export const meant: readonly (Values & { id: string; shownDue: string; sync: string })[] = [
  { id: 'id-a', name: 'Anna AG', city: 'Rome', due: null, shownDue: '', sync: '' },
  { id: 'id-b', name: 'Bert BV', city: 'Bonn', due: null, shownDue: '', sync: 'deleted 2026-11-21' },
  {
    id: 'id-c',
    name: oddText,
    city: 'Köln',
    due: '2026-03-30T10:00:00.000Z',
    shownDue: '2026-03-30 12:00:00',
    sync: '',
  },
  {
    id: 'id-l',
    name: 'Loose Ltd',
    city: 'Rome',
    due: '2027-03-01T09:00:00.000Z',
    shownDue: '2027-03-01 10:00:00',
    sync: '',
  },
  {
    id: 'id-n1',
    name: 'New & <One>',
    city: 'Rome',
    due: '2026-12-01T08:15:00.000Z',
    shownDue: '2026-12-01 09:15:00',
    sync: '',
  },
  { id: 'id-n2', name: 'N2', city: null, due: null, shownDue: '', sync: '' },
  {
    id: 'id-n4',
    name: 'N4',
    city: '0042',
    due: '2026-06-30T22:00:00.000Z',
    shownDue: '2026-07-01 00:00:00',
    sync: '',
  },
];

export interface SyncedFile {
  readonly rowsBefore: readonly TargetRow[];
  readonly rowsAfter: readonly TargetRow[];
  /** Codes or `done`, round by round. */
  readonly outcomes: readonly (readonly string[])[];
  readonly content: Buffer;
}

export const xlsxOptions = {
  fields: contractFields,
  idColumn: 'Lead ID',
  statusColumn: 'Sync',
  timeZone: 'Europe/Berlin',
};

export function targetOf(path: string, sheet?: string): Target {
  return createXlsxTarget(localPlace(path), { ...xlsxOptions, ...(sheet === undefined ? {} : { sheet }) });
}

/** Plays the three rounds on a copy of the file, each with a new target object, as three nights would. */
export async function syncThreeTimes(file: CorpusFile): Promise<SyncedFile> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
  try {
    const path = join(folder, `leads.${file.extension}`);
    await writeFile(path, file.content);
    const rowsBefore = await readAll(targetOf(path, file.sheet));
    const outcomes: string[][] = [];
    for (const changes of rounds) {
      const results = await targetOf(path, file.sheet).write(changes, never());
      outcomes.push(results.map((result) => (result.status === 'done' ? 'done' : result.code)));
    }
    const rowsAfter = await readAll(targetOf(path, file.sheet));
    return { rowsBefore, rowsAfter, outcomes, content: await readFile(path) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
