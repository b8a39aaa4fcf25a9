import type { Direction, FieldMapping } from '../core/lead/mapping.ts';
import type { ReminderRules } from './reminder-rules.ts';
import type { Secret } from './secret.ts';

type OnDifference = 'hold' | 'leads-win' | 'target-wins';

/** A limit as `10` (rows) or `10%` (of the known pairs). */
export interface Limit {
  readonly amount: number;
  readonly percent: boolean;
}

export interface WorkbookConfig {
  readonly type: 'workbook';
  /** Absolute path, ending in .xlsx, .xlsm or .csv. */
  readonly path: string;
  /** Of an Excel workbook; absent: the first sheet that is not hidden. */
  readonly sheet?: string;
  readonly idColumn: string;
  readonly statusColumn?: string;
  /** The target is not marked as ours (docs/identity.md). */
  readonly marker?: false;
  /** IANA zone in which a date without an offset is meant. */
  readonly timeZone: string;
}

interface GoogleSheetsConfig {
  readonly type: 'google-sheets';
  readonly spreadsheetId: string;
  readonly tab: string;
  readonly idColumn: string;
  readonly statusColumn?: string;
  readonly marker?: false;
  /** How moments are written: as the spreadsheet's own dates, in its time zone, or as ISO 8601 text. */
  readonly dates: 'native' | 'iso';
  /** Requests a minute that are ours; Google allows 60 of each to one account. */
  readonly readsPerMinute: number;
  readonly writesPerMinute: number;
}

interface HubSpotConfig {
  readonly type: 'hubspot';
  readonly token: Secret;
  /** For links to companies. */
  readonly portal?: number;
  /** Internal name of a property, as are the columns of the fields and `statusColumn`. */
  readonly idColumn: string;
  readonly statusColumn?: string;
  readonly marker?: false;
  /** The portal's IANA zone. */
  readonly timeZone: string;
}

interface PostgresTableConfig {
  readonly type: 'postgres-table';
  readonly url: Secret;
  /** `table` or `schema.table`. */
  readonly table: string;
  readonly idColumn: string;
  readonly statusColumn?: string;
  readonly marker?: false;
  /** IANA zone in which a date without an offset is meant. */
  readonly timeZone: string;
  /** Whether that zone was named for this table. */
  readonly isZoneSet: boolean;
}

export interface ReminderSettings {
  readonly from: string;
  readonly rules: ReminderRules;
  /** Whether each mail has a calendar entry attached. */
  readonly calendar: boolean;
  /** Address of a lead with `{id}` for its id; null: no link. */
  readonly leadUrl: string | null;
  /** Absolute path of the folder with the user's own templates, or null. */
  readonly templates: string | null;
  /** What becomes of a mail of which nobody knows whether it was delivered. */
  readonly onUnknown: 'resend' | 'hold';
}

export interface ConnectionConfig {
  readonly name: string;
  readonly leads: {
    /** Without a trailing slash. */
    readonly baseUrl: string;
    readonly apiKey: Secret;
    readonly pageSize: number;
    /** Passed through to `GET /v1/leads`; when set, absence never means deleted. */
    readonly query: Readonly<Record<string, string>>;
  };
  readonly target: WorkbookConfig | GoogleSheetsConfig | HubSpotConfig | PostgresTableConfig;
  readonly fields: readonly FieldMapping[];
  readonly sync: {
    /** Cron pattern of five fields. */
    readonly schedule: string;
    readonly timeZone: string;
    readonly direction: Direction;
    readonly onConflict: OnDifference;
    readonly onFirstSync: OnDifference;
    readonly onLeadDeleted: 'mark' | 'keep' | 'remove';
    readonly onRowDeleted: 'restore' | 'ignore' | 'delete-lead';
    /** Whether new rows and new leads are compared, and by which mapped fields; the first names a record. */
    readonly match: 'off' | 'propose' | 'exact';
    readonly matchBy: readonly string[];
    readonly limits: { readonly maxDeletes: Limit; readonly maxChanges: Limit };
  };
  /** How long history is kept. Decides nothing, so it is no part of `sync`. */
  readonly retentionDays: number;
  /** Absent: no reminders. */
  readonly reminders?: ReminderSettings;
}

/** Who is told of problems. */
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

/** The whole configuration, typed and checked; made by load.ts, the only file that reads the environment. */
export interface Config {
  readonly connections: readonly ConnectionConfig[];
  /** The names of all, also when a command is narrowed to one of them. */
  readonly configured: readonly string[];
  /** Absent: nobody is told. */
  readonly alerts?: AlertSettings;
  /** Absolute. State, locks and outbox live here. */
  readonly dataDir: string;
  /** Unset: the embedded Postgres under dataDir. */
  readonly databaseUrl?: Secret;
  /** Connections to that Postgres at most, besides those of the jobs. */
  readonly databasePoolMax: number;
  /** Unset: the jobs are in the Postgres above. Read by redis-address.ts. */
  readonly redisUrl?: Secret;
  /** What all keys in Redis begin with. */
  readonly redisPrefix: string;
  /** Absolute path of the key file, or of a workload identity's description. */
  readonly googleCredentials?: string;
  /** Root of the Sheets API. */
  readonly googleSheetsUrl: string;
  /** Root of HubSpot's API. */
  readonly hubspotUrl: string;
  /** Unset: mails are written as .eml files under dataDir/outbox. */
  readonly smtpUrl?: Secret;
  /** At most so many mails a second, which may be less than one; unset: as many as the server takes. */
  readonly smtpRate?: number;
  readonly http: { readonly host: string; readonly port: number; readonly adminToken?: Secret };
  /** Absent: nothing of OpenTelemetry is loaded. */
  readonly tracing?: true;
  readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
}
