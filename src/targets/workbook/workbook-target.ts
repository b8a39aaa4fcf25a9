import type { Target } from '../target.ts';
import { createCsvTarget } from './csv-target.ts';
import { createXlsxTarget, type XlsxTargetOptions } from './xlsx-target.ts';

/** The target for a file, by its ending: an Excel workbook (.xlsx, .xlsm), or CSV. */
export function createWorkbookTarget(options: XlsxTargetOptions): Target {
  return /\.xls[xm]$/i.test(options.path) ? createXlsxTarget(options) : createCsvTarget(options);
}
