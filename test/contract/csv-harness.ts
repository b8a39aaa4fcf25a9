import type { FileTableOptions } from '../../src/targets/file/file-format.ts';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { createCsvTarget } from '../../src/targets/csv/csv-target.ts';
import { localPlace } from '../../src/targets/local/local-place.ts';
import type { FilePlace } from '../../src/targets/file/file-place.ts';
import { contractFields, type LocalHarness } from './target-harness.ts';

export interface CsvHarness extends LocalHarness {
  readonly folder: string;
  readonly path: string;
  /** The file's text, byte order mark included. */
  read(): string;
  bytes(): Buffer;
  write(content: string | Buffer): void;
}

export const csvOptions: Omit<FileTableOptions, 'name'> = {
  fields: contractFields,
  idColumn: 'Lead ID',
  statusColumn: 'Sync',
  timeZone: 'Europe/Berlin',
};

/** A CSV file in a folder of its own, edited by other programs than ours; `placeOf`: how leadsync reaches it. */
export async function makeCsvHarness(placeOf: (path: string) => FilePlace = localPlace): Promise<CsvHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-csv-'));
  const path = join(folder, 'leads.csv');
  const show = () =>
    existsSync(path) ? parse(readFileSync(path), { bom: true, relax_column_count: true }) : null;
  return {
    folder,
    path,
    target: (options = {}) =>
      createCsvTarget(placeOf(path), {
        fields: contractFields,
        idColumn: 'Lead ID',
        timeZone: 'Europe/Berlin',
        ...options,
      }),
    show,
    edit: (change) => writeFileSync(path, stringify(change(show() ?? []).map((row) => Array.from(row)))),
    read: () => readFileSync(path, 'utf8'),
    bytes: () => readFileSync(path),
    write: (content) => writeFileSync(path, content),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs `body` on a file of this content. */
export async function withFile(
  content: string | Buffer,
  body: (harness: CsvHarness) => Promise<void>,
): Promise<void> {
  await using harness = await makeCsvHarness();
  harness.write(content);
  await body(harness);
}
