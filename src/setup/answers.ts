import type { Secret } from '../config/secret.ts';

/** A secret, and the file in which its owner keeps it, if there is one (absolute). */
export interface SecretAnswer {
  readonly value: Secret;
  readonly file?: string;
}

/** Where the table is. Paths are absolute. */
export type TargetAnswer =
  | { readonly type: 'workbook'; readonly path: string; readonly sheet?: string }
  | {
      readonly type: 'google-sheets';
      readonly spreadsheet: string;
      readonly tab: string;
      /** The key file of its account. */
      readonly credentials: string;
    }
  | { readonly type: 'hubspot'; readonly token: SecretAnswer }
  | { readonly type: 'postgres-table'; readonly url: SecretAnswer; readonly table: string };

/** A lead field, and the heading of its column. */
export type MappedField = readonly [field: string, column: string];

/** What `leadsync init` has found out: enough for leadsync.yaml. */
export interface Answers {
  /** Name of the connection. */
  readonly connection: string;
  readonly leadsUrl: string;
  readonly leadsKey: SecretAnswer;
  readonly target: TargetAnswer;
  readonly idColumn: string;
  /** In column order; at least one. */
  readonly fields: readonly MappedField[];
  /** Whether the table has rows: some may be leads that the service has too. */
  readonly hasRows: boolean;
  /** A cron pattern. */
  readonly schedule: string;
  /** IANA. */
  readonly timeZone: string;
  /** Empty: no reminders. */
  readonly recipients: readonly string[];
  /** Of the reminders; null: none needed. */
  readonly sender: string | null;
  /** Null: mails become files. */
  readonly smtpUrl: SecretAnswer | null;
}
