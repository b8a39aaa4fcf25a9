import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { LeadsyncError } from '../errors.ts';
import { buildAlerts } from './alerts.ts';
import { checkTogether } from './check-together.ts';
import type { Config } from './config.ts';
import { ConfigError, type Mistake } from './config-error.ts';
import { buildConnection } from './connection.ts';
import { Environment } from './environment.ts';
import { environmentSource } from './environment-source.ts';
import { readProcessSettings } from './process-settings.ts';
import { readFault } from './read-fault.ts';
import { fileSchema } from './schema.ts';
import { schemaMistakes } from './schema-mistakes.ts';
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
  const parsed = source === undefined ? undefined : fileSchema.safeParse(source.raw);
  const found = [
    ...environment.mistakes,
    ...own.mistakes,
    ...unreadable,
    ...(source === undefined || parsed === undefined || parsed.success
      ? []
      : schemaMistakes(source, parsed.error.issues)),
    ...(source === undefined ? [] : checkTogether(source, own.smtpIsSet)),
  ];
  // Of a setting that is missing, what was meant is said there.
  const mistakes = found.length > 0 ? found : environment.misspelled();
  if (
    mistakes.length > 0 ||
    source === undefined ||
    parsed?.data === undefined ||
    own.settings === undefined
  ) {
    throw new ConfigError(inReadingOrder(mistakes));
  }
  const connections = Object.entries(parsed.data.connections).map(([name, settings]) =>
    buildConnection(name, settings, source.folder),
  );
  const { alerts } = parsed.data;
  return deepFreeze({
    ...own.settings,
    connections,
    configured: connections.map(({ name }) => name),
    ...(alerts === undefined ? {} : { alerts: buildAlerts(alerts, connections) }),
  });
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
