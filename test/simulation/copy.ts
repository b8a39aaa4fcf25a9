import { isDeepStrictEqual } from 'node:util';
import type { Random } from '../../src/demo/random.ts';
import { tokensIn } from './judge.ts';
import type { Kept } from './kept.ts';
import type { People } from './people.ts';
import { columns, entityOf, type Field, fieldNames, plainId, shown } from './tokens.ts';
import type { World } from './world.ts';

/** What was done with an older copy: nobody was asked; its values are edits; it was brought forward. */
export type Outcome = 'silently' | 'as edits' | 'forward';

/** From this number of put-back cells on, with at most a quarter as many in doubt, a run has to stop. */
const enough = 3;
const share = 4;

/** One older copy that somebody has put in the place of a side, or a few values that somebody has set back by hand. */
export class Copy {
  readonly guards: readonly ['older-copy' | 'older-service'];
  /** Values were set back one by one, so they are meant. */
  readonly hasOneWay: boolean;
  told = '';
  /** What the cells show now that showed something else in the evening, by company and field. */
  readonly #putBack = new Map<string, string>();
  /** Cells of which nobody can say what they speak for. */
  readonly #doubtful = new Set<string>();
  /** What was agreed on in the evening. */
  readonly #settled: ReadonlyMap<string, string>;
  /** Companies that the copy lacks; of those that the other side has not either nobody knows any more. */
  #missing: readonly string[] = [];
  #isNowhere: (entity: string) => boolean = () => false;
  /** The copy bears an earlier mark. */
  #isMarked = false;
  #isClear = false;
  #outcome: Outcome | null = null;

  /** A list with a filter does not tell that a lead is gone: what the copy lacks is not made again. */
  #provesNone = false;

  private constructor(guard: Copy['guards'][0], isByHand: boolean, settled: ReadonlyMap<string, string>) {
    this.guards = [guard];
    this.hasOneWay = isByHand;
    this.#settled = new Map(settled);
  }

  /** `kept`: what is put back, and all that was kept since. Null: it cannot be done here. */
  static async make(
    habit: 'restored' | 'restored-service' | 'tidy',
    world: World,
    people: People,
    random: Random,
    kept: readonly Kept[],
  ): Promise<Copy | null> {
    const [older, ...later] = kept;
    if (older === undefined) return null;
    const copy = new Copy(
      habit === 'restored-service' ? 'older-service' : 'older-copy',
      habit === 'tidy',
      people.settled,
    );
    const isDone = await (habit === 'restored'
      ? copy.#restore(world, people, random, [older, ...later])
      : habit === 'tidy'
        ? copy.#tidy(world, people, random, older)
        : copy.#restoreService(world, people, older));
    if (!isDone) return null;
    if (!copy.hasOneWay) copy.#compare(people, kept);
    return copy;
  }

  async #restore(
    { table, sandbox }: World,
    people: People,
    random: Random,
    [older, ...later]: readonly [Kept, ...Kept[]],
  ): Promise<boolean> {
    const { night, putBackTable, grid, mark } = older;
    const now = (await table.grid()) ?? [];
    // One without a row is stopped as a table that lost all of them.
    if (putBackTable === null || grid.length < 2 || isDeepStrictEqual(now, grid)) return false;
    // A row that had no id then is another story.
    if (!recordsOf(grid).every((row) => (row['Lead ID'] ?? '') !== '')) return false;
    const isMarkRestored = putBackTable(random);
    this.#isMarked = isMarkRestored && mark !== null && mark !== later.at(-1)?.mark;
    this.told = `the table of night ${night}${isMarkRestored ? ' with its mark' : ''}`;
    const after = (await table.grid()) ?? [];
    const companies = recordsOf(after).map(companyOf);
    this.#shows(companies);
    this.#keeps(companies, new Map(recordsOf(grid).map((row) => [companyOf(row).entity, companyOf(row)])));
    const leads = sandbox.leads.list();
    this.#loses(people, now, after, leads);
    const there = new Set(companies.map(({ entity }) => entity));
    this.#missing = recordsOf(now).flatMap((row) => {
      const { entity } = companyOf(row);
      return there.has(entity) ? [] : [entity];
    });
    const led = new Set(leads.map(({ companyName }) => entityOf(companyName)));
    this.#isNowhere = (entity) => !led.has(entity);
    return true;
  }

  async #restoreService(
    { sandbox, table, witness }: World,
    people: People,
    { night, leads }: Kept,
  ): Promise<boolean> {
    this.#provesNone = witness.isFiltered;
    const now = sandbox.leads.list();
    if (leads.length === 0 || isDeepStrictEqual(now, leads)) return false;
    const ids = new Set(leads.map(({ id }) => id));
    for (const { id } of now) if (!ids.has(id)) sandbox.leads.remove(id);
    for (const lead of leads) {
      if (sandbox.leads.get(lead.id) === undefined) sandbox.leads.add(lead);
      else sandbox.leads.edit(lead.id, lead);
    }
    this.told = `the service of night ${night}`;
    this.#shows(
      leads.map((lead) => ({
        entity: entityOf(lead.companyName) ?? '',
        cell: (field: Field) => lead[field] ?? '',
      })),
    );
    const grid = (await table.grid()) ?? [];
    this.#loses(people, now, leads, grid);
    const shows = new Set(recordsOf(grid).map((row) => companyOf(row).entity));
    this.#isNowhere = (entity) => !shows.has(entity);
    this.#missing = now.flatMap(({ id, companyName }) => (ids.has(id) ? [] : [entityOf(companyName) ?? '']));
    // The row of each lead stays (docs/which-is-which.md).
    const back = new Set(leads.map(({ companyName }) => entityOf(companyName)));
    for (const entity of this.#missing) if (back.has(entity)) people.remade.add(entity);
    return true;
  }

  async #tidy({ table }: World, people: People, random: Random, older: Kept): Promise<boolean> {
    const [headings = [], ...records] = (await table.grid()) ?? [];
    const [id, company] = [headings.indexOf('Lead ID'), headings.indexOf('Company')];
    const before = new Map(recordsOf(older.grid).map((row) => [plainId(row['Lead ID'] ?? ''), row]));
    const differing = records.flatMap((record) => {
      const row = record[id] === '' ? undefined : before.get(plainId(record[id] ?? ''));
      return fieldNames.flatMap((field) => {
        const [at, value] = [headings.indexOf(columns[field]), row?.[columns[field]]];
        const isOther = value !== undefined && shown(field, value) !== shown(field, record[at]);
        return isOther && !(field === 'companyName' && value === '') ? [{ record, field, at, value }] : [];
      });
    });
    for (let count = 1 + random.below(4); count > 0 && differing.length > 0; count--) {
      const [{ record, field, at, value } = { record: [], field: 'city' as const, at: 0, value: '' }] =
        differing.splice(random.below(differing.length), 1);
      people.types(record[company] ?? '', field, record[at] ?? '', value);
      record[at] = value;
      this.told += `${record[company]} ${field} ${JSON.stringify(value)}; `;
    }
    if (this.told !== '') await table.write([headings, ...records]);
    return this.told !== '';
  }

  /** What was not put back, though it has changed since: companies that are new since, and cells that show the newer value. */
  #keeps(companies: readonly Company[], before: ReadonlyMap<string, Company>): void {
    for (const { entity, cell } of companies) {
      const older = before.get(entity);
      if (older === undefined) this.#doubtful.add(entity);
      for (const field of fieldNames) {
        const [key, value] = [`${entity}.${field}`, shown(field, cell(field))];
        const isChanged = older !== undefined && shown(field, older.cell(field)) !== value;
        if (isChanged && value === this.#settled.get(key)) this.#doubtful.add(key);
      }
    }
  }

  #shows(records: readonly Company[]): void {
    for (const { entity, cell } of records)
      for (const field of fieldNames) {
        const [key, value] = [`${entity}.${field}`, shown(field, cell(field))];
        const settled = this.#settled.get(key);
        if (settled !== undefined && settled !== value) this.#putBack.set(key, value);
      }
  }

  /** What was typed and is nowhere now. */
  #loses(people: People, before: readonly object[], ...after: readonly (readonly object[])[]): void {
    const left = new Set(after.flatMap(tokensIn));
    for (const token of tokensIn(before)) if (!left.has(token)) people.replaced.add(token);
  }

  /** An empty cell may have been so at several moments; so a service's own stage. */
  #compare(people: People, kept: readonly Kept[]): void {
    const [first] = kept;
    for (const { entity, field, value, night } of people.edits)
      if (night > (first?.night ?? 0) && isCommon(shown(field, value)))
        this.#doubtful.add(`${entity}.${field}`);
    for (const [key, value] of this.#putBack)
      if (isCommon(value) || isCommon(this.#settled.get(key) ?? '')) this.#doubtful.add(key);
  }

  /** Before somebody decides: whether it was to be recognised by all that was left of it then. */
  begins(people: People): void {
    const tonight = people.edits.filter(({ night }) => night === people.night);
    for (const { entity, field } of tonight) this.#doubtful.add(`${entity}.${field}`);
    const clear = [...this.#putBack.keys()].filter((key) => !this.#doubtful.has(key) && !isGone(people, key));
    const isSeen = this.#isMarked || (clear.length >= enough && share * this.#doubtful.size <= clear.length);
    this.#isClear = clear.length > 0 && isSeen && !people.mishaps.hadAny;
  }

  /** What was decided. Of what is missing in a copy that is taken as it is everybody knows that it is gone. */
  taken(people: People, outcome: Outcome): void {
    this.#outcome = outcome;
    const { deletedRows, deletedLeads } = people;
    const deleted = this.guards[0] === 'older-copy' ? deletedRows : deletedLeads;
    for (const entity of this.#missing) {
      if (outcome !== 'forward' || this.#provesNone || deletedRows.has(entity) || deletedLeads.has(entity))
        deleted.add(entity);
      // It comes back from nowhere, and nobody misses it on the other side: a direction, or a policy, had kept it from there.
      if (this.#isNowhere(entity)) for (const side of [deletedRows, deletedLeads]) side.add(entity);
    }
    // What a mishap took from the copy, and somebody typed again, is brought forward with the rest.
    const tonight = people.edits.filter(({ night }) => night === people.night);
    const typed = new Set(
      tonight.map(({ entity, field, value }) => `${entity}.${field} ${shown(field, value)}`),
    );
    // So is a value that many cells have had: nobody can tell that it was typed.
    const common = new Set(
      tonight.flatMap(({ entity, field, value }) =>
        isCommon(shown(field, value)) ? [`${entity}.${field}`] : [],
      ),
    );
    for (const [key, older] of this.#putBack)
      if (outcome !== 'forward' || typed.has(`${key} ${older}`) || common.has(key))
        people.heldFields.add(key);
  }

  /** Whether what became of it is what was asked for. */
  judge(world: World, people: People): readonly string[] {
    if (this.hasOneWay || this.#outcome === null) return [];
    if (this.#outcome === 'silently' && this.#isClear && isTwoWay(world))
      return [`${this.told} was not recognised: ${JSON.stringify([...this.#putBack])}`];
    return [...this.#putBack].flatMap(([key, older]) => {
      const [entity = '', field = ''] = key.split('.');
      if (isGone(people, key)) return [];
      const isEdited = people.edits.some(
        (edit) => edit.night === people.night && edit.entity === entity && edit.field === field,
      );
      // A cell that was not there was no part of the copy.
      const isLost = fieldNames.some((name) => name === field && people.mishaps.wasLost(entity, name));
      const now = people.settled.get(key);
      const right = this.#outcome === 'forward' ? this.#settled.get(key) : older;
      if (isEdited || isLost || now === undefined || !isTwoWay(world, field) || now === right) return [];
      // Of what is no copy as a whole some cells may have been held, and others carried over.
      if (now === older && !this.#isClear && this.#doubtful.size > 0) return [];
      return [
        `${key} is ${JSON.stringify(now)} after ${this.told} was taken ${this.#outcome}, not ${JSON.stringify(right)}`,
      ];
    });
  }
}

/** Whether a field, or every one, goes both ways. */
export function isTwoWay({ connection }: World, name?: string): boolean {
  const fields = connection.fields.filter(({ field }) => name === undefined || field === name);
  return connection.sync.direction === 'two-way' && fields.every(({ direction }) => direction === 'two-way');
}

/** Nobody can say what is to become of a company that people have deleted, or made two of. */
function isGone({ deletedRows, deletedLeads, doubled, joined }: People, key: string): boolean {
  const entity = key.split('.')[0] ?? '';
  return [deletedRows, deletedLeads, doubled, joined].some((some) => some.has(entity));
}

function isCommon(value: string): boolean {
  return value === '' || value === 'new' || value === 'open';
}

/** What one record shows of a company. */
interface Company {
  readonly entity: string;
  readonly cell: (field: Field) => string | undefined;
}

function companyOf(row: Readonly<Record<string, string>>): Company {
  return { entity: entityOf(row['Company'] ?? '') ?? '', cell: (field) => row[columns[field]] };
}

/** But for empty ones and notes. */
function recordsOf([headings = [], ...records]: readonly (readonly string[])[]): Record<string, string>[] {
  return records
    .filter(
      (record) => record.some((cell) => cell !== '') && !record.some((cell) => cell.startsWith('note: ')),
    )
    .map((record) => Object.fromEntries(headings.map((heading, at) => [heading, record[at] ?? ''])));
}
