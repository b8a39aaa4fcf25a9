import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { kinds, kindsFor } from './rounds/kinds.ts';
import { playRound, type Verdict } from './rounds/round.ts';
import type { World } from './rounds/world.ts';
import { createRandom } from '../../src/demo/random.ts';
import bundleCli from '../support/bundled-cli.ts';

const { values } = parseArgs({
  options: {
    /** So long is a next round begun. */
    minutes: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '1000000' },
    /** Of the first round; the next ones count on. */
    seed: { type: 'string', default: '1' },
    /** Where the jobs are: postgres or redis; else in turn. */
    backend: { type: 'string' },
    workers: { type: 'string', default: '3' },
    /** Kinds of chaos, with commas; else all. */
    kinds: { type: 'string' },
    /** Kinds that are left out, with commas. */
    without: { type: 'string', default: '' },
    /** Lines are appended to it. */
    log: { type: 'string' },
    keepGoing: { type: 'boolean', default: false },
  },
});

const without = values.without.split(',');
const wanted = values.kinds?.split(',') ?? Object.keys(kinds);
const unknown = [...wanted, ...without].filter((name) => name !== '' && kinds[name] === undefined);
if (unknown.length > 0)
  throw new Error(`no chaos ${unknown.join(', ')}; there are ${Object.keys(kinds).join(', ')}`);

const backends = ['redis', 'postgres'] as const;
let world: World | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    // Mounts and servers would outlive us.
    const gone = world?.[Symbol.asyncDispose]() ?? Promise.resolve();
    void gone.finally(() => process.exit(130));
  });

// vitest makes the bundle before its tests; here nobody does, and workers would run older sources.
await bundleCli();
const end = Date.now() + Number(values.minutes) * 60_000;
const verdicts: Verdict[] = [];
for (let nth = 0; nth < Number(values.rounds) && Date.now() < end; nth++) {
  const seed = Number(values.seed) + nth;
  const random = createRandom(seed, 'round');
  const backend = backends.find((name) => name === values.backend) ?? backends[seed % 2] ?? 'postgres';
  const only = kindsFor(backend).filter((name) => wanted.includes(name) && !without.includes(name));
  const verdict = await playRound({
    seed,
    backend,
    workers: Number(values.workers),
    connections: 2 + random.below(2),
    seconds: 30 + random.below(60),
    pace: 1,
    script: null,
    only,
    opened: (opened) => (world = opened),
  });
  verdicts.push(verdict);
  tell(describe(verdict));
  if (verdict.faults.length > 0 && !values.keepGoing) break;
}
tell(summary());
// Connections to servers that were killed would keep it.
process.exit(verdicts.some(({ faults }) => faults.length > 0) ? 1 : 0);

function tell(text: string): void {
  console.log(text);
  if (values.log !== undefined) appendFileSync(values.log, `${text}\n`);
}

function describe({ seed, backend, faults, excused, chaoses, counts, folder }: Verdict): string {
  const numbers = Object.entries(counts).map(([name, number]) => `${number} ${name}`);
  return [
    `${new Date().toISOString()} seed ${seed}, jobs in ${backend}: ${faults.length === 0 ? 'good' : 'FAILED'}; ${numbers.join(', ')}; ${chaoses.length} chaoses: ${chaoses.join(', ')}`,
    ...excused.map((text) => `  limit: ${text}`),
    ...faults.map((text) => `  FAULT ${text}`),
    ...(folder === null
      ? []
      : [
          `  events and output: ${folder}; again: npm run chaos -- --backend ${backend} --seed ${seed} --rounds 1`,
        ]),
  ].join('\n');
}

function summary(): string {
  const sum = (of: (verdict: Verdict) => number): number => verdicts.reduce((all, one) => all + of(one), 0);
  const byKind = Map.groupBy(
    verdicts.flatMap(({ chaoses }) => chaoses),
    (name) => name,
  );
  const failed = verdicts.filter(({ faults }) => faults.length > 0).map(({ seed }) => seed);
  return [
    `${verdicts.length} rounds, ${sum(({ counts }) => counts.seconds)} s: ${failed.length} failed ${failed.join(' ')}`,
    `  ${sum(({ counts }) => counts.edits)} edits, ${sum(({ counts }) => counts.syncs)} syncs, ${sum(({ counts }) => counts.requests)} requests, ${sum(({ counts }) => counts.throttled)} throttled, ${sum(({ counts }) => counts.due)} leads fell due, ${sum(({ counts }) => counts.mails)} mails, ${sum(({ excused }) => excused.length)} of them again, as README says`,
    ...[...byKind].map(([name, all]) => `  ${String(all.length).padStart(5)} ${name}`),
  ].join('\n');
}
