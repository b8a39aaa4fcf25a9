import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { stringify } from 'yaml';
import { envFileName, isPath, targetOf, Environment } from '../config/environment.ts';
import { usualMatchBy } from '../config/config.ts';
import { loadConfig } from '../config/load.ts';
import { settingOf } from '../config/settings.ts';
import { codeOf, LeadsyncError } from '../lib/errors.ts';
import { docsPath, schemaPath } from '../lib/version.ts';
import { driveMark, isSharingLink, isWebAddress } from '../config/addresses.ts';

/** What `leadsync init` has found out: enough for leadsync.yaml. */
export interface Answers {
  readonly connection: string;
  /** Variables as the environment names them; a secret may be in the file that `NAME_FILE` names. */
  readonly env: NodeJS.ProcessEnv;
  /** A sheet of a workbook, a tab of a spreadsheet; undefined: the only one, or the one that TARGET names. */
  readonly part: string | undefined;
  readonly idColumn: string;
  /** Lead fields and the headings of their columns, in column order; at least one. */
  readonly fields: readonly (readonly [field: string, column: string])[];
  /** Whether the table is there: some of its rows may be leads that the service has too. */
  readonly hasRows: boolean;
}

const msgraph = ['TENANT', 'CLIENT_ID', 'CLIENT_SECRET'].map((name) => `MSGRAPH_${name}`);

/** The variables that open each kind of place, after the page that shows how to get them. */
export const keys = {
  file: ['excel.md'],
  webdav: ['webdav.md', 'WEBDAV_USER', 'WEBDAV_PASSWORD'],
  msgraph: ['microsoft-365.md', ...msgraph],
  'google-sheets': ['google-sheets.md', 'GOOGLE_APPLICATION_CREDENTIALS'],
  hubspot: ['hubspot.md', 'HUBSPOT_TOKEN'],
  'postgres-table': ['postgres.md', 'POSTGRES_TABLE_URL'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export function kindOf({ TARGET: path = '' }: NodeJS.ProcessEnv): keyof typeof keys {
  const { type } = targetOf({ path });
  if (type !== 'workbook') return type as keyof typeof keys;
  if (isSharingLink(path) || path.startsWith(driveMark)) return 'msgraph';
  return isWebAddress(path) ? 'webdav' : 'file';
}

/** A variable, also from its file; undefined: unset. */
export function valueOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const found = new Environment(env, []).lookup(name);
  return typeof found === 'object' ? found.value : undefined;
}

export const isSet = (env: NodeJS.ProcessEnv, name: string): boolean =>
  Boolean(env[name] || env[`${name}_FILE`]);

export type Draft = Awaited<ReturnType<typeof draftOf>>;

/** What variables alone configure. Throws ConfigError. */
export async function draftOf(env: NodeJS.ProcessEnv) {
  const config = await loadConfig({ env, cwd: process.cwd(), file: null });
  const [connection] = config.connections;
  if (connection === undefined) throw new Error('variables make one connection');
  return { ...config, connection };
}

/** Contents by the path of the file; leadsync.yaml is the last. */
export type SetupFiles = ReadonlyMap<string, string>;

/** Other addresses of APIs are kept where the environment has some. */
const roots = ['GOOGLE_SHEETS_URL', 'HUBSPOT_URL', 'MSGRAPH_URL'];

/** The files that these answers make; secrets are in files of their own. `yamlFile`: absolute path of leadsync.yaml. */
export function setupFiles(answers: Answers, yamlFile: string): SetupFiles {
  const { env } = answers;
  const folder = dirname(yamlFile);
  const [, ...names] = keys[kindOf(env)];
  const secrets: [path: string, content: string][] = [];
  const variables: [name: string, value: string][] = [];
  for (const name of ['LEADS_API_KEY', ...names, 'SMTP_URL', ...roots]) {
    const { [name]: value = '', [`${name}_FILE`]: file = '' } = env;
    const own = `secrets/${name.toLowerCase().replaceAll('_', '-')}`;
    if (file !== '') variables.push([`${name}_FILE`, within(folder, file)]);
    else if (value !== '' && settingOf(name)?.secret === true) {
      secrets.push([join(folder, own), `${value}\n`]);
      variables.push([`${name}_FILE`, own]);
    } else if (value !== '') variables.push([name, isPath(name) ? within(folder, value) : value]);
  }
  // The state stays with its configuration, whatever folder a command is called in.
  variables.push(['DATA_DIR', 'data']);
  const head =
    '# Variables for leadsync.yaml. Relative paths start here. Others may be added: DATABASE_URL, PORT …';
  const ignored = ['secrets', 'data'].map((one) => [join(folder, one, '.gitignore'), '*\n'] as const);
  const lines = variables.map(([name, value]) => {
    const quote = /^[\w./:@+-]*$/.test(value) ? '' : ["'", '"', '`'].find((one) => !value.includes(one));
    return `${name}=${quote ?? ''}${value}${quote ?? ''}`;
  });
  const envFile = [join(folder, envFileName), `${[head, ...lines].join('\n')}\n`] as const;
  return new Map([...ignored, ...secrets, envFile, [yamlFile, yamlOf(answers, folder)]]);
}

function within(folder: string, path: string): string {
  const inside = relative(folder, resolve(path));
  return inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside) ? resolve(path) : inside;
}

/** `${` would name a variable. */
const literal = (text = ''): string => text.replaceAll('${', () => '$${');

function yamlOf({ connection, env, part, idColumn, fields, hasRows }: Answers, folder: string): string {
  const names = fields.map(([field]) => field);
  const isNamed = usualMatchBy.some((field) => names.includes(field));
  const { LC_ALL, LC_MESSAGES, LANG, LEADS_BASE_URL, REMINDER_FROM, SCHEDULE, TZ_NAME } = env;
  const to = (valueOf(env, 'REMINDER_TO') ?? '').split(',').map((one) => literal(one.trim()));
  // A mail server wants a sender.
  const from = literal(REMINDER_FROM) || (isSet(env, 'SMTP_URL') && to[0]);
  const isGerman = /^de(?![a-z])/i.test(LC_ALL || LC_MESSAGES || LANG || '');
  const settings = {
    leads: { baseUrl: literal(LEADS_BASE_URL), apiKey: '${LEADS_API_KEY}' },
    target: { ...placeOf(env, part, folder), idColumn: literal(idColumn) },
    fields: Object.fromEntries(fields.map(([field, column]) => [field, literal(column)])),
    sync: {
      schedule: SCHEDULE || settingOf('SCHEDULE')?.default,
      timeZone: TZ_NAME || Intl.DateTimeFormat().resolvedOptions().timeZone,
      // Rows without an id may be leads: they are listed, and a person decides.
      ...(hasRows && { match: 'propose', ...(!isNamed && { matchBy: names.slice(0, 1) }) }),
      // Until a team trusts it, no delete goes on by itself.
      onLeadDeleted: 'ask',
      onRowDeleted: 'ask',
    },
    ...(isSet(env, 'REMINDER_TO') && {
      reminders: { ...(from && { from }), to, ...(isGerman && { language: 'de' }) },
    }),
  };
  const head = `# yaml-language-server: $schema=${schemaPath(folder)}
# Every setting: ${docsPath('settings.md')}. What \${…} names is in ${envFileName}.\n\n`;
  return head + stringify({ connections: { [connection]: settings } }, { lineWidth: 0 });
}

/** TARGET as settings; what is secret stays in its variable. */
function placeOf(env: NodeJS.ProcessEnv, part: string | undefined, folder: string): object {
  const { TARGET = '' } = env;
  const inside = within(folder, TARGET);
  const path = kindOf(env) !== 'file' ? TARGET : isAbsolute(inside) ? inside : `./${inside}`;
  const login = { user: 'WEBDAV_USER', password: 'WEBDAV_PASSWORD' };
  const set = Object.entries(login).filter(([, name]) => isSet(env, name));
  const place = targetOf({
    path: literal(path),
    token: '${HUBSPOT_TOKEN}',
    url: '${POSTGRES_TABLE_URL}',
    ...Object.fromEntries(set.map(([key, name]) => [key, `\${${name}}`])),
  });
  const key = place['type'] === 'google-sheets' ? 'tab' : 'sheet';
  return { ...place, ...(part !== undefined && { [key]: literal(part) }) };
}

const ownerOnly = { mode: 0o600, flag: 'wx' } as const;

/** Looks at leadsync.yaml as every command will, before it is there. Throws ConfigError. */
export async function assertLoads(
  files: SetupFiles,
  yamlFile: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const file = join(tmpdir(), `leadsync-${randomUUID()}.yaml`);
  await writeFile(file, files.get(yamlFile) ?? '', ownerOnly);
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rm(file));
  await loadConfig({ env, cwd: process.cwd(), file });
}

/** The paths of files that are not there with this content; `inTheWay`: only of those that are there with another. */
export async function filesToWrite(files: SetupFiles, inTheWay = false): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [path, content] of files) {
    const there = await readFile(path, 'utf8').catch(codeOf);
    if (there !== content && !(inTheWay && there === 'ENOENT')) found.push(path);
  }
  return found;
}

/**
 * Writes the files and returns the paths of new ones: each as a whole, leadsync.yaml as the last, so that it names nothing that is
 * not there. One that is there with another content is kept as `FILE.old-…`. Throws `setup.not-written`.
 */
export async function writeSetup(files: SetupFiles): Promise<readonly string[]> {
  const written: string[] = [];
  try {
    for (const path of await filesToWrite(files)) {
      const isOurs = /^(?:secrets|data)$/.test(basename(dirname(path)));
      await mkdir(dirname(path), { recursive: true });
      if (isOurs) await chmod(dirname(path), 0o700);
      const temporary = `${path}.${randomUUID()}.tmp`;
      await writeFile(temporary, files.get(path) ?? '', { ...ownerOnly, flush: true });
      if (existsSync(path)) await rename(path, `${path}.old-${Date.now()}`);
      await rename(temporary, path);
      written.push(path);
    }
    return written;
  } catch (cause) {
    const so = written.length === 0 ? 'none of its files was' : `written so far: ${written.join(', ')}`;
    const message = `the configuration cannot be written (${codeOf(cause) ?? String(cause)}); ${so}`;
    const help = 'Name another place with --out FOLDER/leadsync.yaml.';
    throw new LeadsyncError('setup.not-written', message, { help, cause });
  }
}
