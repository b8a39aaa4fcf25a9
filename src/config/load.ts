import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import type { z } from 'zod';
import { LeadsyncError } from '../lib/errors.ts';
import { buildAlerts, buildConnection, clearTextOf, type Config } from './config.ts';
import { checkTogether } from './check-together.ts';
import {
  ConfigError,
  type Mistake,
  mistakeAt,
  type Report,
  schemaMistakes,
  type Source,
  unreadable,
} from './mistakes.ts';
import { valueAt } from '../lib/foreign-text.ts';
import { connectionSource, Environment, processSource, readFault, withEnvFile } from './environment.ts';
import { processSchema, type ProcessSettings } from './process-schema.ts';
import { type Path, type Readable, readable } from './settings.ts';
import { fileSchema } from './schema.ts';
import { Secret } from './secret.ts';
import { sender } from './values.ts';

interface LoadOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Absolute. Where leadsync.yaml is looked for, and what relative paths of the environment mean. */
  readonly cwd: string;
  /** `--config`; goes before LEADSYNC_CONFIG and leadsync.yaml. Null: none of them, the environment alone. */
  readonly file?: string | null;
}

/** The configuration of this process: the only place that reads `process.env`. Throws as `loadConfig` does. */
export function loadConfigFromProcess(file?: string): Promise<Config> {
  return loadConfig({ env: process.env, cwd: process.cwd(), ...(file === undefined ? {} : { file }) });
}

export function variablesOfProcess(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([, value]) => value));
}

/** Checked and frozen. Throws ConfigError `config.invalid` with every mistake at once, or `config.missing` when nothing is set up yet. */
export async function loadConfig({ env, cwd, file }: LoadOptions): Promise<Config> {
  const mistakes: Mistake[] = [];
  const chosen = file === null ? undefined : chooseFile(new Environment(env, mistakes), cwd, file);
  const whole = chosen === undefined ? env : withEnvFile(env, dirname(chosen), mistakes);
  if (chosen === undefined && !describesConnection(new Environment(whole, mistakes)))
    throw missingConfig(cwd);
  const readFile = chosen === undefined ? null : await openConfigFile(chosen, cwd);
  const read = (found: Mistake[]): Read => {
    const environment = new Environment(whole, found);
    const own = readSettings(processSchema, processSource(environment, cwd), found);
    const source = readFile === null ? connectionSource(environment, cwd) : readFile(environment, found);
    return { environment, config: configOf(environment, cwd, own, source, found) };
  };
  const { environment, config } = read(mistakes);
  followFiles(config, environment, () => read([]));
  return config;
}

interface Read {
  readonly environment: Environment;
  readonly config: Config;
}

/**
 * Lets the secrets of servers and targets follow the files that they were read from. One that cannot be read, or is wrong, changes nothing.
 * The keys of the Leads service stay: they tell one service from another.
 */
function followFiles(config: Config, environment: Environment, readAgain: () => Read): void {
  const own = secretsOf(config);
  let current = environment;
  const look = (): void => {
    if (!current.hasChanged()) return;
    try {
      const fresh = readAgain();
      current = fresh.environment;
      const renewed = secretsOf(fresh.config);
      own.forEach((secret, index) => {
        const other = renewed[index];
        if (other !== undefined) secret.renew(other);
      });
    } catch (error) {
      // Half written, for example.
      if (!(error instanceof LeadsyncError)) throw error;
    }
  };
  for (const secret of own) secret.follow(look);
}

/** Always in the same order. */
function secretsOf({ databaseUrl, redisUrl, smtpUrl, msgraph, connections }: Config): readonly Secret[] {
  const ofConnections = connections.flatMap(({ target, reminders }) => [
    ...Object.values<unknown>(target),
    ...(reminders?.calendars ?? []).map(({ login }) => login?.password),
  ]);
  const values: readonly unknown[] = [
    databaseUrl,
    redisUrl,
    smtpUrl,
    ...Object.values<unknown>(msgraph),
    ...ofConnections,
  ];
  return values.filter((value) => value instanceof Secret);
}

function configOf(
  environment: Environment,
  cwd: string,
  own: ProcessSettings | undefined,
  source: Source | undefined,
  mistakes: Mistake[],
): Config {
  const smtpIsSet = environment.get('SMTP_URL') !== undefined;
  const settings =
    source &&
    readSettings(fileSchema, source, mistakes, (report, read) =>
      checkTogether(report, source, read, smtpIsSet),
    );
  mistakes.push(...environment.former());
  // The mistake of a missing setting names a misspelt variable already.
  if (mistakes.length === 0) mistakes.push(...environment.misspelled());
  if (mistakes.length > 0 || own === undefined || source === undefined || settings === undefined)
    // The environment first, then the file from top to bottom.
    throw new ConfigError(mistakes.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)));
  const connections = Object.entries(settings.connections).map(([name, connection]) =>
    buildConnection(name, connection, source.folder, settings.recipients),
  );
  const senders = [
    ...Object.values(settings.connections).map(({ reminders }) => reminders?.from),
    sender.safeParse(environment.get('REMINDER_FROM')).data,
  ].filter((one) => one !== undefined);
  const inClear = own.requireTls ? clearTextOf({ ...own, connections }) : [];
  if (inClear.length > 0)
    throw new ConfigError(
      inClear.map(({ setting, message }) => ({
        where: setting,
        path: '',
        message: `${message} (REQUIRE_TLS)`,
      })),
    );
  return deepFreeze({
    ...own,
    dataDir: resolve(cwd, own.dataDir),
    ...(own.googleCredentials && { googleCredentials: resolve(cwd, own.googleCredentials) }),
    connections,
    configured: connections,
    ...(settings.alerts && { alerts: buildAlerts(settings.alerts, senders) }),
    ...(settings.publicUrl !== undefined && { publicUrl: settings.publicUrl }),
    ...(settings.statusPage && { statusPage: settings.statusPage }),
    ...telemetryOf(environment),
  });
}

/** By OpenTelemetry's own variables, whose SDK reads the rest of them. */
function telemetryOf(environment: Environment): Pick<Config, 'telemetry'> {
  const isOf = (exporter: string, ...endpoints: readonly string[]): boolean => {
    const named = environment.plain(exporter);
    if (named !== undefined) return named !== 'none';
    return endpoints.some((one) => environment.plain(one) !== undefined);
  };
  if (environment.plain('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return {};
  const traces = isOf(
    'OTEL_TRACES_EXPORTER',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  );
  // Not by the common endpoint: many that take traces take no metrics.
  const metrics = isOf('OTEL_METRICS_EXPORTER', 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT');
  return traces || metrics ? { telemetry: { traces, metrics } } : {};
}

/** Undefined when one is wrong, which is added to `mistakes`. `together` looks at what was read, whether all of it is right or not. */
function readSettings<T>(
  schema: z.ZodType<T>,
  source: Source,
  mistakes: Mistake[],
  together?: (report: Report, read: Readable<T>) => void,
): T | undefined {
  const { data, error } = schema.safeParse(source.raw, { jitless: true });
  const bad: Path[] = [];
  const locate = (path: Path) => {
    bad.push(path);
    return source.locate(path);
  };
  mistakes.push(...schemaMistakes({ ...source, locate }, error?.issues ?? []));
  // What follows from a mistake is not listed too.
  const isBad = (path: Path) =>
    valueAt(source.raw, path) === unreadable ||
    bad.some((place) => place.every((key, index) => path[index] === key));
  const report: Report = (path, message, of) => {
    if (of === 'name') mistakes.push({ ...source.locate(path), message });
    else if (!isBad(path)) mistakes.push(mistakeAt(source, path, message));
  };
  const read = error === undefined ? (data as Readable<T>) : readable(schema, source.raw);
  if (read !== undefined) together?.(report, read);
  return data;
}

function chooseFile(environment: Environment, cwd: string, file: string | undefined): string | undefined {
  const named = file ?? environment.plain('LEADSYNC_CONFIG');
  if (named !== undefined) return resolve(cwd, named);
  const usual = join(cwd, 'leadsync.yaml');
  return existsSync(usual) ? usual : undefined;
}

function describesConnection(environment: Environment): boolean {
  return ['LEADS_BASE_URL', 'LEADS_API_KEY', 'TARGET'].some((name) => environment.get(name) !== undefined);
}

function missingConfig(cwd: string): LeadsyncError {
  return new LeadsyncError(
    'config.missing',
    `Nothing is configured yet: no leadsync.yaml in ${cwd}, no LEADS_BASE_URL.`,
    {
      help: [
        'npx leadsync init asks for what is needed and writes a leadsync.yaml.',
        'Or set three variables, for one connection:',
        '  LEADS_BASE_URL=https://api.example.com',
        '  LEADS_API_KEY=…            (or LEADS_API_KEY_FILE=/run/secrets/leads-api-key)',
        '  TARGET=./leads.xlsx',
        'For several write a leadsync.yaml: leadsync.example.yaml shows how.',
        'To see it at work without any of this: npx leadsync demo',
      ].join('\n'),
    },
  );
}

/** Its content, read once: a changed setting waits for the next start. */
async function openConfigFile(
  file: string,
  cwd: string,
): Promise<(environment: Environment, mistakes: Mistake[]) => Source | undefined> {
  const inside = relative(cwd, file);
  const where = inside === '' || inside === '..' || inside.startsWith(`..${sep}`) ? file : inside;
  // Loaded only when there is a file.
  const { yamlSource } = await import('./yaml-source.ts');
  try {
    const content = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    return (environment, mistakes) => yamlSource(content, file, where, environment, mistakes);
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8 text' : readFault(error);
    return (_environment, mistakes) => {
      mistakes.push({ where, path: '', message: `the configuration file cannot be read: ${reason}` });
      return undefined;
    };
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
