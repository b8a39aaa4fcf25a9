/** A table that people edit in a real program: what they type is read, and what leadsync writes is shown there, value by value. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Secret } from '../../src/config/secret.ts';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import type { Values } from '../../src/core/lead/value.ts';
import { createPostgresTableTarget } from '../../src/targets/postgres/postgres-table-target.ts';
import { append, never, readAll, remove, update } from './target-harness.ts';
import { administrate } from '../support/administrate.ts';
import { freePort } from '../support/mail-server.ts';
import { startTestPostgres } from '../support/test-postgres.ts';
import { until } from '../support/until.ts';
import { type Ask, asker, env, said } from '../../verify/ask.ts';

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
type Column = keyof typeof columns;
type Typed = Readonly<Partial<Record<Column, string | number | boolean | null>>>;

/** A table as a person sees and edits it in the program, by its own API. */
interface Grid {
  /** As `target.table` names it. */
  readonly table: string;
  list(): Promise<readonly (Typed & { readonly id: number })[]>;
  add(rows: readonly Typed[]): Promise<unknown>;
  edit(id: number, typed: Typed): Promise<unknown>;
}

interface Start {
  /** For whatever it writes. */
  readonly home: string;
  /** An empty database for it. */
  readonly database: URL;
  /** Gets what has to be ended. */
  readonly stack: AsyncDisposableStack;
}

const { PATH, LEADSYNC_VERIFY_CACHE: cache = join(homedir(), '.cache', 'leadsync') } = env;
// The database of the program is reached by this process: it must not stand still.
const run = promisify(execFile);

/** The folder with the program's `node_modules`, installed once. `replaced`: what wants a compiler, and is not used here. */
async function installed(name: string, version: string, overrides: object, replaced: string, by: string) {
  const folder = join(cache, `${name}-${version}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const wanted = { private: true, dependencies: { [name]: version }, overrides };
  writeFileSync(join(unfinished, 'package.json'), JSON.stringify(wanted));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  await run('npm', ['install', ...options], { cwd: unfinished });
  const place = join(unfinished, 'node_modules', replaced);
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), JSON.stringify({ name: replaced, version: '99.0.0' }));
  writeFileSync(join(place, 'index.js'), by);
  renameSync(unfinished, folder);
  return folder;
}

/** Starts the program, which is ended with the stack; its address, when it answers there. */
async function serve({ home, stack }: Start, program: readonly string[], env: object, path: string) {
  const port = await freePort();
  const child = spawn(process.execPath, program, {
    cwd: home,
    env: { PATH, HOME: home, HOST: '127.0.0.1', PORT: `${port}`, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  stack.defer(async () => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  const origin = `http://127.0.0.1:${port}`;
  const answers = async () => (await fetch(origin + path)).ok;
  await until(`${program.join(' ')} answers`, () => answers().catch(() => false), 600_000);
  return origin;
}

/** Asks for a 2xx; throws for anything else. */
const sure =
  (ask: Ask) =>
  async (...request: Parameters<Ask>): Promise<unknown> => {
    const { status, body } = await ask(...request);
    if (status >= 300) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
    return body;
  };

const names = Object.keys(columns) as Column[];
const account = { email: 'a@example.com', password: 'Passw0rd!x' };

const grids = {
  async directus(start: Start): Promise<Grid> {
    const folder = await installed('directus', '12.4.0', {}, 'isolated-vm', 'module.exports = {};');
    const { hostname, port, pathname, username, password } = start.database;
    const env = {
      SECRET: '0123456789abcdef0123456789abcdef',
      DB_CLIENT: 'pg',
      DB_HOST: hostname,
      DB_PORT: port,
      DB_DATABASE: pathname.slice(1),
      DB_USER: username,
      DB_PASSWORD: password,
      ADMIN_EMAIL: account.email,
      ADMIN_PASSWORD: account.password,
      ADMIN_TOKEN: 'leadsync-verify',
      TELEMETRY: 'false',
      PRESSURE_LIMITER_ENABLED: 'false',
    };
    const program = join(folder, 'node_modules/directus/cli.js');
    const own = { PATH, HOME: start.home, ...env };
    await run(process.execPath, [program, 'bootstrap'], { cwd: start.home, env: own });
    const api = await serve(start, [program, 'start'], env, '/server/ping');
    const ask = sure(asker(api, () => ({ authorization: `Bearer ${env.ADMIN_TOKEN}` })));
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
    const fields = [
      { field: 'id', type: 'integer', schema: { is_primary_key: true, has_auto_increment: true } },
      ...names.map((field) => ({ field, type: types[columns[field]], ...unique(field) })),
      { field: 'date_updated', type: 'timestamp', meta: { special: ['date-updated'] } },
    ];
    await ask('POST', '/collections', { collection: 'leads', schema: {}, meta: {}, fields });
    const items = '/items/leads';
    return {
      table: 'leads',
      list: async () =>
        said<(Typed & { id: number })[]>(await ask('GET', `${items}?limit=-1&sort=id`), 'data').flat(),
      add: (rows) => ask('POST', items, rows),
      edit: (id, typed) => ask('PATCH', `${items}/${id}`, typed),
    };
  },

  async nocodb(start: Start): Promise<Grid> {
    const sqlite = 'module.exports = { verbose() { return this; } };';
    // Its spreadsheets come from an address that is no registry otherwise.
    const folder = await installed('nocodb', '0.301.3', { xlsx: '0.18.5' }, 'sqlite3', sqlite);
    const program = join(folder, 'start.cjs');
    writeFileSync(
      program,
      `const server = require('express')();
const http = server.listen(process.env.PORT, '127.0.0.1', async () => server.use(await require('nocodb').Noco.init({}, http, server)));`,
    );
    const { host, pathname, username, password } = start.database;
    const env = {
      NC_DB: `pg://${host}?u=${username}&p=${password}&d=${pathname.slice(1)}`,
      NC_AUTH_JWT_SECRET: 'leadsync-verify',
      NC_TOOL_DIR: start.home,
      NC_ADMIN_EMAIL: account.email,
      NC_ADMIN_PASSWORD: account.password,
      NC_DISABLE_TELE: 'true',
    };
    const api = await serve(start, [program], env, '/api/v1/health');
    const signedIn = await sure(asker(api, () => ({})))('POST', '/api/v1/auth/user/signin', account);
    const ask = sure(asker(api, () => ({ 'xc-auth': said<string>(signedIn, 'token')[0] ?? '' })));
    const made = async (path: string, body: object) => said<string>(await ask('POST', path, body), 'id')[0];
    const base = await made('/api/v2/meta/bases', { title: 'Sales' });
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
    const fieldOf = (title: Column) => ({ title, ...types[columns[title]] });
    const fields = names.map((title) => ({
      ...fieldOf(title),
      ...(title === 'lead_id' && { unique: true }),
    }));
    const id = await made(`/api/v3/meta/bases/${base}/tables`, { title: 'leads', fields });
    const records = `/api/v3/data/${base}/${id}/records`;
    return {
      table: `${base}.leads`,
      list: async () =>
        said<{ id: unknown; fields: Typed }[]>(await ask('GET', `${records}?pageSize=1000`), 'records')
          .flat()
          .map((one) => ({ ...one.fields, id: Number(one.id) })),
      async add(rows) {
        for (const fields of rows) await ask('POST', records, [{ fields }]);
      },
      edit: (key, typed) => ask('PATCH', records, [{ id: key, fields: typed }]),
    };
  },
};

const mapped = ['company', 'region', 'stage', 'due', 'headcount', 'revenue', 'key_account'] as const;
const typeOf = (field: Column) => (field === 'due' ? 'instant' : 'text');
/** One text for one meaning: decimals are numbers to some and texts to others; a check box that nobody set is off, or empty. */
function textOf(column: Column, value: Typed[Column]): string | null {
  if (value === null || value === undefined || value === '') return null;
  if (column === 'key_account') return `${value}` === 'true' ? 'true' : null;
  if (column === 'due') return new Date(String(value)).toISOString();
  return ['revenue', 'headcount'].includes(column) ? String(Number(value)) : `${value}`;
}
const meaning = (row: object): Values =>
  Object.fromEntries(mapped.map((column) => [column, textOf(column, (row as Typed)[column])]));

const usual = { stage: 'won', headcount: 2_000_000_000, revenue: -0.01, key_account: true };
const rows: readonly Typed[] = [
  { company: '=HYPERLINK("http://example.com";"x")', region: 'first line\nsecond line\r\nthird\ttab' },
  { company: '+49 40 1234', due: '2027-10-31T02:30:00+02:00', region: `${'long text äöü '.repeat(714)}end.` },
  { company: '👩🏽‍🚀 and 北京 and שלום', due: '2027-10-31T02:30:00+01:00', headcount: 0, revenue: 1234.5 },
  { company: "Robert'); drop table leads;-- \\N", due: '2026-12-24T19:00:00-05:00', key_account: false },
  { company: '00123', region: '', stage: null, due: null, headcount: null, revenue: null },
].map((row) => ({ ...usual, due: '2027-03-28T01:59:00+01:00', ...row }));

describe.each(['directus', 'nocodb'] as const)('%s', (name) => {
  const stack = new AsyncDisposableStack();
  afterAll(() => stack.disposeAsync());
  let grid: Grid;
  let url: string;
  beforeAll(async () => {
    const home = await mkdtemp(join(tmpdir(), 'leadsync-grid-'));
    stack.defer(() => rm(home, { recursive: true, force: true }));
    // Postgres may run as another user.
    await chmod(home, 0o755);
    const server = await startTestPostgres(home);
    stack.defer(() => server.close());
    await administrate(server.connectionString, `create database ${name} template template0`);
    const database = Object.assign(new URL(server.connectionString), { pathname: `/${name}` });
    url = database.href;
    grid = await grids[name]({ home, database, stack });
  });
  const target = () =>
    createPostgresTableTarget({
      url: new Secret(url),
      table: grid.table,
      idColumn: 'lead_id',
      statusColumn: 'status',
      timeZone: 'UTC',
      isZoneSet: true,
      fields: mapped.map(
        (field): FieldMapping => ({ field, column: field, type: typeOf(field), direction: 'two-way' }),
      ),
    });

  test('what people type is read as they meant it, also after they cleared it', async () => {
    await grid.add(rows);
    const read = async () => (await readAll(target())).map(({ cells }) => meaning(cells));
    expect(await read()).toEqual(rows.map(meaning));
    const [first] = await grid.list();
    const cleared = { stage: null, due: null, headcount: null, region: '' };
    await grid.edit(first?.id ?? 0, cleared);
    expect(await read()).toContainEqual(meaning({ ...rows[0], ...cleared }));
  });

  test('what leadsync writes is shown in the program as it was written', async () => {
    const values = rows.map((row) => {
      const flag = row.key_account === true ? 'true' : 'false';
      return { ...meaning(row), key_account: flag, company: `new ${String(row.company)}` };
    });
    const write = async (...changes: Parameters<ReturnType<typeof target>['write']>[0]) =>
      (await target().write(changes, never())).map(({ status }) => status);
    const added = values.map((row, nth) => append(`id-${nth}`, row));
    expect(await write(...added)).toEqual(values.map(() => 'done'));
    const due = '2027-07-01T00:00:00.000Z';
    const change = { company: 'Changed', due, revenue: '77.25', key_account: 'true' };
    const changes = [update('id-1', values[1] ?? {}, change), remove('id-2', values[2] ?? {})];
    expect(await write(...changes)).toEqual(['done', 'done']);
    const shown = (await grid.list()).filter(({ lead_id: id }) => typeof id === 'string' && id !== '');
    expect(shown.map(({ lead_id: id }) => id)).toEqual(['id-0', 'id-1', 'id-3', 'id-4']);
    const expected = [values[0], { ...values[1], ...change }, values[3], values[4]];
    expect(shown.map(meaning)).toEqual(expected.map((row) => meaning(row ?? {})));
  });

  test('a row that is copied with its id is refused by the unique column', async () => {
    await expect(grid.add([{ lead_id: 'id-0', company: 'A copy' }])).rejects.toThrow('answered');
  });
});
