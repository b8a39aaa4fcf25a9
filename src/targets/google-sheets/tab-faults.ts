import { LeadsyncError } from '../../errors.ts';

/** Google's limit for a spreadsheet, empty cells included. */
const mostCells = 10_000_000;

/** `target.full` when a spreadsheet with so many cells has no room for more; else null. */
export function fullFault(
  name: string,
  cells: number,
  newRows: number,
  columns: number,
): LeadsyncError | null {
  if (newRows === 0 || cells + newRows * columns <= mostCells) return null;
  return new LeadsyncError(
    'target.full',
    `${name} has no room for ${newRows} more rows: a spreadsheet holds ${mostCells} cells, empty ones included.`,
    {
      help: 'Delete empty rows and columns, in the other tabs too, or move old rows to another spreadsheet.',
    },
  );
}

export function trashedFault(name: string): LeadsyncError {
  return new LeadsyncError('target.trashed', `${name} lies in the trash. Nothing was read or written.`, {
    help: 'Take it out of the trash in Google Drive, or set the id of another spreadsheet.',
  });
}

/** `original`: the spreadsheet that the records of the tab name. */
export function copiedFault(name: string, original: string): LeadsyncError {
  return new LeadsyncError(
    'target.copied',
    `${name} is a copy of a spreadsheet that leadsync keeps (${original}). Nothing was read or written.`,
    { help: 'If the copy is to be kept from now on: leadsync check --fix. Else set the id of the original.' },
  );
}

export function renamedFault(name: string, tab: string, title: string): LeadsyncError {
  const now = JSON.stringify(title);
  return new LeadsyncError(
    'target.tab-renamed',
    `${name} has no tab ${JSON.stringify(tab)} any more; what was in it is in the tab ${now}. Nothing was read or written.`,
    { help: `Rename it back, or set ${now} as the tab in the configuration.` },
  );
}
