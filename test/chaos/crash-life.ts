import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { pino } from 'pino';
import type { ConnectionConfig, WorkbookConfig } from '../../src/config/config.ts';
import { Secret } from '../../src/config/secret.ts';
import { defaultFields } from '../../src/core/lead/mapping.ts';
import { LeadsClient } from '../../src/leads-api/leads-client.ts';
import type { Run, RunMode } from '../../src/store/runs.ts';
import { createThrottle } from '../../src/store/services.ts';
import type { SyncContext } from '../../src/sync/context.ts';
import { systemClock } from '../../src/ports/clock.ts';
import { advanceRun } from '../../src/sync/run.ts';
import { createWorkbookTarget } from '../../src/targets/file/workbook-target.ts';
import type { CrashPoints } from './crash-points.ts';

/** What a process needs to work in a world; plain data, so that it can be handed to a child. */
export interface LifeOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Of the file, or its address. */
  readonly path: string;
  readonly dataDir: string;
  readonly sync: Partial<ConnectionConfig['sync']>;
  /** Default: a sync. */
  readonly mode?: RunMode;
}

const connectionName = 'main';

/** How long a run may take here (ms). */
const patienceMs = 30_000;

/** Takes a run of the connection from its beginning, or from where the one before died, to its end. */
export async function live(
  options: LifeOptions,
  pool: pg.Pool,
  points: CrashPoints | null = null,
): Promise<Run> {
  await using stack = new AsyncDisposableStack();
  const seen = points === null ? pool : points.pool(pool);
  const connection = connectionOf(options);
  const { baseUrl, apiKey, query } = connection.leads;
  const throttle = createThrottle(seen, baseUrl, apiKey.reveal(), systemClock);
  const leads = stack.use(new LeadsClient({ baseUrl, apiKey, query, throttle }));
  const target = await createWorkbookTarget(
    { ...targetOf(options), fields: connection.fields },
    { dataDir: options.dataDir, msgraph: {}, msgraphUrl: 'http://127.0.0.1:9' },
  );
  const context: SyncContext = {
    connection,
    pool: seen,
    leads: points === null ? leads : points.leads(leads),
    target: points === null ? target : points.target(target),
    log: pino({ level: 'silent' }),
    clock: systemClock,
  };
  const { mode = 'sync' } = options;
  const request = { mode, allow: ['other-service', 'first-leads'], maxAttempts: 4 } as const;
  for (const until = Date.now() + patienceMs; Date.now() < until; ) {
    const result = await advanceRun(context, request, new AbortController().signal);
    if (result.kind === 'finished') return result.run;
    if (result.why === 'settling') await letPass(pool, result.afterMs);
    else if (result.why === 'throttled') await sleep(result.afterMs);
    // Postgres needs a moment to see that the process before is gone.
    else if (result.why === 'busy') await sleep(5);
  }
  throw new Error('the run does not end');
}

/** The attempts to create become so much older: the same as waiting. */
async function letPass(pool: pg.Pool, ms: number): Promise<void> {
  if (ms === 0) return;
  await pool.query(
    `update actions set attempted_at = attempted_at - ($1 + 50) * interval '1 ms' where intent is not null`,
    [ms],
  );
}

function targetOf({ path }: LifeOptions): WorkbookConfig {
  return { type: 'workbook', path, idColumn: 'Lead ID', statusColumn: 'Status', timeZone: 'UTC' };
}

function connectionOf(options: LifeOptions): ConnectionConfig {
  const { baseUrl, apiKey, sync } = options;
  const noLimit = { amount: 100_000, percent: false };
  return {
    name: connectionName,
    leads: { baseUrl, apiKey: new Secret(apiKey), pageSize: 5, query: {} },
    target: targetOf(options),
    fields: defaultFields,
    retentionDays: 90,
    timeZone: 'UTC',
    sync: {
      schedule: '0 2 * * *',
      timeZone: 'UTC',
      direction: 'two-way',
      onConflict: 'hold',
      onFirstSync: 'hold',
      onLeadDeleted: 'mark',
      onRowDeleted: 'restore',
      proveAfter: 0,
      match: 'off',
      matchBy: ['companyName', 'city'],
      limits: { maxDeletes: noLimit, maxChanges: noLimit },
      ...sync,
    },
  };
}
