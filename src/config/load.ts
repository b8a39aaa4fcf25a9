import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { LeadsyncError } from '../errors.ts';
import { checkTogether } from './check-together.ts';
import type { Config } from './config.ts';
import { ConfigError, type Mistake } from './config-error.ts';
import { buildAlerts, buildConnection } from './connection.ts';
import { Environment, readFault } from './environment.ts';
import { environmentSource, readVariables } from './environment-source.ts';
import { processSchema, type ProcessSettings } from './process-schema.ts';
import { readable } from './readable.ts';
import { fileSchema, type FileSettings } from './schema.ts';
import { schemaMistakes } from './schema-mistakes.ts';
import { type Path, processSettings } from './settings.ts';
import type { Source } from './source.ts';
import type { YamlRead } from './yaml-source.ts';

interface LoadOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Absolute. Where leadsync.yaml is looked for, and what relative paths of the environment mean. */
  readonly cwd: string;
  /** `--config`; goes before LEADSYNC_CONFIG and leadsync.yaml. */
  readonly file?: string;
}

/** The configuration of this process: the only place that reads `process.env`. Throws as `loadConfig` does. */
export function loadConfigFromProcess(file?: string): Promise<Config> {
  return loadConfig({ env: process.env, cwd: process.cwd(), ...(file === undefined ? {} : { file }) });
}

/**
 * The whole configuration, checked and frozen (docs/architecture.md 8). Throws ConfigError `config.invalid` with every mistake at
 * once, or LeadsyncError `config.missing` when nothing is set up yet.
 */
export async function loadConfig({ env, cwd, file }: LoadOptions): Promise<Config> {
  const environment = new Environment(env);
  const chosen = chooseFile(environment, cwd, file);
  if (chosen === undefined && !describesConnection(environment)) throw missingConfig(cwd);

  const own = readProcessSettings(environment, cwd);
  const { source, mistakes: unreadable } =
    chosen === undefined
      ? { source: environmentSource(environment, cwd), mistakes: [] }
      : await readConfigFile(chosen, cwd, environment);
  const read = source === undefined ? undefined : readSettings(source, environment.isSet('SMTP_URL'));
  const found = [...environment.mistakes, ...own.mistakes, ...unreadable, ...(read?.mistakes ?? [])];
  // Of a setting that is missing, what was meant is said there.
  const mistakes = found.length > 0 ? found : environment.misspelled();
  if (
    mistakes.length > 0 ||
    source === undefined ||
    read?.settings === undefined ||
    own.settings === undefined
  )
    throw new ConfigError(inReadingOrder(mistakes));
  const { alerts } = read.settings;
  const connections = Object.entries(read.settings.connections).map(([name, settings]) =>
    buildConnection(name, settings, source.folder),
  );
  return deepFreeze({
    ...processConfig(own.settings, cwd),
    connections,
    configured: connections.map(({ name }) => name),
    ...(alerts !== undefined && { alerts: buildAlerts(alerts, connections) }),
  });
}

/** What was read, or what is wrong with it. */
interface Read<T> {
  /** Absent when the schema found a mistake. */
  readonly settings?: T;
  readonly mistakes: readonly Mistake[];
}

/** The settings of the process as a whole, which stand in the environment alone. */
function readProcessSettings(environment: Environment, cwd: string): Read<ProcessSettings> {
  const below = (place: string) => readVariables(environment, processSettings, place);
  const raw = { ...below(''), http: below('http'), tracing: below('tracing') };
  const settingAt = (path: Path) => processSettings.find(({ place }) => place === path.join('.'));
  const source: Source = {
    raw,
    folder: cwd,
    locate: (path) => ({ where: settingAt(path)?.variable ?? 'environment', path: '' }),
    hint: () => '',
    isSecret: (path) => settingAt(path)?.secret === true,
    isKnownBad: () => false,
  };
  const { data, error } = processSchema.safeParse(raw);
  return error === undefined
    ? { settings: data, mistakes: [] }
    : { mistakes: schemaMistakes(source, error.issues) };
}

function processConfig(
  { configFile: _, tracing, dataDir, googleCredentials, ...settings }: ProcessSettings,
  cwd: string,
) {
  return {
    ...settings,
    dataDir: resolve(cwd, dataDir),
    ...(googleCredentials !== undefined && { googleCredentials: resolve(cwd, googleCredentials) }),
    ...(tracing && { tracing: true as const }),
  };
}

/** The settings of the connections and the alerts. */
function readSettings(source: Source, smtpIsSet: boolean): Read<FileSettings> {
  const { data, error } = fileSchema.safeParse(source.raw);
  if (error === undefined) {
    return { settings: data, mistakes: checkTogether(source, data, smtpIsSet) };
  }
  const bad: Path[] = [];
  const locate: Source['locate'] = (path) => {
    bad.push(path);
    return source.locate(path);
  };
  const mistakes = schemaMistakes({ ...source, locate }, error.issues);
  const isKnownBad = (path: Path) =>
    source.isKnownBad(path) || bad.some((place) => place.every((key, index) => path[index] === key));
  const settings = readable(fileSchema, source.raw) ?? {};
  return { mistakes: [...mistakes, ...checkTogether({ ...source, isKnownBad }, settings, smtpIsSet)] };
}

function chooseFile(environment: Environment, cwd: string, file: string | undefined): string | undefined {
  const named = file ?? environment.get('LEADSYNC_CONFIG');
  if (named !== undefined) return resolve(cwd, named);
  const usual = join(cwd, 'leadsync.yaml');
  return existsSync(usual) ? usual : undefined;
}

function describesConnection(environment: Environment): boolean {
  return (
    environment.get('LEADS_BASE_URL') !== undefined ||
    environment.get('TARGET') !== undefined ||
    environment.isSet('LEADS_API_KEY')
  );
}

function missingConfig(cwd: string): LeadsyncError {
  return new LeadsyncError(
    'config.missing',
    `Nothing is configured yet: no leadsync.yaml in ${cwd}, no LEADS_BASE_URL.`,
    {
      help: [
        'For one connection set three variables:',
        '  LEADS_BASE_URL=https://api.example.com',
        '  LEADS_API_KEY=…            (or LEADS_API_KEY_FILE=/run/secrets/leads-api-key)',
        '  TARGET=./leads.xlsx',
        'For several write a leadsync.yaml: leadsync.example.yaml shows how.',
        'To see it at work without any of this: npx leadsync demo',
      ].join('\n'),
    },
  );
}

async function readConfigFile(file: string, cwd: string, environment: Environment): Promise<YamlRead> {
  const inside = relative(cwd, file);
  const where = inside === '' || inside === '..' || inside.startsWith(`..${sep}`) ? file : inside;
  // Loaded for those alone who have a file.
  const { yamlSource } = await import('./yaml-source.ts');
  try {
    const content = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
    return yamlSource(content, file, where, environment);
  } catch (error) {
    const reason = error instanceof TypeError ? 'it is not UTF-8 text' : readFault(error);
    return { mistakes: [{ where, path: '', message: `the configuration file cannot be read: ${reason}` }] };
  }
}

/** The environment first, then the file from top to bottom. */
function inReadingOrder(mistakes: readonly Mistake[]): readonly Mistake[] {
  return mistakes.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
