import type { ConnectionConfig } from './config.ts';

type TargetConfig = ConnectionConfig['target'];

/** What tells a target from any other: the path of a file, or `google-sheets:SPREADSHEET_ID/TAB`. */
export function targetName(target: TargetConfig): string {
  return target.type === 'workbook' ? target.path : `google-sheets:${target.spreadsheetId}/${target.tab}`;
}
