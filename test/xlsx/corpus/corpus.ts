import { isInstalled } from '../../support/programs.ts';
import type { CorpusFile } from './content.ts';
import { writtenByExcelts } from './excelts.ts';
import { savedByLibreOffice, writeWithLibreOffice } from './libreoffice.ts';
import { oddFiles } from './odd.ts';
import { writeWithWriteExcelFile } from './write-excel-file.ts';

/** All workbooks that must survive: by independent writers, and by hand. */
export async function corpus(): Promise<CorpusFile[]> {
  const full = (name: string, content: Buffer): CorpusFile => ({
    name,
    extension: 'xlsx',
    content,
    full: true,
  });
  const byLibreOffice = async (name: string, make: () => Promise<Buffer>): Promise<CorpusFile> => ({
    ...full(name, isInstalled('soffice') ? await make() : Buffer.alloc(0)),
    by: 'soffice',
  });
  const excelts = writtenByExcelts('autofilter');
  return [
    full('excelts, autofilter', excelts),
    full('excelts, table, epoch 1904', writtenByExcelts('table-1904')),
    full('write-excel-file', await writeWithWriteExcelFile()),
    await byLibreOffice('LibreOffice', writeWithLibreOffice),
    await byLibreOffice('excelts, saved by LibreOffice', () => savedByLibreOffice(excelts)),
    ...oddFiles(),
  ];
}
