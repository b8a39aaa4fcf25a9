import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Lines that break the rule that imports point one way (docs/architecture.md 1), or one of the rules about who may know what. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  'src/lead/bad.ts': [
    `import { planPair } from '../merge/plan.ts';`,
    `import { readFile } from 'node:fs';`,
    `export const now = Temporal.Now.instant();`,
  ],
  'src/merge/bad.ts': [
    `import { advanceRun } from '../sync/run.ts';`,
    `import type { Queryable } from '../store/database.ts';`,
    `import { readFile } from 'node:fs';`,
    `import pg from 'pg';`,
    `export const now = Date.now();`,
    `export const chance = Math.random();`,
  ],
  'src/sync/bad.ts': [
    `import { createLeadsClient } from '../leads-api/leads-client.ts';`,
    `import type { createCsvTarget } from '../targets/workbook/csv-target.ts';`,
    `import { openTarget } from '../targets/target.ts';`,
    `import { openQueues } from '../queue/queue.ts';`,
    `import { openApp } from '../app.ts';`,
    `export const sandbox = await import('../sandbox/sandbox.ts');`,
  ],
  'src/store/bad.ts': [
    `import { advanceRun } from '../sync/run.ts';`,
    `import { connectionStatus } from '../ops/connection-status.ts';`,
    `import type { createLeadsClient } from '../leads-api/leads-client.ts';`,
    `import type { TargetPort } from '../targets/target.ts';`,
  ],
  'src/http/bad.ts': [
    `import { LeadsApiError } from '../leads-api/leads-api-error.ts';`,
    `import { LeadsyncError } from '../errors.ts';`,
  ],
  'src/leads-api/bad.ts': [
    `import { createThrottle } from '../store/throttles.ts';`,
    `import { advanceRun } from '../sync/run.ts';`,
    `import type { TargetPort } from '../targets/target.ts';`,
  ],
  'src/targets/workbook/bad.ts': [
    `import { openDatabase } from '../../store/database.ts';`,
    `import { createLeadsClient } from '../../leads-api/leads-client.ts';`,
  ],
  'src/reminders/bad.ts': [`import { advanceRun } from '../sync/run.ts';`],
  'src/alerts/bad.ts': [
    `import { advanceRun } from '../sync/run.ts';`,
    `import { createLeadsClient } from '../leads-api/leads-client.ts';`,
  ],
  'src/queue/bad.ts': [`import { advanceRun } from '../sync/run.ts';`],
  'src/ops/pages/bad.ts': [
    `import { print } from '../../cli/output.ts';`,
    `import { createCsvTarget } from '../../targets/workbook/csv-target.ts';`,
    `import type { createLeadsClient } from '../../leads-api/leads-client.ts';`,
    `import { openApp } from '../../app.ts';`,
    `import { openQueues } from '../../queue/queue.ts';`,
  ],
  'src/sandbox/bad.ts': [`import { createLeadsClient } from '../leads-api/leads-client.ts';`],
  'src/app.ts': [
    `import { sync } from './cli/sync.ts';`,
    `import { sync as job } from '../jobs/sync.ts';`,
    `import { startSandbox } from './sandbox/sandbox.ts';`,
  ],
  'jobs/bad.ts': [
    `import { print } from '../src/cli/output.ts';`,
    `import { startSandbox } from '../src/sandbox/sandbox.ts';`,
    `import { createCsvTarget } from '../src/targets/workbook/csv-target.ts';`,
  ],
  'src/cli/sync.ts': [
    `import { startSandbox } from '../sandbox/sandbox.ts';`,
    `import { createLeadsClient } from '../leads-api/leads-client.ts';`,
    `import { Queue } from 'bullmq';`,
    `import { Redis } from 'ioredis';`,
    `import { env } from 'node:process';`,
    `export const home = process.env['HOME'];`,
  ],
  'test/unit/bad.test.ts': [`import { Queue } from 'bullmq';`],
};

const allowed: Readonly<Record<string, readonly string[]>> = {
  'src/lead/good.ts': [
    `import { hash } from 'node:crypto';`,
    `import { Temporal } from 'temporal-polyfill';`,
  ],
  'src/merge/good.ts': [
    `import { sameCell } from '../lead/value.ts';`,
    `import type { Action } from './action.ts';`,
  ],
  'src/sync/good.ts': [
    `import type { TargetPort } from '../targets/target.ts';`,
    `import { guard } from '../merge/guard.ts';`,
    `import { insertRun } from '../store/runs.ts';`,
  ],
  'src/store/good.ts': [
    `import { isDatabaseOutage } from '../database-outage.ts';`,
    `import type { Throttle } from '../sync/leads-port.ts';`,
  ],
  'src/http/good.ts': [`import type { Clock } from '../sync/clock.ts';`],
  'src/leads-api/good.ts': [
    `import type { LeadsPort } from '../sync/leads-port.ts';`,
    `import { Exchange } from '../http/exchange.ts';`,
  ],
  'src/targets/workbook/good.ts': [
    `import type { TargetPort } from '../target.ts';`,
    `import { sameCell } from '../../lead/value.ts';`,
  ],
  'src/alerts/good.ts': [`import type { Clock } from '../sync/clock.ts';`],
  'src/ops/good.ts': [
    `import type { App } from '../app.ts';`,
    `import type { Queues } from '../queue/queue.ts';`,
    `import { decide } from '../sync/decide-held.ts';`,
    `import { listHeld } from '../store/held.ts';`,
    `import { syncQueue } from '../../jobs/sync.ts';`,
  ],
  'src/queue/good.ts': [
    `import { Queue } from 'bullmq';`,
    `import { Redis } from 'ioredis';`,
    `import type { RedisAddress } from '../config/redis-address.ts';`,
  ],
  'src/cli/demo.ts': [`import { startSandbox } from '../sandbox/sandbox.ts';`],
  'test/unit/good.test.ts': [`import { startSandbox } from '../../src/sandbox/sandbox.ts';`],
  'src/config/load.ts': [`export const home = process.env['HOME'];`],
};

test('lint refuses each line that breaks the rule of the layers, and no other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-imports-'));
  try {
    await copyFile(join(root, '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    for (const [path, lines] of Object.entries({ ...forbidden, ...allowed })) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), `${lines.join('\n')}\n`);
    }
    const refused = await refusedLines(folder);
    const wanted = Object.entries(forbidden).flatMap(([path, lines]) =>
      lines.map((_, index) => `${path}:${index + 1}`),
    );
    expect([...refused].toSorted()).toEqual(wanted.toSorted());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** `path:line` of what breaks a rule about imports, clocks or the environment. */
async function refusedLines(folder: string): Promise<ReadonlySet<string>> {
  const oxlint = join(root, 'node_modules/.bin/oxlint');
  const output = await new Promise<string>((resolve) => {
    execFile(oxlint, ['--format=json', '.'], { cwd: folder, maxBuffer: 2 ** 26 }, (_error, stdout) =>
      resolve(stdout),
    );
  });
  const { diagnostics } = JSON.parse(output) as { diagnostics: Diagnostic[] };
  const about = diagnostics.filter(({ code }) => /no-restricted-|no-process-env/.test(code));
  return new Set(about.map(({ filename, labels }) => `${filename}:${labels[0]?.span.line}`));
}

interface Diagnostic {
  readonly code: string;
  readonly filename: string;
  readonly labels: readonly { readonly span: { readonly line: number } }[];
}
