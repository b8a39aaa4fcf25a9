import type { Target } from '../../ports/target.ts';
import { localPlace } from '../local/local-place.ts';
import type { XlsxTargetOptions } from '../xlsx/sheet.ts';

export interface WorkbookTargetOptions extends Omit<XlsxTargetOptions, 'name'> {
  /** Absolute path of the file; a symbolic link stays one. */
  readonly path: string;
}

/** The target for a file by its ending: Excel workbook (.xlsx, .xlsm), or CSV. Loads only the one needed. */
export async function createWorkbookTarget({ path, ...options }: WorkbookTargetOptions): Promise<Target> {
  const place = localPlace(path);
  if (/\.xls[xm]$/i.test(path)) {
    const { createXlsxTarget } = await import('../xlsx/xlsx-target.ts');
    return createXlsxTarget(place, options);
  }
  const { createCsvTarget } = await import('../csv/csv-target.ts');
  return createCsvTarget(place, options);
}
