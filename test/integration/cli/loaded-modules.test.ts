import { expect, test } from 'vitest';
import { agreeSchedules } from '../../../src/store/connections.ts';
import { migrate, migrateLock } from '../../../src/store/migrate.ts';
import { Workspace } from '../../support/workspace.ts';

const hooks = `import { registerHooks } from 'node:module';
  registerHooks({ load(url, context, next) { process.stderr.write('loaded ' + url + '\\n'); return next(url, context); } });`;

/** What only some need costs all others time when it is loaded. */
test.each([
  ['--help', ['commander'], ['pg', 'zod', 'yaml']],
  [
    'status',
    ['pg'],
    ['bullmq', 'undici', 'nodemailer', 'liquidjs', 'pino', 'cron-parser', 'luxon', 'temporal-polyfill'],
  ],
  [
    'plan',
    ['pg', 'undici'],
    ['bullmq', 'cron-parser', 'nodemailer', 'liquidjs', 'google-auth-library', '@azure/msal-node', 'ioredis'],
  ],
])(
  '%s loads what it needs, and nothing of OpenTelemetry and metrics without being asked',
  async (command, needed, unneeded) => {
    await using workspace = await Workspace.open();
    const { pool } = workspace.database;
    await migrate(pool);
    // As the worker leaves it.
    const nextRunAt = Date.now() + 86_400_000;
    await agreeSchedules(pool, 'a', [{ connection: 'main', pattern: '@daily', timeZone: 'UTC', nextRunAt }]);
    const { code, stderr } = await workspace.start(command.split(' '), {
      sources: true,
      env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}` },
    }).ended;
    expect(code).toBe(0);
    const loaded = [...stderr.matchAll(/^loaded .*node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(
      ([, name]) => name,
    );
    expect(loaded).toEqual(expect.arrayContaining(needed));
    expect(loaded.filter((name = '') => unneeded.includes(name))).toEqual([]);
    // The table is a CSV file.
    expect(stderr).not.toMatch(/^loaded .*\/xlsx-/m);
    expect(loaded.filter((name = '') => /opentelemetry|bullmq-otel|prom-client/.test(name))).toEqual([]);
  },
);

test('a start on tables that are as this version wants them changes nothing, and waits for nobody who changes some', async () => {
  await using workspace = await Workspace.open();
  const { pool } = workspace.database;
  await pool.query(
    `alter database ${new URL(workspace.database.url).pathname.slice(1)} set lock_timeout = '1s'`,
  );
  const other = await pool.connect();
  try {
    await other.query('begin');
    await other.query('select pg_advisory_xact_lock($1, $2)', [...migrateLock]);
    await other.query('lock leadsync.migrations, bullmq.migration in exclusive mode');
    await using app = await workspace.openApp();
    expect((await app.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  } finally {
    other.release(true);
  }
});
