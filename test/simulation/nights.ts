import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { SandboxBehaviour, SandboxOptions } from '../../src/sandbox/options.ts';
import { parseFaults } from '../../src/sandbox/parse-faults.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import { judge } from './judge.ts';
import type { Fate } from './life.ts';
import { type Customs, People } from './people.ts';
import { World } from './world.ts';

/** Kinds of trouble, to be added one after the other. */
export const troubles = [
  'answers',
  'meanwhile',
  'faults',
  'crashes',
  'deletes',
  'policies',
  'twins',
  'leases',
] as const;
export type Trouble = (typeof troubles)[number];

export interface Verdict {
  readonly nights: number;
  readonly faults: readonly string[];
  readonly trace: readonly string[];
  readonly heldRows: number;
}

/** Some nights in one world that the seed makes. */
export async function simulate(
  server: string,
  seed: number,
  nights: number,
  on: ReadonlySet<Trouble>,
): Promise<Verdict> {
  const random = createRandom(seed, 'world');
  const trace: string[] = [];
  const note = (event: string): void => void trace.push(event);
  const answers = on.has('answers') ? randomAnswers(random) : {};
  const policies = on.has('policies')
    ? {
        onConflict: random.pick(['hold', 'leads-win', 'target-wins']),
        onLeadDeleted: random.pick(['mark', 'keep', 'remove']),
        onRowDeleted: random.pick(['restore', 'ignore', 'delete-lead']),
      }
    : {};
  note(`answers ${JSON.stringify(answers)} policies ${JSON.stringify(policies)}`);
  await using world = await World.open({
    server,
    name: `sim_${process.pid}_${seed}_${Date.now()}`,
    sandbox: { seed, ...answers },
    sync: policies as never,
    statusColumn: random.below(2) === 0,
    trace: note,
  });
  const people = new People(random, world.sandbox, world.sheet, note);
  const customs = randomCustoms(random, on);
  const fail = (faults: readonly string[], done: number): Verdict => ({
    nights: done,
    faults,
    trace,
    heldRows: people.heldRows,
  });

  for (let count = 4 + random.below(14); count > 0; count--)
    people.do({ weights: { ...none, 'add-lead': 1 } }, 'beginning');
  for (let night = 0; night < nights; night++) {
    people.night = night;
    note(`--- night ${night}`);
    for (let count = random.below(12); count > 0; count--) people.do(customs, 'day');
    const problem = await oneNight(world, people, customs, random, on, note);
    if (problem !== null) return fail([problem], night);
    people.tidy();
    world.sandbox.set({ faults: [], ...(answers.order === 'random-per-request' && { order: 'random' }) });
    const unquiet = await comeToRest(world, note);
    if (unquiet !== null) return fail([unquiet, ...(await judge(world, people))], night);
    const faults = await judge(world, people);
    if (faults.length > 0) return fail(faults, night);
    if (answers.order !== undefined) world.sandbox.set({ order: answers.order });
  }
  return fail([], nights);
}

async function oneNight(
  world: World,
  people: People,
  customs: Customs,
  random: Random,
  on: ReadonlySet<Trouble>,
  note: (event: string) => void,
): Promise<string | null> {
  const faults = on.has('faults') ? randomFaults(random) : '';
  if (faults !== '') note(`faults ${faults}`);
  world.sandbox.set({ faults: parseFaults(faults) });
  const restless = on.has('meanwhile') && random.below(3) > 0 ? 0.005 + random.float() * 0.06 : 0;
  let budget = Number(process.env['SIM_EDITS'] ?? 1 + random.below(6));
  const tick = (when: string): void => {
    if (budget <= 0 || random.float() >= restless) return;
    budget--;
    people.do(customs, when);
  };
  const lives = 1 + (on.has('crashes') ? random.below(4) : 0) + random.below(2);
  for (let life = 0; life < lives; life++) {
    const fate = on.has('crashes') && random.below(4) > 0 ? randomFate(random, on) : null;
    const twin = on.has('twins') && random.below(4) === 0;
    const ends = await Promise.all([
      world.live(fate, tick, `life ${life}`),
      ...(twin ? [world.live(null, () => undefined, `twin of ${life}`)] : []),
    ]);
    for (const end of ends) {
      const bad = end.kind === 'finished' ? suspicious(end.run.report) : null;
      if (bad !== null) return bad;
    }
  }
  return null;
}

/** Syncs until two in a row change nothing. */
async function comeToRest(world: World, note: (event: string) => void): Promise<string | null> {
  let still = 0;
  for (let count = 0; count < 9; count++) {
    const before = snapshot(world);
    const end = await world.live(null, () => undefined, 'quiet');
    if (end.kind === 'finished') {
      const bad = suspicious(end.run.report);
      if (bad !== null) return bad;
      if (end.run.status === 'failed') return `a quiet run failed: ${JSON.stringify(end.run.report)}`;
    }
    still = snapshot(world) === before ? still + 1 : 0;
    if (still === 3) return null;
  }
  note('no rest');
  return 'nine quiet syncs do not come to rest';
}

function suspicious(report: unknown): string | null {
  const text = JSON.stringify(report);
  return /"(internal|run\.abandoned|guard\.[^"]*)"/.test(text) ? `a run reports ${text}` : null;
}

function snapshot(world: World): string {
  const { create, update, delete: deleted } = world.sandbox.stats.byRoute;
  const file = existsSync(world.sheet.path) ? readFileSync(world.sheet.path) : '';
  return `${create} ${update} ${deleted} ${createHash('sha1').update(file).digest('hex')}`;
}

const none = {
  'edit-row': 0,
  'edit-lead': 0,
  'insert-row': 0,
  'copy-row': 0,
  'copy-with-id': 0,
  sort: 0,
  'delete-row': 0,
  'add-lead': 0,
  'delete-lead': 0,
};

function randomCustoms(random: Random, on: ReadonlySet<Trouble>): Customs {
  const deletes = on.has('deletes') ? 1 : 0;
  return {
    weights: {
      'edit-row': 1 + random.below(8),
      'edit-lead': 1 + random.below(8),
      'insert-row': random.below(4),
      'copy-row': random.below(3),
      'copy-with-id': deletes * random.float() * 0.5,
      sort: random.below(2),
      'delete-row': deletes * random.below(2),
      'add-lead': random.below(3),
      'delete-lead': deletes * random.below(2),
    },
  };
}

function randomFate(random: Random, on: ReadonlySet<Trouble>): Fate {
  const how = random.pick<Fate['how']>([
    'crash-before',
    'crash-after',
    'crash-after',
    'stop',
    ...(on.has('leases') ? (['lease-stolen'] as const) : []),
  ]);
  return { at: 1 + Math.floor(random.float() ** 1.5 * 400), how };
}

function randomAnswers(random: Random): Partial<SandboxOptions> {
  const rarely = <T>(value: T, other: T): T => (random.below(5) === 0 ? value : other);
  const answers: Partial<SandboxBehaviour> = {
    createReply: random.pick(['lead', 'wrapped', 'location', 'nothing']),
    createStatus: random.pick([200, 201, 204]),
    getReply: random.pick(['lead', 'wrapped']),
    updateReply: random.pick(['lead', 'wrapped', 'nothing-204']),
    deleteStatus: random.pick([204, 200]),
    errorShape: random.pick(['flat', 'nested', 'array', 'text', 'empty']),
    invalidStatus: random.pick([400, 422]),
    maxLimit: random.pick([3, 5, 10, 200]),
    defaultLimit: random.pick([4, 50]),
    rejectLimit: random.below(3) === 0,
    order: random.pick(['created', 'created', 'random', 'random-per-request']),
    repeatItems: rarely(2, 0),
    nullFollowUp: random.pick(['null', 'absent']),
    followUpFormat: random.pick(['millis', 'seconds']),
    extraFields: random.below(2) === 0,
    ignoredFields: rarely(['region'], []),
    trimText: random.below(3) === 0,
    ...(random.below(6) === 0 && { stages: ['new', 'won', 'lost'] }),
  };
  return { ...answers, idKind: random.pick(['uuid7', 'uuid7', 'other']) };
}

function randomFaults(random: Random): string {
  const rate = (most: number): string => (random.float() * most).toFixed(3);
  const choices = [
    () => `429:rate=${rate(0.2)},retryAfter=0`,
    () => `429:once=${1 + random.below(20)},retryAfter=1`,
    () => `503:rate=${rate(0.3)}`,
    () => `lost-reply:rate=${rate(0.8)}`,
    () => `lost-reply:rate=${rate(0.8)},on=POST`,
    () => `error-after-write:rate=${rate(0.6)}`,
    () => `unfinished:rate=${rate(0.3)}`,
    () => `not-json:rate=${rate(0.3)},on=POST+PATCH`,
    () => `moving:rate=${rate(1)}`,
    () => `expired-cursor:once=${1 + random.below(6)}`,
    () => `reset:rate=${rate(0.3)}`,
    () => `422:rate=${rate(0.2)},on=POST+PATCH`,
    () => `404:rate=${rate(0.1)},on=PATCH`,
  ] as const;
  const picked = new Set<string>();
  for (let count = random.below(4); count > 0; count--) picked.add(random.pick(choices)());
  return [...picked].join(';');
}
