import { soffice } from '../judge/libreoffice.ts';
import type { CorpusFile } from './content.ts';
import { writtenByExcelts } from './excelts.ts';
import { savedByLibreOffice, writeWithLibreOffice } from './libreoffice.ts';
import { oddFiles } from './odd.ts';
import { writeWithWriteExcelFile } from './write-excel-file.ts';

/** All workbooks that must survive: by independent writers, and by hand. Without LibreOffice, without its file. */
export async function corpus(): Promise<CorpusFile[]> {
  const full = (name: string, content: Buffer): CorpusFile => ({
    name,
    extension: 'xlsx',
    content,
    full: true,
  });
  const excelts = writtenByExcelts('autofilter');
  return [
    full('excelts, autofilter', excelts),
    full('excelts, table, epoch 1904', writtenByExcelts('table-1904')),
    full('write-excel-file', await writeWithWriteExcelFile()),
    ...(soffice === null
      ? []
      : [
          full('LibreOffice', await writeWithLibreOffice()),
          full('excelts, saved by LibreOffice', await savedByLibreOffice(excelts)),
        ]),
    ...oddFiles(),
  ];
}
