import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A workbook with everything that the library excelts 10.2.0 can write; it was kept, since the library takes 50 MB. The leads have
 * an autofilter, and the table is on another sheet; or they are a table, which owns the filter, also with the epoch 1904.
 */
export function writtenByExcelts(name: 'autofilter' | 'table' | 'table-1904'): Buffer {
  return readFileSync(join(import.meta.dirname, `excelts/${name}.xlsx`));
}
