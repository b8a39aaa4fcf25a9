import { createHash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { defaultOptions } from '../../src/demo/options.ts';
import { parseFaults } from '../../src/demo/faults.ts';
import { createRandom, type Random } from '../../src/demo/random.ts';
import {
  type Customs,
  fateAtRequest,
  type Format,
  none,
  randomAnswers,
  randomCustoms,
  randomFate,
  randomSettings,
} from './customs.ts';
import { Branch } from './branch.ts';
import { Habits, habits } from './habits.ts';
import { judge } from './judge.ts';
import type { Fate } from './life.ts';
import { heldNow, isCounting, suspicious, unexplained } from './look-at-end.ts';
import { PausedRows } from './paused-rows.ts';
import { People } from './people.ts';
import { SimClock } from './sim-clock.ts';
import type { SimDatabase } from './sim-database.ts';
import { World } from './world.ts';
import { randomFaults } from './random-faults.ts';

/** Kinds of trouble, to be added one after the other. */
export const troubles = [
  'answers',
  'meanwhile',
  'faults',
  'crashes',
  'deletes',
  'policies',
  'directions',
  'filters',
  'xlsx',
  'sheets',
  'sheets-faults',
  'open-files',
  'twins',
  'leases',
  'cut-files',
  'merged-cells',
  'broken-ids',
  'cleared-ids',
  'recased-ids',
  'notes',
  'merged-companies',
  'shifted-cells',
  'stray-quotes',
  'moved-rows',
  'paused-rows',
  ...habits,
] as const;
/**
 * `quick`: by day, too, a sync every five minutes, while people cut rows and paste them later.
 * `restless`: many edits of few rows within seconds, among them of what a create in doubt is recognised by; not part of
 * the usual nights, for then nobody can tell which lead was made of which row (docs/guarantees.md, 3, limit).
 */
export type Trouble = (typeof troubles)[number] | 'restless' | 'quick';

export interface Verdict {
  readonly seed: number;
  /** Nights that ended well. */
  readonly nights: number;
  readonly faults: readonly string[];
  readonly trace: readonly string[];
  /** Of every operation with its time, and of the trace: the same for the same seed. */
  readonly digest: string;
  readonly heldRows: number;
}

/** How a world is played. */
export interface Play {
  /** Where the table may lie meanwhile. */
  readonly folder?: string;
  /** Of the table, whatever chance would say. */
  readonly format?: Format;
}

/** What there is to say of a world that failed: the line that repeats it, what is wrong, and the end of the trace. */
export function tell(
  { seed, faults, trace }: Verdict,
  nights: number,
  on: readonly Trouble[],
  lines: number,
  format?: Format,
): string {
  const forced = format === undefined ? '' : ` --format ${format}`;
  const repeat = `npm run simulate -- --seed ${seed} --each ${nights} --nights ${nights} --with ${on.join(',')}${forced}`;
  const [settings = '', ...rest] = trace;
  return [repeat, ...faults.slice(0, 8).map((fault) => `  ${fault}`), settings, ...rest.slice(-lines)].join(
    '\n',
  );
}

/** Some nights in one world that the seed makes. */
export async function simulate(
  database: SimDatabase,
  seed: number,
  nights: number,
  on: ReadonlySet<Trouble>,
  { folder = tmpdir(), format }: Play = {},
): Promise<Verdict> {
  const random = createRandom(seed, 'world');
  const clock = new SimClock(createRandom(seed, 'clock'));
  const trace: string[] = [];
  const digest = createHash('sha1');
  const note = (event: string): void => {
    trace.push(event);
    digest.update(event);
  };
  const answers = on.has('answers') ? randomAnswers(random) : {};
  const settings = randomSettings(random, on, format ?? null, answers);
  note(
    `answers ${JSON.stringify(answers)} settings ${JSON.stringify({ ...settings, fields: settings.fields.map(({ direction }) => direction).join(' ') })}`,
  );
  await using world = await World.open({
    database,
    folder,
    clock,
    random: createRandom(seed, 'turns'),
    sandbox: { seed, ...answers },
    ...settings,
    pauseColumn: on.has('paused-rows'),
    trace: note,
    heard: (operation) => void digest.update(`${operation} ${clock.now()}`),
  });
  const { order, maxLimit, defaultLimit } = { ...defaultOptions, ...answers };
  const pauses = new PausedRows(createRandom(seed, 'pauses'), world, () => clock.now(), note);
  const table = pauses.watch(world.table);
  const people = new People(random, world.sandbox, table, note);
  people.pauses = pauses;
  const { online } = world;
  const customs = online?.habits(randomCustoms(random, on)) ?? randomCustoms(random, on);
  const habit = new Habits(createRandom(seed, 'habits'), on, world, people, database, note);
  const branch = settings.hasBranch ? new Branch(world) : null;
  people.branch = branch;
  people.openStage = world.openStage;
  const scene: Scene = { database, world, branch, people, habit, customs, random, clock, on, note };
  let done = 0;
  let faults: readonly string[] = [];
  // Where cells are shifted, there are enough rows for anybody to see it.
  for (let count = 4 + random.below(14) + (settings.isLong ? 12 : 0); count > 0; count--)
    await people.do({ weights: { ...none, 'add-lead': 1 } }, 'beginning');
  while (done < nights && faults.length === 0) {
    people.night = done;
    note(`--- night ${done}`);
    await pauses.begin(table);
    if (!pauses.isAny) await habit.begin();
    else habit.rest();
    for (let count = random.below(12); count > 0; count--) await people.do(customs, 'day');
    if (on.has('quick')) faults = await quickDay(scene);
    if (faults.length === 0) faults = await oneNight(scene);
    if (faults.length > 0) break;
    online?.recover();
    await people.putRight();
    world.sandbox.set({ ...calm, ...(answers.order === 'random-per-request' && { order: 'random' }) });
    await habit.answer();
    faults = await comeToRest(scene);
    faults = [
      ...faults,
      ...people.faults,
      ...people.mishaps.faults,
      ...(branch?.faults ?? []),
      ...(await judge(world, people, database.pool)),
      ...habit.judge(),
      ...(await pauses.judge()),
    ];
    if (!pauses.isAny) await habit.keep();
    world.sandbox.set({ order, maxLimit, defaultLimit });
    clock.pass(20 * 3_600_000);
    if (faults.length === 0) done++;
  }
  if (faults.length > 0) trace.push(...(await heldNow(database)));
  return {
    seed,
    nights: done,
    faults,
    trace,
    digest: digest.digest('hex'),
    heldRows: people.heldRows,
  };
}

interface Scene {
  readonly database: SimDatabase;
  readonly world: World;
  readonly branch: Branch | null;
  readonly people: People;
  readonly habit: Habits;
  readonly customs: Customs;
  readonly random: Random;
  readonly clock: SimClock;
  readonly on: ReadonlySet<Trouble>;
  readonly note: (event: string) => void;
}

/** Answers in which a sync is quick. */
const calm = { faults: [], maxLimit: 200, defaultLimit: 200 };

const nobody = (): Promise<void> => Promise.resolve();

/** Two hours of syncs every five minutes. What is cut is pasted by then: long before a delete is proven. */
async function quickDay({ world, people, habit, customs, random, clock }: Scene): Promise<string[]> {
  for (let run = 0; run < 24; run++) {
    clock.pass(300_000);
    if (random.below(4) === 0) await people.do(customs, 'between two syncs');
    // A CRM has no clipboard for records.
    const hasClipboard = world.connection.target.type !== 'hubspot';
    if (hasClipboard && random.below(6) === 0) await people.cutOrPaste();
    const ends = await world.live([{ name: `quick ${run}`, fate: null, tick: nobody }]);
    const bad = ends.flatMap((end) => suspicious(end, people.mishaps.isFixed, habit));
    if (bad.length > 0) return bad;
  }
  await people.paste();
  return [];
}

async function oneNight({
  world,
  branch,
  people,
  habit,
  customs,
  random,
  clock,
  on,
  note,
}: Scene): Promise<string[]> {
  const faults = on.has('faults') ? randomFaults(random) : '';
  if (faults !== '') note(`faults ${faults}`);
  world.sandbox.set({ faults: parseFaults(faults) });
  const { online } = world;
  const told = on.has('sheets-faults') ? (online?.fail(random) ?? null) : null;
  if (told !== null) note(`faults of the table ${told}`);
  const restless = on.has('meanwhile') && random.below(3) > 0 ? 0.005 + random.float() * 0.06 : 0;
  let budget = on.has('restless') ? 40 : 1 + random.below(6);
  // Between requests to a table that a service keeps, of which there are far fewer.
  const hasty = online !== null && restless > 0 ? random.float() : 0;
  let hastyBudget = online === null ? 0 : 1 + random.below(6);
  // A night stores a file a few times at most.
  let storingBudget = online?.file === undefined || !on.has('meanwhile') ? 0 : 1 + random.below(6);
  // From then on somebody has the table open in a program that locks it.
  const opens = on.has('open-files') && random.below(4) === 0 ? random.float() * 0.02 : 0;
  const tick = async (when: string): Promise<void> => {
    if (opens > 0 && random.float() < opens && world.openInEditor()) note(`${when}: the table is opened`);
    const moment = online?.now ?? null;
    if (online !== null && moment !== null) {
      const { kind } = moment;
      if (kind === 'storing') {
        if (storingBudget <= 0 || random.below(4) === 0) return;
        storingBudget--;
      } else {
        if (hastyBudget <= 0 || random.float() >= hasty * (kind === null ? 0.08 : 0.6)) return;
        hastyBudget--;
      }
      return people.do(kind === null ? customs : online.atOnce(customs, moment), when);
    }
    if (budget <= 0 || random.float() >= restless) return;
    budget--;
    await people.do(customs, when);
  };
  const lives = 1 + (on.has('crashes') ? random.below(4) : 0) + random.below(2);
  for (let life = 0; life < lives; life++) {
    const fate = on.has('crashes') && random.below(4) > 0 ? fateOf(random, on, online !== null) : null;
    const twin = on.has('twins') && random.below(4) === 0;
    const ends = await world.live([
      { name: `life ${life}`, fate, tick },
      ...(twin ? [{ name: `twin of ${life}`, fate: null, tick: nobody }] : []),
    ]);
    const bad = ends.flatMap((end) => suspicious(end, people.mishaps.isFixed, habit));
    if (bad.length > 0) return bad;
    if (random.below(2) === 0) await branch?.sync();
    world.closeInEditor();
    clock.pass(random.below(4) === 0 ? untilSettled : random.below(120_000));
  }
  await branch?.sync();
  return [];
}

function fateOf(random: Random, on: ReadonlySet<Trouble>, isOnline: boolean): Fate {
  const fate = randomFate(random, on);
  return isOnline && random.below(3) === 0 ? fateAtRequest(random, fate) : fate;
}

/** After it (ms) a service shows its last change everywhere: a table that says that it has not moved is not read. */
const untilSettled = 11 * 60_000;

/** Syncs until nothing changes any more. */
async function comeToRest({ world, branch, people, habit, database, clock }: Scene): Promise<string[]> {
  const { rows } = await database.pool.query<{ last: number }>(
    'select coalesce(max(id), 0) as last from runs',
  );
  const begunBefore = rows[0]?.last ?? 0;
  for (let count = 0; count < 3; count++) await branch?.sync();
  let still = 0;
  for (let count = 0; count < 9; count++) {
    const before = snapshot(world);
    clock.pass(untilSettled);
    const [end] = await world.live([{ name: 'quiet', fate: null, tick: nobody }]);
    if (end === undefined) continue;
    // Between the writes and the receipt of a run that goes on somebody may have deleted what was written.
    const isOlder = end.kind === 'finished' && end.run.id <= begunBefore;
    const bad = [
      ...suspicious(end, isOlder && people.mishaps.hadAny, habit),
      ...(isOlder ? [] : unexplained(end)),
    ];
    if (bad.length > 0) return bad;
    if (end.kind === 'finished' && end.run.status === 'failed' && !isOlder)
      return [`a quiet run failed: ${JSON.stringify(end.run.report)}`];
    still = snapshot(world) === before ? still + 1 : 0;
    if (still >= 3 || (still === 2 && !(await isCounting(database, end)))) return [];
  }
  return ['nine quiet syncs do not come to rest'];
}

function snapshot({ sandbox, table }: World): string {
  const { create, update, delete: deleted } = sandbox.stats.byRoute;
  return `${create} ${update} ${deleted} ${table.digest()}`;
}
