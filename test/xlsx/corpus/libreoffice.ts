import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LibreOffice } from '../judge/libreoffice.ts';

/** The workbook that LibreOffice makes of `leads.fods`, a text file beside this one, written by hand. */
export async function writeWithLibreOffice(): Promise<Buffer> {
  await using office = await LibreOffice.start();
  const folder = await office.convert([fileURLToPath(new URL('leads.fods', import.meta.url))], 'xlsx');
  return await readFile(join(folder, 'leads.xlsx'));
}

/** A workbook of another writer, opened and saved by LibreOffice, as happens in mixed offices. */
export async function savedByLibreOffice(workbook: Buffer): Promise<Buffer> {
  await using office = await LibreOffice.start();
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-xlsx-'));
  try {
    await writeFile(join(folder, 'foreign.xlsx'), workbook);
    return await readFile(join(await office.convert([join(folder, 'foreign.xlsx')], 'xlsx'), 'foreign.xlsx'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
