import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type Ask, asker } from './ask.ts';

/** The columns of the table, by what is typed into them. */
const columns = {
  lead_id: 'text',
  company: 'text',
  region: 'long',
  stage: 'choice',
  due: 'moment',
  headcount: 'number',
  revenue: 'decimal',
  key_account: 'flag',
  status: 'text',
} as const;
export type Column = keyof typeof columns;
export type Typed = Readonly<Partial<Record<Column, string | number | boolean | null>>>;

/** A table as a person sees and edits it in the program, by its own API. */
export interface Grid {
  /** As `target.table` names it, and the connection string of its database. */
  readonly table: string;
  readonly url: string;
  readonly columnOf: (column: Column) => string;
  list(): Promise<readonly (Typed & { readonly key: number })[]>;
  add(rows: readonly Typed[]): Promise<unknown>;
  edit(key: number, typed: Typed): Promise<unknown>;
}

export interface Start {
  /** For whatever it writes. */
  readonly home: string;
  /** Makes an empty database, and gives its connection string. */
  readonly database: (name: string) => Promise<string>;
  /** Gets what has to be ended. */
  readonly stack: AsyncDisposableStack;
}

// oxlint-disable-next-line node/no-process-env -- a script of its own, with variables of its own
const { PATH, LEADSYNC_VERIFY_CACHE: cache = join(homedir(), '.cache', 'leadsync') } = process.env;

async function run(
  file: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const child = spawn(file, args, {
    cwd,
    env: { PATH, HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} ended with ${String(code)}`);
}

/** The folder with the program's `node_modules`, installed once. `replaced`: what wants a compiler, and is not used here. */
async function installed(
  name: string,
  version: string,
  overrides: object,
  replaced: Readonly<Record<string, string>>,
) {
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await writeFile(
    join(unfinished, 'package.json'),
    JSON.stringify({ private: true, dependencies: { [name]: version }, overrides }),
  );
  await run(
    'npm',
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    unfinished,
  );
  for (const [other, text] of Object.entries(replaced)) {
    const place = join(unfinished, 'node_modules', other);
    await rm(place, { recursive: true, force: true });
    await mkdir(place);
    await writeFile(
      join(place, 'package.json'),
      JSON.stringify({ name: other, version: '99.0.0', main: 'index.js' }),
    );
    await writeFile(join(place, 'index.js'), text);
  }
  await rename(unfinished, folder);
  return folder;
}

/** Starts the program, which is ended with the stack; its address, when it answers there. */
async function serve(
  { home, stack }: Start,
  program: readonly string[],
  env: NodeJS.ProcessEnv,
  path: string,
): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  await new Promise((done) => server.close(done));
  const all = { PATH, HOME: home, HOST: '127.0.0.1', PORT: `${port}`, ...env };
  const child = spawn(process.execPath, program, {
    cwd: home,
    env: all,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = new Promise((done) => child.once('close', done));
  stack.defer(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const isReady = async () => (await fetch(`http://127.0.0.1:${port}${path}`)).ok;
  while (!(await isReady().catch(() => false))) {
    if (child.exitCode !== null) throw new Error(`${program.join(' ')} ended with ${child.exitCode}`);
    await sleep(250);
  }
  return `http://127.0.0.1:${port}`;
}

/** The body of an answer; throws for another status than 2xx. */
async function body(reply: ReturnType<Ask>): Promise<unknown> {
  const { status, body: came } = await reply;
  if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(came)}`);
  return came;
}

const names = Object.keys(columns) as Column[];
const account = { email: 'a@example.com', password: 'Passw0rd!x' };

export const grids = {
  async directus(start: Start): Promise<Grid> {
    const folder = await installed('directus', '12.4.0', {}, { 'isolated-vm': 'module.exports = {};' });
    const url = new URL(await start.database('directus'));
    const token = 'leadsync-verify';
    const env = {
      SECRET: '0123456789abcdef0123456789abcdef',
      DB_CLIENT: 'pg',
      DB_HOST: url.hostname,
      DB_PORT: url.port,
      DB_DATABASE: 'directus',
      DB_USER: url.username,
      DB_PASSWORD: url.password,
      ADMIN_EMAIL: account.email,
      ADMIN_PASSWORD: account.password,
      ADMIN_TOKEN: token,
      TELEMETRY: 'false',
    };
    const program = join(folder, 'node_modules/directus/cli.js');
    await run(process.execPath, [program, 'bootstrap'], start.home, env);
    const api = await serve(start, [program, 'start'], env, '/server/ping');
    const ask = asker(api, () => ({ authorization: `Bearer ${token}` }));
    // A float: its decimals have a fixed number of digits, so that 99.9 becomes 99.90.
    const types = {
      text: 'string',
      long: 'text',
      choice: 'string',
      moment: 'timestamp',
      number: 'integer',
      decimal: 'float',
      flag: 'boolean',
    };
    const unique = (field: string) => (field === 'lead_id' ? { schema: { is_unique: true } } : {});
    await body(
      ask('POST', '/collections', {
        collection: 'leads',
        schema: {},
        meta: {},
        fields: [
          { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
          ...names.map((field) => ({ field, type: types[columns[field]], ...unique(field) })),
          { field: 'date_updated', type: 'timestamp', meta: { special: ['date-updated'] } },
        ],
      }),
    );
    const listed = z.object({ data: z.array(z.looseObject({ id: z.number() })) });
    return {
      table: 'leads',
      url: url.href,
      columnOf: (column) => column,
      list: async () =>
        listed
          .parse(await body(ask('GET', '/items/leads?limit=-1&sort=id')))
          .data.map(({ id, ...row }) => ({ ...row, key: id })),
      add: (rows) => body(ask('POST', '/items/leads', rows)),
      edit: (key, typed) => body(ask('PATCH', `/items/leads/${key}`, typed)),
    };
  },

  async nocodb(start: Start): Promise<Grid> {
    const sqlite = { sqlite3: 'module.exports = { verbose() { return this; } };' };
    // Its spreadsheets come from an address that is no registry otherwise.
    const folder = await installed('nocodb', '0.301.3', { xlsx: '0.18.5' }, sqlite);
    const program = join(folder, 'start.cjs');
    await writeFile(
      program,
      `const server = require('express')();
const http = server.listen(process.env.PORT, '127.0.0.1', async () => server.use(await require('nocodb').Noco.init({}, http, server)));`,
    );
    const url = new URL(await start.database('nocodb'));
    const env = {
      NC_DB: `pg://${url.host}?u=${url.username}&p=${url.password}&d=nocodb`,
      NC_AUTH_JWT_SECRET: 'leadsync-verify',
      NC_TOOL_DIR: start.home,
      NC_ADMIN_EMAIL: account.email,
      NC_ADMIN_PASSWORD: account.password,
      NC_DISABLE_TELE: 'true',
    };
    const api = await serve(start, [program], env, '/api/v1/health');
    const signedIn = await body(asker(api, () => ({}))('POST', '/api/v1/auth/user/signin', account));
    const { token } = z.object({ token: z.string() }).parse(signedIn);
    const ask = asker(api, () => ({ 'xc-auth': token }));
    const made = z.looseObject({ id: z.string() });
    const { id: base } = made.parse(await body(ask('POST', '/api/v2/meta/bases', { title: 'Sales' })));
    const choices = ['new', 'won'].map((title) => ({ title }));
    const types = {
      text: { type: 'SingleLineText' },
      long: { type: 'LongText' },
      choice: { type: 'SingleSelect', options: { choices } },
      moment: { type: 'DateTime', options: { date_format: 'YYYY-MM-DD', time_format: 'HH:mm' } },
      number: { type: 'Number' },
      decimal: { type: 'Decimal', options: { precision: 2 } },
      flag: { type: 'Checkbox' },
    };
    const fields = names.map((title) => ({
      title,
      ...types[columns[title]],
      ...(title === 'lead_id' && { unique: true }),
    }));
    const { id } = made.parse(
      await body(ask('POST', `/api/v3/meta/bases/${base}/tables`, { title: 'leads', fields })),
    );
    const records = `/api/v3/data/${base}/${id}/records`;
    const listed = z.object({
      records: z.array(z.object({ id: z.coerce.number(), fields: z.looseObject({}) })),
    });
    return {
      table: `${base}.leads`,
      url: url.href,
      columnOf: (column) => column,
      list: async () =>
        listed
          .parse(await body(ask('GET', `${records}?pageSize=1000`)))
          .records.map((one) => ({ ...one.fields, key: one.id })),
      async add(rows) {
        for (const row of rows) await body(ask('POST', records, [{ fields: row }]));
      },
      edit: (key, typed) => body(ask('PATCH', records, [{ id: key, fields: typed }])),
    };
  },
};
