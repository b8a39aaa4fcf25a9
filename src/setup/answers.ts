import { driveMark, isSharingLink, isWebAddress } from '../config/addresses.ts';
import { Environment, targetOf } from '../config/environment.ts';
import { loadConfig } from '../config/load.ts';

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
