import type { TargetConfig } from '../config/config.ts';
import type { Secret } from '../config/secret.ts';

/** A secret, and the file in which its owner keeps it, if there is one (absolute). */
export interface SecretAnswer {
  readonly value: Secret;
  readonly file?: string;
}

/** A setting: a literal, a file of this machine by its absolute path, or a variable. */
export type SettingAnswer = string | { readonly file: string } | { readonly variable: string };

/** Where the table is. */
export interface TargetAnswer {
  readonly type: TargetConfig['type'];
  /** Its own settings in leadsync.yaml, in this order. */
  readonly settings: Readonly<Record<string, SettingAnswer>>;
  /** The content of leadsync.env, by variable: secrets become files. Paths are absolute. */
  readonly variables: ReadonlyMap<string, SecretAnswer | string>;
}

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
