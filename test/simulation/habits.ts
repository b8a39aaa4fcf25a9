import { existsSync, renameSync } from 'node:fs';
import type { Random } from '../../src/sandbox/random.ts';
import type { SyncReport } from '../../src/sync/report.ts';
import { Copy, isTwoWay, type Kept, keptNow } from './copy.ts';
import { none } from './customs.ts';
import type { Trouble } from './nights.ts';
import type { People } from './people.ts';
import type { SimDatabase } from './sim-database.ts';
import { type End, otherFile, type World } from './world.ts';

/** What people do to a whole table, or to the service, at times. */
export const habits = ['restored', 'switched', 'mounted-late', 'restored-service', 'tidy'] as const;
type Habit = (typeof habits)[number];

/** What stops the runs that follow on what a person has taken for granted: it is allowed, too. */
const consequences: ReadonlySet<string> = new Set(['ids-unknown', 'rows-shuffled', 'whole-field']);

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
  readonly #kept: Kept[] = [];
  #copy: Copy | null = null;

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
    return this.#copy !== null && (guard === this.#copy.guard || consequences.has(guard));
  }

  /** In the evening, when both sides are in step. */
  async keep(): Promise<void> {
    if (this.#on.length > 0) this.#kept.push(await keptNow(this.#world, this.#people.night));
  }

  /** In the morning, before anybody works. */
  async begin(): Promise<void> {
    this.#copy = null;
    const random = this.#random;
    if (this.#on.length === 0 || random.below(2) === 0) return;
    const habit = random.pick(this.#on as readonly [Habit, ...Habit[]]);
    if (this.#world.online === null && habit === 'switched') return this.#switch();
    if (this.#world.online === null && habit === 'mounted-late') return this.#mountLate();
    if (habit === 'switched' || habit === 'mounted-late') return undefined;
    // The last one is what is there.
    const earlier = this.#kept.slice(0, -1);
    const [kept, last] = [earlier[random.below(earlier.length)], this.#kept.at(-1)];
    if (kept === undefined || last === undefined) return undefined;
    this.#copy = await Copy.make(
      habit,
      this.#world,
      this.#people,
      random,
      this.#kept.slice(this.#kept.indexOf(kept)),
    );
    if (this.#copy !== null) this.#note(`day: ${habit} ${this.#copy.told}`);
    return undefined;
  }

  /** After the night somebody reads why a run was stopped, or what is held, and decides. */
  async answer(): Promise<void> {
    const copy = this.#copy;
    if (copy === null) return;
    copy.begins(this.#people);
    const last = await this.#lastRun();
    let stopped = false;
    for (let count = 0; count < 5 && !stopped; count++) {
      const end = await this.#run([]);
      if (end.kind !== 'finished' || end.run.id <= last) continue;
      stopped = refusals(end).includes(copy.guard) || (await this.#isHeld());
      break;
    }
    if (!stopped) return copy.taken(this.#people, 'silently');
    const bringForward = 'older-copy:update';
    const allow = [copy.isByHand || this.#random.below(2) === 0 ? copy.guard : bringForward];
    for (let count = 0; count < 6; count++) {
      this.#note(`morning: sync that is allowed ${allow.join(', ')}`);
      const end = await this.#run(allow);
      if (end.kind !== 'finished' || end.run.allow.length < allow.length) continue;
      const refused = refusals(end).filter((code) => !allow.includes(code));
      // Where a side may not be written to there is one way out.
      if (refused.includes(copy.guard)) allow[0] = copy.guard;
      else if (refused.length === 0) {
        const isHeld = await this.#isHeld();
        if (isHeld && allow[0] === bringForward && !isTwoWay(this.#world)) {
          allow[0] = copy.guard;
          continue;
        }
        if (isHeld) this.faults.push(`cells of an older copy are held after ${allow.join(', ')}`);
        return copy.taken(this.#people, allow[0] === bringForward ? 'forward' : 'as edits');
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

  /** Another file for a night, while people work in the service and in the first one. */
  async #switch(): Promise<void> {
    const path = this.#world.path;
    this.#note('day: switched to another file');
    this.#world.pointAt(otherFile(path));
    await this.#work();
    for (let count = 1 + this.#random.below(2); count > 0; count--) this.#isWhole(await this.#run([]));
    this.#world.pointAt(path);
    this.#note('day: switched back');
  }

  /** The file is away for a while. */
  async #mountLate(): Promise<void> {
    const { path } = this.#world;
    if (!(await this.#isKnown())) return;
    this.#note('day: the file is away');
    renameSync(path, `${path}.away`);
    await this.#work();
    for (let count = 1 + this.#random.below(3); count > 0; count--) {
      const end = await this.#run([]);
      if (!refusals(end).includes('target-gone'))
        this.faults.push(`without the file a run ends with ${told(end)}`);
      if (existsSync(path)) this.faults.push('a file that was away was made anew');
    }
    renameSync(`${path}.away`, path);
    this.#note('day: the file is back');
  }

  async #work(): Promise<void> {
    const weights = { ...none, 'edit-lead': 4, 'edit-row': 2, 'add-lead': 1 };
    for (let count = this.#random.below(5); count > 0; count--) await this.#people.do({ weights }, 'day');
  }

  #isWhole(end: End): void {
    if (end.kind !== 'finished' || end.run.status === 'failed' || refusals(end).length > 0)
      this.faults.push(`in another file a run ends with ${told(end)}`);
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
      `select from held where connection = 'main' and code in ('row.put-back', 'lead.put-back') limit 1`,
    );
    return rows.length > 0;
  }
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
