import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { readBackupFile, writeBackupFile } from '../../../src/cli/backup.ts';
import { dumpState } from '../../../src/store/dump.ts';
import { advanceBaselines } from '../../support/advance-baselines.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { restoreState } from '../../../src/store/restore.ts';
import type { SyncReport } from '../../../src/sync/report.ts';
import { administrate } from '../../support/administrate.ts';
import type { CliResult } from '../../support/cli.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { Workspace } from '../../support/workspace.ts';
import { contents } from './table-contents.ts';

const leads = 40;
/** Of a report: nothing was written. */
const nothing = { created: { leads: 0, rows: 0 }, updated: { leads: 0, rows: 0 } };
const never = new AbortController().signal;

async function inStep(options: Parameters<typeof Workspace.open>[0] = {}): Promise<Workspace> {
  const here = await Workspace.open({ sandbox: { leads }, ...options });
  expect(await here.sync()).toMatchObject({ status: 'succeeded', created: { rows: leads } });
  return here;
}

async function anotherDatabase(): Promise<TestDatabase & AsyncDisposable> {
  const made = await createTestDatabase({ empty: true });
  return { ...made, [Symbol.asyncDispose]: () => made.drop() };
}

/** Runs a command with the state in another database. */
const cliOn = (here: Workspace, { url }: TestDatabase, ...args: readonly string[]): Promise<CliResult> =>
  here.start(args, { env: { DATABASE_URL: url } }).ended;

const ids = (here: Workspace): readonly string[] => here.sandbox.leads.list().map(({ id }) => id);
const written = (here: Workspace): number => here.sandbox.log.filter(({ method }) => method !== 'GET').length;
const stage = (here: Workspace, id: string): unknown =>
  here.sandbox.leads.list().find((lead) => lead.id === id)?.stage;

const type = (here: Workspace, nth: number, cells: Readonly<Record<string, string>>): void =>
  here.sheet.edit((row) => row['Lead ID'] === ids(here)[nth], cells);
const edit = (here: Workspace, nth: number, value: string): void =>
  void here.sandbox.leads.edit(ids(here)[nth] ?? '', { stage: value });

/** Else this process counts as one that works with it. */
const closeSessions = ({ url }: TestDatabase): Promise<void> =>
  administrate(
    url,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );

test('a backup restored two syncs later, or nothing at all: the next sync writes nothing and says why; once allowed no edit is reverted', async () => {
  await using here = await inStep();
  const file = join(here.folder, 'state.backup');
  expect(await here.cli('backup', file)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('only you can read it'),
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const before = String(stage(here, ids(here)[0] ?? ''));
  edit(here, 0, 'moved on');
  type(here, 1, { City: 'typed' });
  expect(await here.sync()).toMatchObject({ updated: { leads: 1, rows: 1 } });
  edit(here, 2, 'moved on');
  here.sandbox.leads.add({ companyName: 'Made since', stage: 'new' });
  expect(await here.sync()).toMatchObject({ created: { rows: 1 }, updated: { rows: 1 } });
  // As the backup has it again: without a doubt, the row would look like the edit.
  edit(here, 0, before);
  type(here, 3, { City: 'typed since' });

  const [sheet, requests] = [here.sheet.text(), written(here)];
  await using lost = await anotherDatabase();
  expect(await here.withState(lost.url).sync()).toMatchObject({ ...nothing, held: 2 });
  expect([here.sheet.text(), written(here)]).toEqual([sheet, requests]);

  await using fresh = await anotherDatabase();
  const restored = await cliOn(here, fresh, 'restore', file);
  expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('sync --allow older-state') });
  const stopped = await cliOn(here, fresh, 'sync', '--json');
  expect(stopped.code).toBe(4);
  expect(stopped.json<SyncReport>().problems).toMatchObject([
    {
      code: 'guard.older-state',
      message: expect.stringContaining('the state was restored from a backup of'),
    },
  ]);
  expect([here.sheet.text(), written(here)]).toEqual([sheet, requests]);

  const allowed = (await cliOn(here, fresh, 'sync', '--allow', 'older-state', '--json')).json<SyncReport>();
  // The lead that went back, and the cell that was typed since.
  expect(allowed).toMatchObject({ ...nothing, status: 'partial', held: 2 });
  expect([here.sheet.text(), written(here)]).toEqual([sheet, requests]);
  edit(here, 5, 'after all');
  expect((await cliOn(here, fresh, 'sync', '--json')).json()).toMatchObject({
    updated: { leads: 0, rows: 1 },
  });
});

test('a state that moves to another Postgres is the same there, row for row; its next sync writes nothing, and nothing works with the one that was left', async () => {
  await using here = await inStep();
  edit(here, 0, 'moved on');
  await here.sync();
  await here.run({ mode: 'plan' });
  const odd = 'tab\t newline\n \\. \\N "ü" 漢字 🙂';
  const { pool } = here.database;
  await pool.query(
    `update actions set written = json_build_object($1::text, json_build_object('from', null, 'to', $1::text))
     where id = (select max(id) from actions)`,
    [odd],
  );
  const unfinished = await pool.query<{ id: number }>(
    `insert into runs (connection, mode, base_url, settings_hash) values ('other', 'sync', 'x', 'x') returning id`,
  );
  const leftOut = ['migrations', 'pauses', 'run_sights', 'runs'];
  const before = await contents(pool, leftOut);
  await closeSessions(here.database);

  await using fresh = await anotherDatabase();
  const file = join(here.folder, 'moving.backup');
  expect(await here.cli('backup', file, '--move', '--json')).toMatchObject({ code: 0 });
  expect(await cliOn(here, fresh, 'restore', file, '--json')).toMatchObject({ code: 0 });
  expect(await contents(fresh.pool, leftOut)).toEqual(before);
  await closeSessions(fresh);
  expect(await cliOn(here, fresh, 'restore', file)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('usage.state-not-empty'),
  });
  const { rows: next } = await fresh.pool.query<{ id: number }>(
    `insert into runs (connection, mode, base_url, settings_hash) values ('third', 'sync', 'x', 'x') returning id`,
  );
  expect(next[0]?.id).toBe((unfinished.rows[0]?.id ?? 0) + 1);

  // What it had staged has stayed behind, so nobody may go on with it.
  const open = await fresh.pool.query('select connection, settings_hash from runs where finished_at is null');
  expect(open.rows).toEqual([
    { connection: 'other', settings_hash: '' },
    { connection: 'third', settings_hash: 'x' },
  ]);

  const requests = written(here);
  expect((await cliOn(here, fresh, 'sync', '--json')).json()).toMatchObject({
    ...nothing,
    status: 'succeeded',
  });
  expect(written(here)).toBe(requests);
  expect(await here.cli('sync')).toMatchObject({ code: 1, stderr: expect.stringContaining('state.moved') });
  await closeSessions(fresh);
  // Something has happened since, so that it is an older state like any other.
  expect(await cliOn(here, fresh, 'restore', file, '--replace')).toMatchObject({ code: 0 });
  expect(await cliOn(here, fresh, 'sync')).toMatchObject({
    code: 4,
    stdout: expect.stringContaining('older-state'),
  });
});

test('a state that somebody uses does not move away, and goes on', async () => {
  await using here = await inStep();
  const file = join(here.folder, 'moving.backup');
  await here.database.pool.query('select 1');
  await using _app = await here.openApp();
  expect(await here.cli('backup', file, '--move')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('database.in-use'),
  });
  expect(existsSync(file)).toBe(false);
  expect(await here.sync()).toMatchObject({ status: 'succeeded' });
});

test('what cannot be restored changes nothing: a state that is there, a file that is not whole, a newer one, a worker', async () => {
  await using here = await inStep();
  const { pool } = here.database;
  const path = join(here.folder, 'state.backup');
  await writeBackupFile(
    path,
    dumpState(pool, '0', () => {}),
    never,
  );
  edit(here, 0, 'moved on');
  await here.sync();
  await here.rest();
  const state = await contents(pool);
  const whole = readFileSync(path);
  const text = gunzipSync(whole).toString();
  const damaged = Buffer.from(whole);
  const middle = Math.floor(whole.length / 2);
  damaged[middle] = (damaged[middle] ?? 0) ^ 1;
  const restore = (replace = true) =>
    restoreState(
      pool,
      readBackupFile(path, () => {}),
      { replace, onProgress: () => {} },
    );

  await expect(restore(false)).rejects.toMatchObject({ code: 'usage.state-not-empty' });
  const brokenOnes: readonly (readonly [string, Buffer, string?])[] = [
    ...[0.2, 0.9, 0.999].map(
      (share) => [`cut off at ${share}`, whole.subarray(0, whole.length * share)] as const,
    ),
    ['a bit turned', damaged],
    ['no backup', readFileSync(here.sheet.path)],
    ['other lines', gzipSync('{"a":1}\n')],
    ['no lines', gzipSync(Buffer.alloc(2_000_000, 'x'))],
    ['without its end', gzipSync(text.slice(0, text.lastIndexOf('{"rows"')))],
    ['followed by something', gzipSync(`${text}more`)],
    ['a row missing', gzipSync(text.replace(/\nmain\t.*/, ''))],
    ['newer', gzipSync(text.replace('"001-baseline.sql"', '"999-later.sql"')), 'database.newer-schema'],
    ['a row that fits nowhere', gzipSync(text.replace('\nmain\t', '\nmain\tx\t')), 'database.restore-failed'],
    ['a statement for a name', gzipSync(text.replace('{"table":"', '{"table":"x; drop table y; '))],
  ];
  for (const [name, content, code = 'usage.backup-broken'] of brokenOnes) {
    writeFileSync(path, content);
    await expect(restore(), name).rejects.toMatchObject({ code });
  }
  expect(await contents(pool)).toEqual(state);
  writeFileSync(path, whole);
  expect(await restore()).toMatchObject({ doubted: ['main'], rows: { pairs: leads } });
  const restored = await contents(pool);
  const worker = await pool.connect();
  await expect(restore()).rejects.toMatchObject({ code: 'database.in-use' });
  expect(await contents(pool)).toEqual(restored);
  // A script that restores right after a command has ended is not refused.
  const again = restore();
  worker.release(true);
  expect(await again).toMatchObject({ rows: { pairs: leads } });
});

test('an older backup is brought to the schema of today, and moves of baselines are kept as ever', async () => {
  await using old = await anotherDatabase();
  const migrations = await mkdtemp(join(tmpdir(), 'leadsync-migrations-'));
  const ours = join(import.meta.dirname, '../../../src/store/migrations');
  for (const name of readdirSync(ours).filter((one) => one < '028'))
    copyFileSync(join(ours, name), join(migrations, name));
  await migrate(old.pool, migrations);
  await rm(migrations, { recursive: true });
  await old.pool.query(
    `insert into pairs (connection, lead_id, base) values ('main', 'a', '{"stage":"new"}')`,
  );
  await using fresh = await anotherDatabase();
  const dump = dumpState(old.pool, '0', () => {});
  await restoreState(fresh.pool, dump, { replace: false, onProgress: () => {} });
  expect(await migrate(fresh.pool)).toEqual([]);
  const earlier = () => fresh.pool.query('select field from earlier_values');
  expect((await earlier()).rows).toEqual([]);
  await advanceBaselines(fresh.pool, 'main', [{ leadId: 'a', values: { stage: 'won' } }]);
  expect((await earlier()).rows).toEqual([{ field: 'stage' }]);
  // A job that was left in a queue names no reminder of this state.
  const { rows } = await fresh.pool.query<{ id: number }>(
    `insert into mails (connection, kind, recipient, local_date, send_at) values ('main', 'digest', 'x', now(), now()) returning id`,
  );
  expect(rows[0]?.id).toBeGreaterThan(1_000);
});

test('a move is one for a day: after that the state is an older one as any other', async () => {
  await using old = await anotherDatabase();
  await migrate(old.pool);
  await old.pool.query(`insert into pairs (connection, lead_id, base) values ('main', 'a', '{}')`);
  const doubtedAfter = async (hours: number): Promise<readonly string[]> => {
    const aged = async function* (): AsyncGenerator<Buffer> {
      let isHeader = true;
      for await (const chunk of dumpState(old.pool, '0', () => {}, new Date().toISOString())) {
        const at = new Date(Date.now() - hours * 3_600_000).toISOString();
        yield isHeader ? Buffer.from(`${JSON.stringify({ ...JSON.parse(chunk.toString()), at })}\n`) : chunk;
        isHeader = false;
      }
    };
    await using fresh = await anotherDatabase();
    return (await restoreState(fresh.pool, aged(), { replace: false, onProgress: () => {} })).doubted;
  };
  expect([await doubtedAfter(23), await doubtedAfter(25)]).toEqual([[], ['main']]);
});

test('a backup that cannot be written whole leaves the one that was there', async () => {
  await using here = await inStep();
  const file = join(here.folder, 'state.backup');
  writeFileSync(file, 'the one before');
  await using empty = await anotherDatabase();
  expect(await cliOn(here, empty, 'backup', file)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('database.no-state'),
  });
  expect(readFileSync(file, 'utf8')).toBe('the one before');
});

test('a cold copy of the data folder, open to others and two syncs old: it is closed to them, and the next sync writes nothing', async () => {
  await using here = await Workspace.open({ sandbox: { leads }, env: { DATABASE_URL: '' } });
  const folder = join(here.folder, 'data');
  expect((await here.cli('sync')).code).toBe(0);
  cpSync(folder, `${folder}.copy`, { recursive: true });
  edit(here, 0, 'moved on');
  type(here, 1, { City: 'typed' });
  expect(await here.sync()).toMatchObject({ updated: { leads: 1, rows: 1 } });
  edit(here, 2, 'moved on');
  expect(await here.sync()).toMatchObject({ updated: { rows: 1 } });
  rmSync(folder, { recursive: true });
  renameSync(`${folder}.copy`, folder);
  chmodSync(join(folder, 'postgres', 'data'), 0o755);

  const [sheet, requests] = [here.sheet.text(), written(here)];
  const after = await here.cli('sync', '--json');
  expect(after.stderr).toContain('was open to others (mode 755)');
  expect(after.json()).toMatchObject({ ...nothing, status: 'succeeded' });
  expect([here.sheet.text(), written(here)]).toEqual([sheet, requests]);
  expect(statSync(join(folder, 'postgres', 'data')).mode & 0o777).toBe(0o700);
});
