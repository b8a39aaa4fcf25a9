import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import { leadsUrl, postgresUrl, secretUrl } from '../config/addresses.ts';
import { ConfigError, type Mistake } from '../config/config-error.ts';
import { type Environment, readFault, targetOf } from '../config/environment.ts';
import { environmentOfProcess } from '../config/load.ts';
import { connectionNamePattern } from '../config/schema.ts';
import { Secret } from '../config/secret.ts';
import { spreadsheet, tablePath } from '../config/target-schema.ts';
import { recipients, schedule, secretToken, sender, timeZone } from '../config/values.ts';
import { LeadsyncError } from '../errors.ts';
import type { SecretAnswer } from '../setup/answers.ts';
import { cronOf } from '../setup/schedule-words.ts';
import { answersMissing } from './init-dialogue.ts';

/** The options of `leadsync init`, as commander parses them. */
export interface InitOptions {
  readonly leadsUrl?: string;
  readonly leadsKeyFile?: string;
  readonly target?: string;
  readonly sheet?: string;
  readonly googleKeyFile?: string;
  readonly hubspotTokenFile?: string;
  readonly postgresUrlFile?: string;
  readonly idColumn?: string;
  readonly map?: readonly string[];
  readonly schedule?: string;
  readonly timeZone?: string;
  readonly remind?: string;
  readonly sender?: string;
  readonly smtpUrlFile?: string;
  readonly name?: string;
  readonly out?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** The place of `--target`, without its secrets. Paths are absolute. */
export type GivenTarget =
  | { readonly type: 'workbook'; readonly path: string }
  | { readonly type: 'google-sheets'; readonly spreadsheet: string; readonly tab?: string }
  | { readonly type: 'hubspot' }
  | { readonly type: 'postgres-table'; readonly table: string };

/** What the options and the environment answer, checked. */
export interface Given {
  readonly leadsUrl?: string | undefined;
  readonly leadsKey?: SecretAnswer | undefined;
  readonly target?: GivenTarget | undefined;
  readonly sheet?: string | undefined;
  readonly credentials?: string | undefined;
  readonly hubspotToken?: SecretAnswer | undefined;
  readonly postgresUrl?: SecretAnswer | undefined;
  readonly idColumn?: string | undefined;
  /** Column by field; an empty one leaves the field out. */
  readonly map: ReadonlyMap<string, string>;
  readonly schedule?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly recipients?: readonly string[] | undefined;
  readonly sender?: string | undefined;
  readonly smtpUrl?: SecretAnswer | undefined;
  readonly name: string;
  /** Proposals are taken unasked. */
  readonly isYes: boolean;
  /** Roots of APIs, without a slash at the end. */
  readonly googleSheetsUrl: string;
  readonly hubspotUrl: string;
}

const smtpAddress = secretUrl(['smtp:', 'smtps:'], 'smtp://user:password@host:587');
export const leadsToken = secretToken('the key of the Leads service');
export const hubspotToken = secretToken('the access token of HubSpot');

/** What is wrong with an answer by the rules of a setting; null: nothing. */
export function mistakeIn(schema: z.ZodType, answer: unknown): string | null {
  return schema.safeParse(answer).error?.issues[0]?.message ?? null;
}

/** What is wrong with the path of a table on this machine; null: nothing. */
export function localMistake(path: string): string | null {
  return /^https?:/i.test(path)
    ? 'must be a file on this machine; an address goes into leadsync.yaml afterwards (target.path)'
    : mistakeIn(tablePath, path);
}

/** Addresses with commas between them. */
export const listed = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/**
 * What is answered before anything is asked: options go before variables of the environment. Throws `usage.init-answer` for
 * a wrong one, and ConfigError for variables that cannot be read.
 */
export function readGiven(options: InitOptions): Given {
  const mistakes: Mistake[] = [];
  const environment = environmentOfProcess(mistakes);
  const plain = (name: string): string | undefined => {
    const found = environment.lookup(name);
    return typeof found === 'object' ? found.value : undefined;
  };
  const secret = (flag: string, file: string | undefined, name: string, rule: z.ZodType) =>
    file === undefined ? secretOf(environment, name) : fileSecret(flag, file, rule);
  const target = options.target ?? plain('TARGET');
  const remind = options.remind ?? plain('REMINDER_TO');
  const cron = options.schedule ?? plain('SCHEDULE');
  const credentials = options.googleKeyFile ?? plain('GOOGLE_APPLICATION_CREDENTIALS');
  const given: Given = {
    leadsUrl: checked('--leads-url', leadsUrl, options.leadsUrl ?? plain('LEADS_BASE_URL')),
    leadsKey: secret('--leads-key-file', options.leadsKeyFile, 'LEADS_API_KEY', leadsToken),
    target: target === undefined ? undefined : readTarget(target),
    sheet: options.sheet,
    credentials: credentials === undefined ? undefined : resolve(credentials),
    hubspotToken: secret('--hubspot-token-file', options.hubspotTokenFile, 'HUBSPOT_TOKEN', hubspotToken),
    postgresUrl: secret('--postgres-url-file', options.postgresUrlFile, 'POSTGRES_TABLE_URL', postgresUrl),
    idColumn: options.idColumn,
    map: new Map((options.map ?? []).map(readMapped)),
    schedule: checked('--schedule', schedule, cron === undefined ? undefined : cronOf(cron)),
    timeZone: checked('--time-zone', timeZone, options.timeZone ?? plain('TZ_NAME')),
    recipients: remind === undefined ? undefined : readRecipients(remind),
    sender: checked('--sender', sender, options.sender ?? plain('REMINDER_FROM')),
    smtpUrl: secret('--smtp-url-file', options.smtpUrlFile, 'SMTP_URL', smtpAddress),
    name: options.name ?? 'default',
    isYes: options.yes === true,
    googleSheetsUrl: plain('GOOGLE_SHEETS_URL') ?? 'https://sheets.googleapis.com',
    hubspotUrl: plain('HUBSPOT_URL') ?? 'https://api.hubapi.com',
  };
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  if (!connectionNamePattern.test(given.name))
    throw wrong('--name', 'must be a name of 1 to 64 letters, digits, "_" and "-"');
  return given;
}

/** Throws `usage.init-missing` with all answers that nobody could be asked for. */
export function refuseMissing(given: Given): void {
  const { target, isYes } = given;
  const needed: readonly (readonly [missing: boolean, line: string])[] = [
    [given.leadsUrl === undefined, '--leads-url URL: the address of the Leads service (or LEADS_BASE_URL)'],
    [
      given.leadsKey === undefined,
      '--leads-key-file FILE: a file with its key (or LEADS_API_KEY, LEADS_API_KEY_FILE)',
    ],
    [
      target === undefined,
      '--target PLACE: ./leads.xlsx, ./leads.csv, google-sheets:SPREADSHEET_ID/TAB, hubspot or postgres-table:TABLE (or TARGET)',
    ],
    [
      target?.type === 'google-sheets' && given.credentials === undefined,
      '--google-key-file FILE: the key of a service account (or GOOGLE_APPLICATION_CREDENTIALS)',
    ],
    [
      target?.type === 'hubspot' && given.hubspotToken === undefined,
      '--hubspot-token-file FILE: a file with the access token (or HUBSPOT_TOKEN, HUBSPOT_TOKEN_FILE)',
    ],
    [
      target?.type === 'postgres-table' && given.postgresUrl === undefined,
      '--postgres-url-file FILE: a file with postgres://user:password@host/database (or POSTGRES_TABLE_URL, …_FILE)',
    ],
    [!isYes && given.schedule === undefined, '--schedule WHEN: proposed: nightly'],
    [!isYes && given.timeZone === undefined, `--time-zone ZONE: proposed: ${machineZone()}`],
    [!isYes && given.recipients === undefined, '--remind ADDRESS,…: proposed: none (--remind none)'],
  ];
  const missing = needed.flatMap(([isMissing, line]) => (isMissing ? [line] : []));
  if (missing.length > 0) throw answersMissing(missing);
}

/** The time zone of this machine, by its IANA name. */
export const machineZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

function checked(flag: string, rule: z.ZodType<string>, answer: string | undefined): string | undefined {
  if (answer === undefined) return undefined;
  const { data, error } = rule.safeParse(answer);
  if (data === undefined) throw wrong(flag, error?.issues[0]?.message ?? 'is wrong');
  return data;
}

function secretOf(environment: Environment, name: string): SecretAnswer | undefined {
  const found = environment.lookup(name);
  if (typeof found !== 'object') return undefined;
  const file = environment.plain(`${name}_FILE`);
  return { value: new Secret(found.value), ...(file !== undefined && { file: resolve(file) }) };
}

function fileSecret(flag: string, file: string, rule: z.ZodType): SecretAnswer {
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw wrong(flag, `must name a file that can be read; ${readFault(error)}: ${file}`);
  }
  const mistake = mistakeIn(rule, content);
  if (mistake !== null) throw wrong(flag, `must name a file whose content ${mistake}: ${file}`);
  return { value: new Secret(content), file: resolve(file) };
}

/** A place as TARGET names it, or the address of a Google spreadsheet. */
function readTarget(written: string): GivenTarget {
  const isAddress = written.startsWith('https://docs.google.com/');
  const raw = isAddress ? { type: 'google-sheets', spreadsheet: written } : targetOf({ path: written });
  const mistake =
    raw['type'] === 'workbook'
      ? localMistake(written)
      : raw['type'] === 'google-sheets'
        ? mistakeIn(spreadsheet, raw['spreadsheet'])
        : null;
  if (mistake !== null) throw wrong('--target', mistake);
  if (raw['type'] === 'workbook') return { type: 'workbook', path: resolve(written) };
  if (raw['type'] !== 'google-sheets') return raw as unknown as GivenTarget;
  return { ...raw, spreadsheet: spreadsheet.parse(raw['spreadsheet']) } as GivenTarget;
}

function readMapped(written: string): [string, string] {
  const [field = '', column] = written.split(/=(.*)/s);
  if (field.trim() === '' || column === undefined)
    throw wrong('--map', 'takes FIELD=HEADING, such as companyName=Firma, or FIELD= to leave the field out');
  return [field.trim(), column.trim()];
}

function readRecipients(written: string): readonly string[] {
  const addresses = written.trim().toLowerCase() === 'none' ? [] : listed(written);
  const mistake = addresses.length === 0 ? null : mistakeIn(recipients, addresses);
  if (mistake !== null) throw wrong('--remind', mistake);
  return addresses;
}

function wrong(flag: string, mistake: string): LeadsyncError {
  return new LeadsyncError('usage.init-answer', `${flag} ${mistake}; nothing was written`);
}
