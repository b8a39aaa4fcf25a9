import { alertSettings } from './alert-settings.ts';
import { connectionSettings } from './connection-settings.ts';
import { processVariables } from './process-variables.ts';
import { reminderSettings } from './reminder-settings.ts';

type TargetType = 'workbook' | 'google-sheets' | 'hubspot' | 'postgres-table';

/** One setting: what docs/settings.md lists, the editor's schema explains, and the loader knows a key by. */
export interface Setting {
  /** Environment variable. Secrets are also taken from the file that `<variable>_FILE` names. */
  readonly variable?: string;
  /** Place in leadsync.yaml; a segment in capitals stands for any name. */
  readonly path?: string;
  /** As one would write it. Absent: required, or nothing happens without it (the meaning says which). */
  readonly default?: string;
  readonly meaning: string;
  readonly secret?: true;
  /** The kinds of target that alone have it. */
  readonly only?: readonly TargetType[];
}

/** Every setting, once. Process-wide ones have no path; those without a variable exist in the file only. */
export const settings = [
  ...connectionSettings,
  ...reminderSettings,
  ...alertSettings,
  ...processVariables,
] as const;

/** The environment variables that leadsync itself reads. */
export type Variable = Extract<(typeof settings)[number], { variable: string }>['variable'];
