import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { SMTPServer } from 'smtp-server';
import { type Sandbox, startSandbox } from '../../src/demo/sandbox.ts';
import { openDatabase } from '../../src/store/database.ts';
import { migrate } from '../../src/store/migrate.ts';

const bin = fileURLToPath(new URL('../../bin/leadsync.js', import.meta.url));

export interface Arrival {
  readonly n: number;
  readonly messageId: string;
  readonly at: number;
}

export interface Round {
  readonly title: string;
  readonly mails: number;
  readonly missing: number;
  readonly twice: number;
  /** Of the second copies, those whose Message-ID is another one, and those that were not in flight at a kill: must be 0. */
  readonly otherId: number;
  readonly notInFlight: number;
  readonly states: string;
  readonly planMs: number;
  readonly sendMs: number;
  readonly lateness: readonly number[];
  readonly displaced: number;
  readonly kills: number;
  readonly inFlight: number;
}

export async function mailServer(arrivals: Arrival[]) {
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, _session, callback) {
      let text = '';
      stream.setEncoding('latin1');
      stream.on('data', (chunk: string) => {
        if (text.length < 4_000) text += chunk;
      });
      stream.on('end', () => {
        const n = Number(/^Subject: .*?L(\d{5})/m.exec(text)?.[1] ?? -1);
        const messageId = /^Message-ID: (.*)$/im.exec(text)?.[1]?.trim() ?? '';
        arrivals.push({ n, messageId, at: Date.now() });
        callback();
      });
    },
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, port: (server.server.address() as AddressInfo).port };
}

interface RoundOptions {
  readonly title: string;
  readonly count: number;
  readonly fromNow: number;
  readonly spreadMs: number;
  readonly kills: number;
  readonly folder: string;
  readonly postgres: string;
  readonly mail: { readonly port: number };
  readonly arrivals: Arrival[];
}

export async function measure(options: RoundOptions): Promise<Round> {
  const { title, count, kills, arrivals } = options;
  await using stack = new AsyncDisposableStack();
  const database = await createDatabase(options.postgres);
  const pool = stack.adopt(openDatabase({ connectionString: database }), (opened) => opened.end());
  await migrate(pool);
  const sandbox = stack.use(await startSandbox({ leads: 0 }));
  const dues = await seed(pool, sandbox, options);
  arrivals.length = 0;
  const env = await settings(options, sandbox, database);
  const started = performance.now();
  let worker = startWorker(env, options.folder);
  await worker.ready;
  const planMs = performance.now() - started;
  // Mails leave as soon as their queue is worked on, shortly before it says that it is ready.
  const readyAt = arrivals[0]?.at ?? Date.now();
  const inFlight = new Set<number>();
  const open = async (): Promise<number> => {
    const { rows } = await pool.query<{ count: number }>(
      `select count(*)::int as count from mails where state in ('scheduled', 'sending')`,
    );
    return rows[0]?.count ?? 0;
  };
  for (let kill = 0; kill < kills; kill++) {
    const enough = Math.floor((count * (kill + 0.5)) / kills);
    while (arrivals.length < enough) await sleep(5);
    worker.child.kill('SIGKILL');
    await once(worker.child, 'exit');
    const { rows } = await pool.query<{ company: string }>(
      // The minutes pass for which those that were cut off are left alone.
      `update mails m set updated_at = m.updated_at - interval '10 minutes' from pairs p
       where m.state = 'sending' and p.connection = m.connection and p.lead_id = m.lead_id
       returning p.base->>'companyName' as company`,
    );
    for (const { company } of rows) inFlight.add(Number(company.slice(1, 6)));
    worker = startWorker(env, options.folder);
    await worker.ready;
  }
  for (let left = await open(); left > 0; left = await open()) await sleep(200);
  worker.child.kill('SIGTERM');
  await once(worker.child, 'exit');

  const { rows } = await pool.query<{ states: string }>(
    `select string_agg(state || ' ' || n, ', ') as states from (select state, count(*) as n from mails group by 1) s`,
  );
  const ids = new Map<number, string>();
  let [twice, otherId, notInFlight] = [0, 0, 0];
  const lateness: number[] = [];
  for (const { n, messageId, at } of arrivals) {
    const known = ids.get(n);
    if (known !== undefined) twice++;
    else lateness.push(at - Math.max(dues[n] ?? 0, options.fromNow < 0 ? readyAt : 0));
    if (known !== undefined && known !== messageId) otherId++;
    if (known !== undefined && !inFlight.has(n)) notInFlight++;
    if (known === undefined) ids.set(n, messageId);
  }
  const begin = options.spreadMs > 0 ? Math.min(...dues) : readyAt;
  return {
    title,
    mails: arrivals.length,
    missing: count - ids.size,
    twice,
    otherId,
    notInFlight,
    states: rows[0]?.states ?? '',
    planMs,
    sendMs: Math.max(...arrivals.map(({ at }) => at)) - begin,
    lateness: lateness.toSorted((a, b) => a - b),
    displaced: Math.max(...arrivals.map(({ n }, index) => Math.abs(n - index))),
    kills,
    inFlight: inFlight.size,
  };
}

async function createDatabase(postgres: string): Promise<string> {
  const client = new pg.Client({ connectionString: postgres });
  await client.connect();
  const database = `bench_${Date.now()}`;
  await client.query(`create database ${database}`);
  await client.end();
  const url = new URL(postgres);
  url.pathname = `/${database}`;
  return url.href;
}

export function name(n: number): string {
  return `L${String(n).padStart(5, '0')}`;
}

/** Leads on both sides, in step, and a sync that says so. Returns when each is due, in the order of their numbers. */
async function seed(
  pool: pg.Pool,
  sandbox: Sandbox,
  { count, fromNow, spreadMs }: RoundOptions,
): Promise<readonly number[]> {
  const now = Date.now();
  const step = spreadMs > 0 ? spreadMs / count : 1;
  const dues = Array.from({ length: count }, (_, n) => Math.floor(now + fromNow + n * step));
  const leads = dues.map((due, n) => ({
    companyName: `${name(n)} GmbH`,
    segment: 'smb',
    city: 'Ulm',
    region: 'BW',
    stage: 'new',
    nextFollowUpAt: new Date(due).toISOString(),
  }));
  const ids = leads.map((lead) => sandbox.leads.add(lead).id);
  await pool.query(
    `insert into pairs (connection, lead_id, base) select 'main', * from unnest($1::text[], $2::jsonb[])`,
    [ids, leads.map((lead) => JSON.stringify(lead))],
  );
  await pool.query(
    `insert into runs (connection, mode, status, phase, base_url, settings_hash, finished_at)
     values ('main', 'sync', 'succeeded', 'finish', $1, 'bench', now())`,
    [sandbox.url],
  );
  await pool.query('analyze');
  return dues;
}

async function settings(
  { folder, mail }: RoundOptions,
  sandbox: Sandbox,
  database: string,
): Promise<NodeJS.ProcessEnv> {
  const main = {
    leads: { baseUrl: sandbox.url, apiKey: '${LEADS_API_KEY}' },
    target: { type: 'workbook', path: './leads.csv' },
    sync: { schedule: '0 0 1 1 *' },
    reminders: { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'UTC' },
  };
  await writeFile(join(folder, 'leadsync.yaml'), JSON.stringify({ connections: { main } }));
  return {
    // oxlint-disable-next-line node/no-process-env -- to find programs by
    PATH: process.env['PATH'],
    HOME: folder,
    LEADS_API_KEY: sandbox.apiKey,
    DATABASE_URL: database,
    DATA_DIR: join(folder, 'data'),
    SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
    PORT: '0',
  };
}

function startWorker(env: NodeJS.ProcessEnv, cwd: string) {
  const profile = process.argv.includes('--cpu-prof')
    ? ['--cpu-prof', '--cpu-prof-dir=/tmp/leadsync-prof']
    : [];
  const child = spawn(process.execPath, [...profile, bin, 'worker'], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const ready = new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text;
      if (log.includes('"worker is ready"')) resolve();
    });
    child.once('exit', () => reject(new Error(log)));
  });
  return { child, ready };
}
