import type { Random } from '../../src/demo/random.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { Copy, isTwoWay } from './copy.ts';
import { none } from './customs.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { Trouble } from './nights.ts';
import { type Kept, keptNow } from './kept.ts';
import { OlderState } from './older-state.ts';
import type { People } from './people.ts';
import type { SimDatabase } from './sim-database.ts';
import type { End, World } from './world.ts';

/** What people do to a whole table, or to the service, at times. */
export const habits = [
  'restored',
  'switched',
  'mounted-late',
  'restored-service',
  'restored-state',
  'tidy',
  'changed-filters',
] as const;
type Habit = (typeof habits)[number];

/** What stops the runs that follow on what a person has taken for granted: it is allowed, too. */
const consequences: ReadonlySet<string> = new Set(['ids-unknown', 'rows-shuffled', 'whole-field']);

/** What stops a run in a place of which an older state remembers too little. */
const strange = ['guard.other-target', 'guard.older-state', 'guard.older-copy'];

const nobody = (): Promise<void> => Promise.resolve();

/** The habits of one world: at most one a day. */
export class Habits {
  readonly faults: string[] = [];
  readonly #random: Random;
  readonly #on: readonly Habit[];
  readonly #world: World;
  readonly #people: People;
  readonly #database: SimDatabase;
  readonly #note: (event: string) => void;
  #kept: Kept[] = [];
  #copy: Copy | OlderState | null = null;
  #isFiltered = false;
  /** What is remembered of other places is not what they show. */
  #hadOlderState = false;

  constructor(
    random: Random,
    on: ReadonlySet<Trouble>,
    world: World,
    people: People,
    database: SimDatabase,
    note: (event: string) => void,
  ) {
    this.#random = random;
    this.#on = habits.filter((habit) => on.has(habit));
    this.#world = world;
    this.#people = people;
    this.#database = database;
    this.#note = note;
  }

  /** Whether a run may be stopped by this, as things are. */
  expects(guard: string): boolean {
    if (this.#isFiltered && guard === 'empty-scan') return true;
    return this.#copy !== null && [...this.#copy.guards, ...consequences].includes(guard);
  }

  /** In the evening, when both sides are in step. */
  async keep(): Promise<void> {
    // Leads that the list does not show may be newer than their rows.
    if (this.#on.length === 0 || this.#isFiltered) return;
    const hasDump = this.#on.includes('restored-state');
    this.#kept.push(await keptNow(this.#world, this.#people, this.#database, hasDump));
  }

  /** A day like any other. */
  rest(): void {
    this.#copy = null;
    if (this.#isFiltered) this.#filter(false);
  }

  /** In the morning, before anybody works. */
  async begin(): Promise<void> {
    this.rest();
    const random = this.#random;
    if (this.#on.length === 0 || random.below(2) === 0) return;
    const habit = random.pick(this.#on as readonly [Habit, ...Habit[]]);
    if (habit === 'switched') return this.#switch();
    if (habit === 'mounted-late') return this.#hide();
    if (habit === 'changed-filters') return this.#filter(true);
    // The last one is what is there.
    const earlier = this.#kept.slice(0, -1);
    const [kept, last] = [earlier[random.below(earlier.length)], this.#kept.at(-1)];
    if (kept === undefined || last === undefined) return undefined;
    const since = this.#kept.slice(this.#kept.indexOf(kept));
    this.#copy =
      habit === 'restored-state'
        ? await OlderState.make(this.#world, this.#people, this.#database, kept, last)
        : await Copy.make(habit, this.#world, this.#people, random, since);
    if (this.#copy !== null) this.#note(`day: ${habit} ${this.#copy.told}`);
    // What it lacks is made again under other ids, which nothing of an earlier evening knows.
    if (this.#copy !== null && habit === 'restored-service') this.#kept = [];
    if (this.#copy instanceof OlderState) {
      this.#hadOlderState = true;
      // What came after it the state does not know any more.
      this.#kept = this.#kept.slice(0, this.#kept.indexOf(kept) + 1);
    }
    return undefined;
  }

  /** After the night somebody reads why a run was stopped, or what is held, and decides. */
  async answer(): Promise<void> {
    if (this.#isFiltered) this.#people.opens((lead) => this.#world.lists(lead));
    const copy = this.#copy;
    if (copy === null) return;
    copy.begins(this.#people);
    const last = await this.#lastRun();
    let stopped: string | null = null;
    for (let count = 0; count < 5; count++) {
      const end = await this.#run([]);
      if (end.kind !== 'finished' || end.run.id <= last) continue;
      const refused = copy.guards.find((guard) => refusals(end).includes(guard));
      stopped = refused ?? ((await this.#isHeld()) ? copy.guards[0] : null);
      break;
    }
    if (stopped === null) return copy.taken(this.#people, 'silently');
    // Whoever allows that forgets what was in step.
    if (copy instanceof OlderState) this.#kept = [];
    const bringForward = 'older-copy:update';
    const allow = [copy.hasOneWay || this.#random.below(2) === 0 ? stopped : bringForward];
    let isForward = false;
    for (let count = 0; count < 6; count++) {
      this.#note(`morning: sync that is allowed ${allow.join(', ')}`);
      const end = await this.#run(allow);
      if (end.kind !== 'finished' || end.run.allow.length < allow.length) continue;
      const refused = refusals(end).filter((code) => !allow.includes(code));
      // Where a side may not be written to there is one way out.
      if (refused.includes(stopped)) allow[0] = stopped;
      else if (refused.length === 0) {
        const isHeld = await this.#isHeld();
        isForward ||= allow[0] === bringForward;
        if (isHeld && allow[0] === bringForward && !isTwoWay(this.#world)) {
          allow[0] = stopped;
          continue;
        }
        if (isHeld) this.faults.push(`cells of an older copy are held after ${allow.join(', ')}`);
        return copy.taken(this.#people, isForward ? 'forward' : 'as edits');
      }
      allow.push(...refused.filter((code) => consequences.has(code)));
    }
    this.faults.push(`a sync that is allowed ${allow.join(', ')} does not get through`);
  }

  /** What became of an older copy, when the night has come to rest. */
  judge(): readonly string[] {
    const { faults } = this;
    return [...faults, ...(this.#copy?.judge(this.#world, this.#people) ?? [])];
  }

  /** For a day and its night the list shows leads of one stage alone. */
  #filter(isOn: boolean): void {
    this.#isFiltered = isOn;
    this.#world.filter(isOn);
    this.#note(
      isOn ? `day: the list shows leads of the stage ${this.#world.openStage}` : 'day: all leads again',
    );
  }

  /** Another table for a night, while people work in the service and in the first one. */
  async #switch(): Promise<void> {
    // Rows that people add to a table which was never synced are asked about when it becomes the table again.
    const elsewhere = (await this.#isKnown()) ? this.#world.switchAway(this.#random) : null;
    if (elsewhere === null) return;
    const { told: where, codes, back } = elsewhere;
    this.#note(`day: ${where}`);
    const mayStop = this.#hadOlderState ? [...codes, ...strange] : codes;
    await this.#work();
    for (let count = 1 + this.#random.below(2); count > 0; count--) {
      const end = await this.#run([]);
      if (!isWhole(end) && !endsWith(end, mayStop))
        this.faults.push(`${where}, and a run ends with ${told(end)}`);
    }
    back();
    this.#note('day: switched back');
  }

  /** The table is away for a while. */
  async #hide(): Promise<void> {
    const hidden: Elsewhere | null = (await this.#isKnown()) ? this.#world.hide(this.#random) : null;
    if (hidden === null) return;
    const { told: where, codes, isMadeAnew, back } = hidden;
    this.#note(`day: ${where}`);
    await this.#work();
    for (let count = 1 + this.#random.below(3); count > 0; count--) {
      const end = await this.#run([]);
      if (!endsWith(end, codes)) this.faults.push(`${where}, and a run ends with ${told(end)}`);
      if (isMadeAnew?.() === true) this.faults.push('a table that was away was made anew');
    }
    back();
    this.#note('day: it is back');
  }

  async #work(): Promise<void> {
    const weights = { ...none, 'edit-lead': 4, 'edit-row': 2, 'add-lead': 1 };
    for (let count = this.#random.below(5); count > 0; count--) await this.#people.do({ weights }, 'day');
  }

  async #run(allow: readonly string[]): Promise<End> {
    const [end] = await this.#world.live([{ name: 'morning', fate: null, tick: nobody, allow }]);
    return end ?? { kind: 'crashed' };
  }

  async #lastRun(): Promise<number> {
    const { rows } = await this.#database.pool.query<{ last: number }>(
      'select coalesce(max(id), 0) as last from runs',
    );
    return rows[0]?.last ?? 0;
  }

  async #isKnown(): Promise<boolean> {
    const { rows } = await this.#database.pool.query(
      `select from pairs where connection = 'main' and base is not null limit 1`,
    );
    return rows.length > 0;
  }

  async #isHeld(): Promise<boolean> {
    const { rows } = await this.#database.pool.query(
      `select from held where kind = 'conflict' and connection = 'main' and code in ('row.put-back', 'lead.put-back') limit 1`,
    );
    return rows.length > 0;
  }
}

/** Whether a run got through. */
function isWhole(end: End): boolean {
  return end.kind === 'finished' && end.run.status !== 'failed' && refusals(end).length === 0;
}

function endsWith(end: End, codes: readonly string[]): boolean {
  return (
    end.kind === 'finished' &&
    (end.run.report as SyncReport).problems.some(({ code }) => codes.includes(code))
  );
}

function refusals(end: End): readonly string[] {
  return end.kind === 'finished' ? guardsOf(end.run.report as SyncReport) : [];
}

/** What a guard has refused, by what allows it. */
export function guardsOf({ problems }: SyncReport): readonly string[] {
  return problems.flatMap(({ code }) => (code.startsWith('guard.') ? [code.slice('guard.'.length)] : []));
}

function told(end: End): string {
  if (end.kind === 'threw') return String(end.error);
  return end.kind === 'finished' ? JSON.stringify(end.run.report) : end.kind;
}
