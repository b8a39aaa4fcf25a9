import { resolve } from 'node:path';
import type { z } from 'zod';
import { isSharingLink, isWebAddress } from '../config/addresses.ts';
import { ConfigError, type Mistake } from '../config/config-error.ts';
import { type Environment, targetOf } from '../config/environment.ts';
import { environmentOfProcess } from '../config/load.ts';
import { processSchema } from '../config/process-schema.ts';
import { connectionNamePattern } from '../config/schema.ts';
import { Secret } from '../config/secret.ts';
import { recipients, schedule, sender, timeZone } from '../config/values.ts';
import { cronOf } from '../setup/schedule-words.ts';
import type { Answer } from './init-interview.ts';
import {
  accepted,
  type AnswerOptions,
  flagOf,
  hasVariable,
  isSecret,
  mistakeIn,
  type QuestionName,
  questionNames,
  questions,
  secretInFile,
  wrongAnswer,
} from './init-questions.ts';

/** The options of `leadsync init`, as commander parses them. */
export interface InitOptions extends AnswerOptions {
  readonly idColumn?: string;
  readonly map?: readonly string[];
  readonly schedule?: string;
  readonly timeZone?: string;
  readonly remind?: string;
  readonly sender?: string;
  readonly name?: string;
  readonly out?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** Where a table may be. */
export type PlaceKind = 'file' | 'webdav' | 'msgraph' | 'google-sheets' | 'hubspot' | 'postgres-table';

/** Roots of APIs, without a slash at the end; one that the environment sets is kept in leadsync.env. */
const roots = {
  GOOGLE_SHEETS_URL: processSchema.shape.googleSheetsUrl,
  HUBSPOT_URL: processSchema.shape.hubspotUrl,
  MSGRAPH_URL: processSchema.shape.msgraph.shape.url,
  MSGRAPH_LOGIN_URL: processSchema.shape.msgraph.shape.loginUrl,
} as const;

export type Roots = Readonly<Record<keyof typeof roots, string>>;

/** What the options and the environment answer, checked. */
export interface Given {
  readonly answers: ReadonlyMap<QuestionName, Answer>;
  /** Undefined: asked for. */
  readonly kind: PlaceKind | undefined;
  readonly roots: Roots;
  /** Those that the environment sets. */
  readonly ownRoots: ReadonlyMap<string, string>;
  readonly idColumn: string | undefined;
  /** Column by field; an empty one leaves the field out. */
  readonly map: ReadonlyMap<string, string>;
  readonly schedule: string | undefined;
  readonly timeZone: string | undefined;
  readonly recipients: readonly string[] | undefined;
  readonly sender: string | undefined;
  readonly name: string;
  /** Proposals are accepted without a question. */
  readonly isYes: boolean;
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
  const answers = new Map<QuestionName, Answer>();
  for (const name of questionNames) {
    const given = questions[name].option === 'target' ? undefined : readAnswer(name, options, environment);
    if (given !== undefined) answers.set(name, given);
  }
  const target = options.target ?? plain('TARGET');
  const place = target === undefined ? undefined : readTarget(target, answers.has('MSGRAPH_DRIVE'));
  for (const [name, written] of place?.where ?? []) answers.set(name, accepted(name, written));
  const remind = options.remind ?? plain('REMINDER_TO');
  const cron = options.schedule ?? plain('SCHEDULE');
  const ownRoots = new Map(
    Object.entries(roots).flatMap(([name, rule]) => {
      const root = checked(name, rule, plain(name));
      return root === undefined ? [] : [[name, root] as const];
    }),
  );
  const given: Given = {
    answers,
    kind: place?.kind ?? (answers.has('MSGRAPH_DRIVE') ? 'msgraph' : undefined),
    roots: Object.fromEntries(
      Object.entries(roots).map(([name, rule]) => [name, rule.parse(ownRoots.get(name))]),
    ) as Roots,
    ownRoots,
    idColumn: options.idColumn,
    map: new Map((options.map ?? []).map(readMapped)),
    schedule: checked('--schedule', schedule, cron === undefined ? undefined : cronOf(cron)),
    timeZone: checked('--time-zone', timeZone, options.timeZone ?? plain('TZ_NAME')),
    recipients: remind === undefined ? undefined : readRecipients(remind),
    sender: checked('--sender', sender, options.sender ?? plain('REMINDER_FROM')),
    name: options.name ?? 'default',
    isYes: options.yes === true,
  };
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  if (!connectionNamePattern.test(given.name))
    throw wrongAnswer('--name', 'must be a name of 1 to 64 letters from a to z, digits, "_" and "-"');
  for (const [one, other] of alternatives)
    if (answers.has(one) && answers.has(other))
      throw wrongAnswer(
        flagOf(questions[one]),
        `(${one}) must be left out beside ${flagOf(questions[other])} (${other}): one of them logs in`,
      );
  return given;
}

/** Two ways to log in. */
const alternatives = [
  ['WEBDAV_TOKEN', 'WEBDAV_USER'],
  ['MSGRAPH_CERTIFICATE', 'MSGRAPH_CLIENT_SECRET'],
] as const;

/** The time zone of this machine, by its IANA name. */
export const machineZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

function readAnswer(name: QuestionName, options: InitOptions, environment: Environment): Answer | undefined {
  const question = questions[name];
  const option = options[question.option];
  if (option !== undefined && isSecret(question)) {
    const read = secretInFile(name, option);
    if (typeof read === 'string') throw wrongAnswer(flagOf(question), read);
    return read;
  }
  if (option !== undefined) return accepted(name, option);
  const found = hasVariable(name) ? environment.lookup(name) : undefined;
  if (typeof found !== 'object') return undefined;
  if (!isSecret(question)) return accepted(name, found.value);
  const file = environment.plain(`${name}_FILE`);
  return { value: new Secret(found.value), ...(file !== undefined && { file: resolve(file) }) };
}

interface GivenPlace {
  readonly kind: PlaceKind;
  readonly where: readonly (readonly [QuestionName, string])[];
}

/** A place as TARGET names it, or the address of a Google spreadsheet. */
function readTarget(written: string, hasDrive: boolean): GivenPlace {
  if (written.startsWith('https://docs.google.com/'))
    return { kind: 'google-sheets', where: [['spreadsheet', written]] };
  const named = targetOf({ path: written });
  const where = (['spreadsheet', 'tab', 'table'] as const).flatMap((name) =>
    typeof named[name] === 'string' ? [[name, named[name]] as const] : [],
  );
  switch (named['type']) {
    case 'google-sheets':
    case 'hubspot':
    case 'postgres-table':
      return { kind: named['type'], where };
    default:
      if (isSharingLink(written)) return { kind: 'msgraph', where: [['MSGRAPH_DRIVE', written]] };
      if (isWebAddress(written)) return { kind: 'webdav', where: [['address', written]] };
      return hasDrive
        ? { kind: 'msgraph', where: [['item', written]] }
        : { kind: 'file', where: [['path', written]] };
  }
}

function checked(flag: string, rule: z.ZodType<string>, answer: string | undefined): string | undefined {
  if (answer === undefined) return undefined;
  const { data, error } = rule.safeParse(answer);
  if (data === undefined) throw wrongAnswer(flag, error?.issues[0]?.message ?? 'is wrong');
  return data;
}

function readMapped(written: string): [string, string] {
  const [field = '', column] = written.split(/=(.*)/s);
  if (field.trim() === '' || column === undefined)
    throw wrongAnswer(
      '--map',
      'takes FIELD=HEADING, such as companyName=Firma, or FIELD= to leave the field out',
    );
  return [field.trim(), column.trim()];
}

function readRecipients(written: string): readonly string[] {
  const addresses = written.trim().toLowerCase() === 'none' ? [] : listed(written);
  const mistake = addresses.length === 0 ? null : mistakeIn(recipients, addresses);
  if (mistake !== null) throw wrongAnswer('--remind', mistake);
  return addresses;
}
