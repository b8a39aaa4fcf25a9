import { basename } from 'node:path';
import type { ConnectionConfig } from './config.ts';

type TargetConfig = ConnectionConfig['target'];

/** What tells a target from any other: the path of a file, or `google-sheets:SPREADSHEET_ID/TAB`. */
export function targetName(target: TargetConfig): string {
  return target.type === 'workbook' ? target.path : `google-sheets:${target.spreadsheetId}/${target.tab}`;
}

/** What people call a target: the name of a file or of a tab. */
export function targetLabel(target: TargetConfig): string {
  return target.type === 'workbook' ? basename(target.path) : target.tab;
}
