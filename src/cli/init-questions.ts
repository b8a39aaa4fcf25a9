import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { z } from 'zod';
import {
  drivePathMistake,
  isSharingLink,
  isWebAddress,
  leadsUrl,
  postgresUrl,
  secretUrl,
} from '../config/addresses.ts';
import { readFault } from '../config/environment.ts';
import { processSchema } from '../config/process-schema.ts';
import { Secret } from '../config/secret.ts';
import { davUser, driveId, linePassword, spreadsheet, tablePath } from '../config/target-schema.ts';
import { filled, secretToken, text } from '../config/values.ts';
import { LeadsyncError } from '../errors.ts';
import type { SecretAnswer } from '../setup/answers.ts';
import { typedPath } from '../setup/typed-path.ts';

interface Question {
  readonly message: string;
  /** The option of `leadsync init` that answers it, as commander names it. */
  readonly option: string;
  /** What may be answered; null: an option or a variable answers it, or a choice. */
  readonly rule: z.ZodType | null;
  readonly example?: string;
  readonly proposal?: string;
  /** A secret is typed unseen; a key file is a secret that stays in its file; a path becomes absolute. */
  readonly type?: 'secret' | 'key-file' | 'path';
}

const { tenant, clientId, certificate } = processSchema.shape.msgraph.shape;

/** The path of a table on this machine, as people type it. */
const localTable = text((written) => {
  const path = typedPath(written);
  return isWebAddress(path)
    ? 'must be a file on this machine; a file on a server is another kind of place'
    : mistakeIn(tablePath, path);
});

const driveOrLink = text((written) => {
  if (!isWebAddress(written)) return mistakeIn(driveId, written);
  if (isSharingLink(written)) return null;
  return mistakeIn(tablePath, written) ?? 'must be a sharing link of SharePoint, or the id of a library: b!…';
});

const davFile = text((written) =>
  isWebAddress(written) && !isSharingLink(written)
    ? mistakeIn(tablePath, written)
    : 'must be the WebDAV address of the file, such as https://cloud.example.com/…/leads.xlsx',
);

const orNothing = (rule: z.ZodType) => text((written) => (written === '' ? null : mistakeIn(rule, written)));

const onlineFile = text((path) => mistakeIn(tablePath, path) ?? drivePathMistake(path));

/**
 * Everything that opens the service, the place and the mail server. A name in capitals is the variable that answers it, and
 * under which it is kept in leadsync.env.
 */
const table = {
  LEADS_BASE_URL: {
    message: 'Address of the Leads service',
    option: 'leadsUrl',
    rule: leadsUrl,
    example: 'https://api.example.com',
  },
  LEADS_API_KEY: {
    message: 'Key of the Leads service (Settings, API keys)',
    option: 'leadsKeyFile',
    rule: secretToken('the key of the Leads service'),
    type: 'secret',
  },
  path: {
    message: 'Path of the file: .xlsx, .xlsm, .csv, .tsv or .txt (or a new one)',
    option: 'target',
    rule: localTable,
    proposal: './leads.xlsx',
  },
  sheet: { message: 'Which sheet?', option: 'sheet', rule: null },
  address: {
    message: 'WebDAV address of the file',
    option: 'target',
    rule: davFile,
    example: 'https://cloud.example.com/remote.php/dav/files/anna/leads.xlsx',
  },
  WEBDAV_USER: {
    message: 'User name there (empty: none, or a token)',
    option: 'webdavUser',
    rule: orNothing(davUser),
  },
  WEBDAV_PASSWORD: {
    message: 'Password, or app password, of that user',
    option: 'webdavPasswordFile',
    rule: linePassword,
    type: 'secret',
  },
  WEBDAV_TOKEN: {
    message: 'Bearer token (empty: the server wants no login)',
    option: 'webdavTokenFile',
    rule: orNothing(secretToken('a bearer token')),
    type: 'secret',
  },
  MSGRAPH_TENANT: { message: 'Directory (tenant) ID', option: 'msgraphTenant', rule: tenant },
  MSGRAPH_CLIENT_ID: {
    message: 'Application (client) ID of the app',
    option: 'msgraphClientId',
    rule: clientId,
  },
  MSGRAPH_CLIENT_SECRET: {
    message: "Value of the app's client secret",
    option: 'msgraphClientSecretFile',
    rule: secretToken('the value of a client secret'),
    type: 'secret',
  },
  MSGRAPH_CERTIFICATE: {
    message: 'PEM file with the private key and the certificate',
    option: 'msgraphCertificateFile',
    rule: certificate,
    type: 'key-file',
  },
  MSGRAPH_DRIVE: {
    message: 'Id of the library (b!…), or a sharing link',
    option: 'msgraphDrive',
    rule: driveOrLink,
  },
  item: {
    message: 'Path of the file in the library (or of a new one)',
    option: 'target',
    rule: onlineFile,
    example: 'Sales/leads.xlsx',
  },
  GOOGLE_APPLICATION_CREDENTIALS: {
    message: 'Key file of the service account',
    option: 'googleKeyFile',
    rule: filled('must be the path of a file'),
    type: 'path',
  },
  spreadsheet: {
    message: 'Address of the spreadsheet, as the browser shows it',
    option: 'target',
    rule: spreadsheet,
    example: 'https://docs.google.com/spreadsheets/d/…',
  },
  tab: {
    message: 'Name of the new tab',
    option: 'target',
    rule: filled('must be the name of a tab'),
    proposal: 'Leads',
  },
  HUBSPOT_TOKEN: {
    message: 'Access token of HubSpot',
    option: 'hubspotTokenFile',
    rule: secretToken('the access token of HubSpot'),
    type: 'secret',
  },
  POSTGRES_TABLE_URL: {
    message: 'Database, postgres://user:password@host:5432/database',
    option: 'postgresUrlFile',
    rule: postgresUrl,
    type: 'secret',
  },
  table: {
    message: 'Name of the new table: TABLE or SCHEMA.TABLE',
    option: 'target',
    rule: filled('must be the name of a table'),
    proposal: 'leads',
  },
  SMTP_URL: {
    message: 'Mail server',
    option: 'smtpUrlFile',
    rule: secretUrl(['smtp:', 'smtps:'], 'smtp://user:password@host:587'),
    type: 'secret',
  },
} as const satisfies Readonly<Record<string, Question>>;

export type QuestionName = keyof typeof table;

type AnswerOption = (typeof table)[QuestionName]['option'];

export type AnswerOptions = { readonly [Option in AnswerOption]?: string };

export const questions: Readonly<Record<QuestionName, Question & { readonly option: AnswerOption }>> = table;

/** In the order in which they are asked. */
export const questionNames = Object.keys(table) as QuestionName[];

/** Whether the variable of this name answers it. */
export const hasVariable = (name: QuestionName): boolean => name === name.toUpperCase();

export const isSecret = ({ type }: Question): boolean => type === 'secret' || type === 'key-file';

/** Its option as people write it: `--leads-key-file`. */
export const flagOf = ({ option }: Question): string =>
  `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** For the list of what is missing: its option, its variable, and what it is. */
export function lineOf(name: QuestionName): string {
  const question = questions[name];
  const [takes, more] = isSecret(question) ? ['FILE', `, ${name}_FILE`] : ['…', ''];
  const variable = hasVariable(name) ? ` (or ${name}${more})` : '';
  return `${flagOf(question)} ${takes}${variable}: ${question.message}`;
}

/** What is wrong with an answer by the rules of a setting; null: nothing. */
export function mistakeIn(schema: z.ZodType, answer: unknown): string | null {
  return schema.safeParse(answer).error?.issues[0]?.message ?? null;
}

/** An answer as it is kept: without blanks, an address in its one spelling, a path absolute. Throws `usage.init-answer`. */
export function accepted(name: QuestionName, written: string): string {
  const question = questions[name];
  const { data = written, error } = question.rule?.safeParse(written.trim()) ?? { data: written };
  if (error !== undefined) throw wrongAnswer(flagOf(question), error.issues[0]?.message ?? 'is wrong');
  const isPath = name === 'path' || question.type === 'path';
  return isPath ? resolve(typedPath(String(data))) : String(data);
}

/** A secret from the file that keeps it; or what is wrong with that file. */
export function secretInFile(name: QuestionName, written: string): SecretAnswer | string {
  const file = resolve(typedPath(written));
  let content: string;
  try {
    content = readFileSync(file, 'utf8').trim();
  } catch (error) {
    return `must name a file that can be read; ${readFault(error)}: ${written}`;
  }
  const { rule } = questions[name];
  const mistake = rule && mistakeIn(rule, content);
  return mistake === null
    ? { value: new Secret(content), file }
    : `must name a file whose content ${mistake}: ${written}`;
}

export function wrongAnswer(flag: string, mistake: string): LeadsyncError {
  return new LeadsyncError('usage.init-answer', `${flag} ${mistake}; nothing was written`);
}
