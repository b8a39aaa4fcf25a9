import type { TargetConfig } from './config.ts';

/**
 * What tells a target from any other: the path of a file, `google-sheets:SPREADSHEET_ID/TAB`, `hubspot:companies` (a key
 * does not tell its portal), `postgres-table:HOST/DATABASE/TABLE`.
 */
export function targetName(target: TargetConfig): string {
  switch (target.type) {
    case 'workbook':
      return target.path;
    case 'google-sheets':
      return `google-sheets:${target.spreadsheetId}/${target.tab}`;
    case 'hubspot':
      return 'hubspot:companies';
    case 'postgres-table':
      return `postgres-table:${tablePlace(target.url.reveal(), target.table)}`;
    default:
      return target satisfies never;
  }
}

/** Server, database and table without user and password; `leads` is `public.leads`. */
export function tablePlace(url: string, table: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname.toLowerCase()}:${port || '5432'}${pathname}/${table.includes('.') ? table : `public.${table}`}`;
}
