import { LeadsyncError } from '../../errors.ts';
import { incompleteFile } from '../file/file-fault.ts';

/** Makes the error for what is wrong with a workbook: a sentence that goes on after the file's name, and what helps. */
export interface XlsxFault {
  (what: string, help?: string, cause?: unknown): LeadsyncError;
  /** For a file whose end is missing: it may come. */
  incomplete(what: string): LeadsyncError;
}

const saveAgain =
  'Open it in Excel or LibreOffice and save it as "Excel workbook (.xlsx)"; or take back an older version.';

/** Faults of one workbook: `target.unreadable`, never repeated without a change by a person, and `target.incomplete`. */
export function xlsxFaults(name: string): XlsxFault {
  const fault = (what: string, help = saveAgain, cause?: unknown) =>
    new LeadsyncError('target.unreadable', `${name} ${what}. Nothing was written.`, { help, cause });
  return Object.assign(fault, { incomplete: (what: string) => incompleteFile(`${name} ${what}`) });
}
