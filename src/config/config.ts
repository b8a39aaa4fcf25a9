import type { FieldMapping } from '../core/lead/mapping.ts';
import type { ProcessSettings } from './process-schema.ts';
import type { ReminderRules } from './reminder-rules.ts';
import type { ConnectionSettings } from './schema.ts';
import type { Secret } from './secret.ts';

/** What cannot be changed any more, at any depth. */
type Frozen<T> = T extends Secret ? T : T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

type Settings = Frozen<ConnectionSettings>;
type Kind<T extends Settings['target']['type']> = Omit<
  Extract<Settings['target'], { type: T }>,
  'idColumn' | 'marker' | 'timeZone'
> & {
  /** Also the default one. For HubSpot an internal name of a property, as are the columns of the fields and `statusColumn`. */
  readonly idColumn: string;
  /** The target is not marked as ours (docs/identity.md). */
  readonly marker?: false;
};

/** IANA zone in which a date without an offset is meant. */
interface Zone {
  readonly timeZone: string;
}

/** A file; `path` is absolute. */
export type WorkbookConfig = Kind<'workbook'> & Zone;

export type TargetConfig =
  | WorkbookConfig
  | (Omit<Kind<'google-sheets'>, 'spreadsheet'> & { readonly spreadsheetId: string })
  | (Kind<'hubspot'> & Zone)
  /** `isZoneSet`: whether that zone was named for this table. */
  | (Kind<'postgres-table'> & Zone & { readonly isZoneSet: boolean });

export interface ReminderSettings {
  readonly from: string;
  readonly rules: ReminderRules;
  /** Whether each mail has a calendar entry attached. */
  readonly calendar: boolean;
  /** Address of a lead with `{id}` for its id; null: no link. */
  readonly leadUrl: string | null;
  /** Absolute path of the folder with the user's own templates, or null. */
  readonly templates: string | null;
  /** What becomes of a mail that may or may not have been delivered. */
  readonly onUnknown: 'resend' | 'hold';
}

/** A connection with all defaults filled in; what each setting means stands in the schema (and docs/settings.md). */
export interface ConnectionConfig {
  readonly name: string;
  readonly leads: Settings['leads'];
  readonly target: TargetConfig;
  readonly fields: readonly FieldMapping[];
  /** `matchBy`: mapped fields alone, the first of which names a record. */
  readonly sync: Omit<Settings['sync'], 'retention' | 'matchBy'> & { readonly matchBy: readonly string[] };
  /** How long history is kept. Decides nothing, so it is no part of `sync`. */
  readonly retentionDays: number;
  /** Absent: no reminders. */
  readonly reminders?: ReminderSettings;
}

/** Recipients of alerts. */
export interface AlertSettings {
  readonly email: readonly string[];
  /** Sender of the mails. */
  readonly from: string;
  /** Takes Slack's JSON. */
  readonly webhook?: Secret;
  /** Called after each success; may hold `{connection}`. */
  readonly heartbeat?: Secret;
  /** Absent: by each connection's schedule. */
  readonly noSuccessForMs?: number;
}

/** The whole configuration, typed and checked; made by load.ts, the only file that reads the environment. Paths are absolute. */
export interface Config extends Omit<Frozen<ProcessSettings>, 'configFile' | 'tracing'> {
  readonly connections: readonly ConnectionConfig[];
  /** The names of all, also when a command is narrowed to one of them. */
  readonly configured: readonly string[];
  /** Absent: no alerts. */
  readonly alerts?: AlertSettings;
  /** Absent: nothing of OpenTelemetry is loaded. */
  readonly tracing?: true;
}
