import type { Target } from '../../ports/target.ts';
import type { XlsxTargetOptions } from '../xlsx/sheet.ts';

/** The target for a file by its ending: Excel workbook (.xlsx, .xlsm), or CSV. Loads only the one needed. */
export async function createWorkbookTarget(options: XlsxTargetOptions): Promise<Target> {
  if (/\.xls[xm]$/i.test(options.path)) {
    const { createXlsxTarget } = await import('../xlsx/xlsx-target.ts');
    return createXlsxTarget(options);
  }
  const { createCsvTarget } = await import('../csv/csv-target.ts');
  return createCsvTarget(options);
}
