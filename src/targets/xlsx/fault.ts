import { LeadsyncError } from '../../lib/errors.ts';
import { incompleteFile } from '../file/file-fault.ts';

/** Makes errors for a workbook: `what` continues the file's name. */
export interface XlsxFault {
  (what: string, help?: string, cause?: unknown): LeadsyncError;
  /** For a truncated file: the rest may still come. */
  incomplete(what: string): LeadsyncError;
}

const saveAgain =
  'Open it in Excel or LibreOffice and save it as "Excel workbook (.xlsx)", or restore an older version.';

/** Faults of one workbook: `target.unreadable`, which needs a person's change, and `target.incomplete`. */
export function xlsxFaults(name: string): XlsxFault {
  const fault = (what: string, help = saveAgain, cause?: unknown) =>
    new LeadsyncError('target.unreadable', `${name} ${what}. Nothing was written.`, { help, cause });
  return Object.assign(fault, { incomplete: (what: string) => incompleteFile(`${name} ${what}`) });
}
