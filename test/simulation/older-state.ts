import type { Outcome } from './copy.ts';
import { tokensIn, tokensOfState } from './judge.ts';
import { entityOf } from './tokens.ts';
import type { Kept } from './kept.ts';
import type { People } from './people.ts';
import type { SimDatabase } from './sim-database.ts';
import type { World } from './world.ts';

/** Our own database, put back to what it was on an earlier evening: both sides are newer than what they last agreed on. */
export class OlderState {
  /** The second before the first mark: then the state does not know either who it is. */
  readonly guards = ['older-state', 'other-keeper'] as const;
  readonly hasOneWay = true;
  readonly told: string;
  readonly #before: Kept;
  /** What both sides show, by company and field. */
  readonly #settled: ReadonlyMap<string, string>;
  /** The table bears a mark that the state does not know, and shows what it knows. */
  readonly #isMarked: boolean;
  #outcome: Outcome | null = null;

  private constructor(before: Kept, people: People, isMarked: boolean) {
    this.told = `the state of night ${before.night}${isMarked ? ', which the table tells' : ''}`;
    this.#before = before;
    this.#settled = new Map(people.settled);
    this.#isMarked = isMarked;
  }

  static async make(
    { sandbox, table, online }: World,
    people: People,
    database: SimDatabase,
    before: Kept,
    last: Kept,
  ): Promise<OlderState | null> {
    if (before.putBackState === null) return null;
    // Of a lead that this state does not know nobody can tell that a row without its id is the one that was made of it.
    const [headings = [], ...records] = (await table.grid()) ?? [];
    const isLoose = (record: readonly string[]): boolean =>
      record[headings.indexOf('Lead ID')] === '' &&
      entityOf(record[headings.indexOf('Company')] ?? '') !== null;
    if (records.some(isLoose)) return null;
    const known = new Set(before.leads.map(({ id }) => id));
    for (const { id, companyName } of sandbox.leads.list())
      if (!known.has(id)) people.doubled.add(entityOf(companyName) ?? '');
    const typed = await tokensOfState(database.pool, 'main');
    await before.putBackState();
    const left = new Set([
      ...(await tokensOfState(database.pool, 'main')),
      ...tokensIn(sandbox.leads.list()),
      ...tokensIn((await table.grid()) ?? []),
    ]);
    for (const token of typed) if (!left.has(token)) people.replaced.add(token);
    const { rows } = await database.pool.query<{ isKnown: boolean; pairs: boolean }>(
      `select exists (select from place_notes where jsonb_path_exists(marks, '$[*] ? (@.nonce == $nonce)', jsonb_build_object('nonce', $1::text))) as "isKnown",
         exists (select from pairs where connection = 'main' and base is not null and lead_deleted_at is null) as pairs`,
      [last.mark],
    );
    const [{ isKnown, pairs } = { isKnown: true, pairs: false }] = rows;
    // A workbook that people have saved since may have lost it.
    const keepsMark = online !== null && online.config.type === 'google-sheets';
    return new OlderState(before, people, keepsMark && last.mark !== null && !isKnown && pairs);
  }

  begins(): void {}

  taken(people: People, outcome: Outcome): void {
    this.#outcome = outcome;
    // Who edits what has changed since meets the other side's newer value: a conflict, or a first sight.
    for (const [key, value] of this.#settled) {
      if (outcome === 'silently' && this.#before.settled.get(key) === value) continue;
      people.heldFields.add(key);
      people.settled.delete(key);
    }
  }

  /** What nobody has edited tonight is as it was: the newest value of both sides. */
  judge(_: World, people: People): readonly string[] {
    if (this.#outcome === null) return [];
    if (this.#outcome === 'silently' && this.#isMarked) return [`${this.told} was not recognised`];
    const { deletedRows, deletedLeads, doubled } = people;
    return [...this.#settled].flatMap(([key, value]) => {
      const [entity = ''] = key.split('.');
      const now = people.settled.get(key);
      const isTouched =
        [deletedRows, deletedLeads, doubled].some((some) => some.has(entity)) ||
        people.edits.some((edit) => edit.night === people.night && key === `${edit.entity}.${edit.field}`);
      return isTouched || now === undefined || now === value
        ? []
        : [`${key} is ${JSON.stringify(now)} after ${this.told}, not ${JSON.stringify(value)}`];
    });
  }
}
