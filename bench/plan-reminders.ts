/**
 * Planning the reminders of 100,000 leads: the first time, unchanged, one lead moved, other settings; and the digests.
 * On a Postgres of its own, with durable writes.
 *
 *     npx node bench/plan-reminders.ts [leads]
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultFields } from '../src/core/lead/mapping.ts';
import { planDigests } from '../src/reminders/plan/plan-digests.ts';
import { planReminders } from '../src/reminders/plan/plan-reminders.ts';
import type { ReminderRules } from '../src/config/config.ts';
import { Secret } from '../src/config/secret.ts';
import { openDatabase } from '../src/store/database.ts';
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';
import { migrate } from '../src/store/migrate.ts';
import { advanceBaselines } from '../test/support/advance-baselines.ts';

const count = Number(process.argv[2] ?? 100_000);
const rules: ReminderRules = {
  timeZone: 'Europe/Berlin',
  timeZones: {},
  dayZone: 'Europe/Berlin',
  dateOnlyAt: 8 * 60,
  before: [
    { text: '0m', days: 0, ms: 0 },
    { text: '1d', days: 1, ms: 0 },
  ],
  quietHours: { from: 20 * 60, to: 8 * 60 },
  workingDays: [1, 2, 3, 4, 5],
  graceMs: 86_400_000,
  skipStages: ['won'],
  to: ['anna@example.com'],
  channel: null,
  routes: [{ when: { region: ['BY'] }, to: ['ben@example.com'] }],
  toField: null,
  digestAt: 8 * 60,
};
const connection = (given: ReminderRules) => ({
  name: 'bench',
  sync: { match: 'off' as const },
  fields: defaultFields,
  reminders: {
    from: 'sales@example.com',
    rules: given,
    language: 'en',
    chat: null,
    calendar: false,
    calendars: [],
    leadUrl: null,
    templates: null,
  },
  leads: { baseUrl: 'http://127.0.0.1:1', apiKey: new Secret('key'), query: {}, pageSize: 0 },
});

const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
await chmod(folder, 0o755);
const server = await startEmbeddedPostgres(folder);
const pool = openDatabase({ connectionString: server.connectionString });
try {
  await migrate(pool);
  // Five minutes apart: about a year.
  await pool.query(
    `insert into pairs (connection, lead_id, base)
     select 'bench', 'lead-' || lpad(n::text, 9, '0'), jsonb_build_object('companyName', 'Company ' || n,
       'segment', 'smb', 'city', 'Berlin', 'region', (array['BY', 'BW', 'NI'])[1 + n % 3],
       'stage', (array['new', 'won', 'proposal'])[1 + n % 3], 'nextFollowUpAt',
       to_char(now() at time zone 'UTC' + n * interval '300 s', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
     from generate_series(1, $1) n`,
    [count],
  );
  await pool.query('analyze');
  const plan = (given: ReminderRules) => () => planReminders(pool, connection(given));
  await measure('first planning', plan(rules));
  await measure('unchanged', plan(rules));
  await advanceBaselines(pool, 'bench', [
    { leadId: 'lead-000000255', values: { nextFollowUpAt: '2040-12-24T10:00:00.000Z' } },
  ]);
  await measure('one lead moved', plan(rules));
  await measure('digests', () => planDigests(pool, [connection(rules)]));
  await measure('other quiet hours', plan({ ...rules, quietHours: { from: 20 * 60, to: 9 * 60 } }));
} finally {
  await pool.end();
  await server.close();
  await rm(folder, { recursive: true, force: true });
}

async function measure(what: string, work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  const seconds = ((performance.now() - began) / 1000).toFixed(2);
  process.stdout.write(`${what.padEnd(20)} ${seconds} s\n`);
}
