/**
 * How close the pace that the Leads client learns comes to what a service allows, and how many requests are answered
 * 429: simulated for 20 minutes, and the real client with Postgres against the sandbox. Writes bench/pace.md.
 *
 *     npx node bench/pace.ts [seconds of each real case; 0: only what is simulated]
 */
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Secret } from '../src/config/secret.ts';
import { LeadsyncError } from '../src/lib/errors.ts';
import { LeadsClient } from '../src/leads-api/leads-client.ts';
import { startSandbox } from '../src/demo/sandbox.ts';
import { openDatabase } from '../src/store/database.ts';
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts';
import { migrate } from '../src/store/migrate.ts';
import { createThrottle } from '../src/store/services.ts';
import { steadyClock } from '../src/ports/clock.ts';
import type { LeadsPort } from '../src/ports/leads-service.ts';
import {
  type Limit,
  limitKinds,
  playPace,
  playRateless,
  rateless,
  type Service,
} from '../test/support/play-pace.ts';

const seconds = Number(process.argv[2] ?? 90);
const goal = { ratio: 0.85, share: 0.03 };
const rates = [2, 5, 10, 20, 50];
const simulatedMs = 20 * 60_000;

const changes = { steady: 1, doubled: 2, halved: 0.5 };

const lines: string[] = [];
await writeSimulated();
writeRateless();
if (seconds > 0) await writeReal();
writeFileSync(new URL('pace.md', import.meta.url), `${lines.join('\n')}\n`);

async function writeSimulated(): Promise<void> {
  let [met, all] = [0, 0];
  const rows: string[] = [];
  for (const [kind, limitOf] of Object.entries(limitKinds)) {
    for (const [change, factor] of Object.entries(changes)) {
      const cells = rates.map((perSecond) => {
        const limitAt = (ms: number) => limitOf(ms < simulatedMs / 2 ? perSecond : perSecond * factor);
        const { ratio, share } = playPace(limitAt, simulatedMs);
        all += 1;
        const isMet = ratio >= goal.ratio && share <= goal.share;
        if (isMet) met += 1;
        return `${isMet ? '' : '**'}${ratio.toFixed(3)}, ${percent(share)}${isMet ? '' : '**'}`;
      });
      rows.push(`| ${kind} | ${change} | ${cells.join(' | ')} |`);
    }
  }
  lines.push(
    '# The pace of the Leads client',
    '',
    `\`npx node bench/pace.ts ${seconds}\`, which writes this page. Goals: at least ${goal.ratio} of what the service allows, and at most ${percent(goal.share)} of the`,
    'requests answered 429. **Bold**: missed.',
    '',
    '## Simulated, 20 minutes each',
    '',
    'One client that always has something to ask, 8 ms a request, beginning without knowledge; the limit is steady, or is doubled or halved',
    'after ten minutes. Achieved over allowed, share of 429:',
    '',
    `| limit | after 10 minutes | ${rates.map((rate) => `${rate}/s`).join(' | ')} |`,
    `|---|---|${rates.map(() => '---|').join('')}`,
    ...rows,
    '',
    `Both goals are met by ${met} of ${all}.`,
    '',
  );
}

function writeRateless(): void {
  const cases: readonly (readonly [string, (wait: number, seed: number) => Service])[] = [
    ...[3, 5, 10, 20, 50, 100].map(
      (every) => [`1 in ${every}`, (wait: number) => rateless.everyNth(every, wait)] as const,
    ),
    ...[0.02, 0.05, 0.1, 0.2].map(
      (share) =>
        [`${share * 100} %`, (wait: number, seed: number) => rateless.share(share, wait, seed)] as const,
    ),
  ];
  const rows = cases.map(([name, open]) => {
    const cells = [8, 20].flatMap((latencyMs) =>
      [1, 2].map((wait) => {
        const ratios = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map(
          (seed) => playRateless(() => open(wait, seed), simulatedMs, latencyMs).ratio,
        );
        const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
        return `${mean.toFixed(3)}, ${Math.min(...ratios).toFixed(3)}`;
      }),
    );
    return `| ${name} | ${cells.join(' | ')} |`;
  });
  lines.push(
    'A service that answers 429 whatever the rate is: answered over what a client without a pace gets, which only waits when it is told to;',
    'mean and least of 12 seeds, which differ for random shares alone:',
    '',
    '| refused | 8 ms, wait 1 s | 8 ms, 2 s | 20 ms, 1 s | 20 ms, 2 s |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  );
}

async function writeReal(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-pace-'));
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const server = stack.adopt(await startEmbeddedPostgres(folder), (one) => one.close());
  const { connectionString } = server;
  const pool = stack.adopt(openDatabase({ connectionString }), (opened) => opened.end());
  await migrate(pool);
  const cases: readonly (readonly [string, number, keyof typeof changes, number])[] = [
    ['bucket of 1 s', 5, 'steady', 1],
    ['bucket of 1 s', 20, 'steady', 1],
    ['bucket of 1 s', 20, 'steady', 2],
    ['bucket of 1 s', 20, 'doubled', 1],
    ['bucket of 1', 10, 'steady', 1],
    ['window of 10 s', 10, 'steady', 1],
    ['window of 10 s', 50, 'steady', 1],
  ];
  lines.push(
    '## The real client, Postgres and the sandbox',
    '',
    `${seconds} s each, beginning without knowledge, so that learning weighs much more than in 20 minutes; everything on one machine of two cores,`,
    'other programs running.',
    '',
    '| limit | R/s | after the half | clients | achieved over allowed | in the second half | share of 429 | early |',
    '|---|---|---|---|---|---|---|---|',
  );
  for (const [kind, perSecond, change, clients] of cases) {
    const limitOf = limitKinds[kind];
    if (limitOf === undefined) throw new Error(`there is no ${kind}`);
    const cells = await measure(connectionString, limitOf, perSecond, changes[change], clients);
    const line = `| ${kind} | ${perSecond} | ${change} | ${clients} | ${cells.join(' | ')} |`;
    lines.push(line);
    process.stderr.write(`${line}\n`);
  }
  lines.push(
    '',
    '`early`: a request that was under way when the first 429 ever came to the other client. A bucket of 1 refuses whatever comes a moment too soon, so',
    'that each unevenness of a real line costs it more than others.',
  );
}

async function measure(
  connectionString: string,
  limitOf: Limit,
  perSecond: number,
  factor: number,
  clients: number,
): Promise<readonly string[]> {
  await using stack = new AsyncDisposableStack();
  const sandbox = stack.use(await startSandbox({ leads: 1, rate: limitOf(perSecond) }));
  const { url: baseUrl, apiKey } = sandbox;
  const [id = ''] = sandbox.leads.list().map((lead) => lead.id);
  const stop = new AbortController();
  const asking = Array.from({ length: clients }, () => {
    const pool = stack.adopt(openDatabase({ connectionString }), (opened) => opened.end());
    const throttle = createThrottle(pool, baseUrl, apiKey, steadyClock);
    const clock = steadyClock;
    const leads = stack.use(
      new LeadsClient({ baseUrl, apiKey: new Secret(apiKey), query: {}, throttle, clock }),
    );
    return ask(leads, id, stop.signal);
  });
  await sleep((seconds / 2) * 1000);
  const half = sandbox.stats;
  sandbox.set({ rate: limitOf(perSecond * factor) });
  await sleep((seconds / 2) * 1000);
  const { requests, throttled, early } = sandbox.stats;
  stop.abort();
  await Promise.all(asking);
  const allowed = (seconds / 2) * perSecond;
  const answered = requests - throttled;
  const second = answered - (half.requests - half.throttled);
  return [
    (answered / (allowed + allowed * factor)).toFixed(3),
    (second / (allowed * factor)).toFixed(3),
    percent(throttled / requests),
    String(early),
  ];
}

/** Asks as fast as it may until it is stopped. */
async function ask(leads: LeadsPort, id: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await leads.get(id, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof LeadsyncError) || error.retryAfterMs === undefined) throw error;
      await sleep(error.retryAfterMs, undefined, { signal }).catch(() => {});
    }
  }
}

function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}
