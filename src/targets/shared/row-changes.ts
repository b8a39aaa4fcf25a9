import { idKey } from '../../core/lead/lead-id.ts';
import { headingOf, type Headings, type Words } from '../../core/lead/mapping.ts';
import type { RowStanding } from '../../core/lead/table-rows.ts';
import {
  canonical,
  type Cell,
  type Cells,
  isUnreadable,
  sameCell,
  type Value,
  type Values,
} from '../../core/lead/value.ts';
import { writtenWord } from '../../core/lead/words.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';
import type { Columns } from './columns.ts';

/** A current row, with what its format needs to write to it. */
export interface PresentRow<Place> {
  readonly leadId: string | null;
  /** These three as in TargetRow. */
  readonly unreadableId?: string;
  readonly standing?: RowStanding;
  readonly paused?: true;
  readonly cells: Cells;
  readonly status: Value;
  readonly place: Place;
}

/** The content to write to an existing row; only what differs. `values`: in the words of the table. */
export interface RowWrite<Place> {
  readonly place: Place;
  readonly leadId: string | null;
  readonly values: Values;
  readonly status: string | null;
  /** Empties the id; `again`: for a new lead. */
  readonly unlink: 'alone' | 'again' | null;
  readonly remove: boolean;
}

export interface RowDecisions<Place> {
  readonly outcomes: readonly RowOutcome[];
  readonly writes: readonly RowWrite<Place>[];
  readonly appends: readonly NewRow[];
}

export interface NewRow {
  readonly leadId: string;
  readonly values: Values;
  readonly status: string | null;
}

export interface RowRules<Place> {
  /** Lead fields that have a column now. */
  readonly fields: ReadonlyMap<string, { readonly words?: Words | undefined }>;
  readonly headings: Headings;
  readonly hasStatus: boolean;
  readonly hasOwnCells: (place: Place) => boolean;
  /** Why a cell of this format or field cannot hold a text, as a sentence; null when it can. */
  readonly notStorable: (text: string, field: string) => string | null;
  /** Why the row cannot be written to, as a sentence; null or absent when it can. */
  readonly notWritable?: (write: RowWrite<Place>) => string | null;
  readonly words?: TargetWords;
}

/** What the columns of a table say. */
export function rulesOf({ fields, headings, status }: Columns) {
  return { fields, headings, hasStatus: status !== null };
}

/**
 * Decides a batch, for any format: pass all present rows to `see` in order, then call `decide` once. Keeps only the affected rows.
 * Rules: docs/architecture.md 5 and 6, target.ts. Of two rows with one id only the first is written.
 */
export class RowChanges<Place> {
  readonly #changes: readonly RowChange[];
  readonly #rules: RowRules<Place>;
  readonly #words: TargetWords;
  readonly #verdicts: ReturnType<typeof verdicts>;
  readonly #byId = new Map<string, KnownRow<Place>>();
  readonly #byContent = new WantedRows<PresentRow<Place>>();
  readonly #byStatus = new WantedRows<PresentRow<Place>>();
  readonly #writes = new Map<Place, RowWrite<Place>>();
  readonly #appends: NewRow[] = [];

  constructor(changes: readonly RowChange[], rules: RowRules<Place>) {
    this.#changes = changes;
    this.#rules = rules;
    this.#words = rules.words ?? tableWords;
    this.#verdicts = verdicts(this.#words);
    for (const change of changes) {
      if (change.leadId !== null) {
        const known = this.#knownRow(change.leadId);
        if (change.kind === 'status' && change.copies === true) known.copies ??= [];
      } else if (change.kind === 'status') {
        this.#byStatus.want(this.#statusKey(change.expect, change.shown));
      }
      if (isForLoose(change))
        this.#byContent.want(this.#contentKey(change.kind === 'link' ? change.expect : change.values));
    }
  }

  see(row: PresentRow<Place>): void {
    if (row.leadId !== null) {
      const known = this.#byId.get(idKey(row.leadId));
      if (known === undefined) return;
      if (known.row === null) known.row = row;
      else if (row.paused !== true) known.copies?.push(row);
      known.count++;
      return;
    }
    if (row.paused === true) return;
    const isLinkable = row.unreadableId === undefined && !this.#byContent.isEmpty;
    if (isLinkable) this.#byContent.see(this.#contentKey(row.cells), row);
    if (!this.#byStatus.isEmpty) this.#byStatus.see(this.#statusKey(row.cells, row.status), row);
  }

  decide(): RowDecisions<Place> {
    const outcomes = this.#changes.map((change): RowOutcome => {
      const verdict = this.#verdict(change);
      return { key: change.key, ...(verdict ?? { status: 'done' }) };
    });
    return { outcomes, writes: [...this.#writes.values()], appends: this.#appends };
  }

  /** Null: done, here and below. */
  #verdict(change: RowChange): Verdict | null {
    if (change.kind === 'status') return this.#status(change);
    const known = this.#knownRow(change.leadId);
    const { row, count } = known;
    switch (change.kind) {
      case 'append':
        return this.#notWritable(change.values) ?? this.#append(change, known);
      case 'update':
        return row === null ? this.#verdicts.gone : this.#update(row, change);
      case 'link':
        // A lone id in an otherwise empty row got there by mistake, when people moved rows.
        if (row !== null && !isBlank(row.cells))
          return change.isRepeated === true && !shows(row.cells, change.expect)
            ? null
            : this.#update(row, change);
        if (known.added !== null) return null;
        return this.#notWritable(change.values) ?? this.#link(change, known);
      case 'mark':
        if (!this.#rules.hasStatus) return this.#verdicts.noStatusColumn;
        if (row === null) return this.#verdicts.gone;
        if (sameCell(row.status, change.text)) return null;
        return this.#ifExpected(row, change.expect, { status: change.text });
      case 'remove':
        if (row === null) return null;
        // After removing one of two, a repeated call would remove the copy too.
        if (count > 1) return this.#verdicts.duplicated;
        if (change.bare === true && this.#rules.hasOwnCells(row.place)) return this.#verdicts.ownCells;
        return this.#ifExpected(row, change.expect, { remove: true });
      case 'unlink':
        if (row === null) return null;
        if (count > 1) return this.#verdicts.duplicated;
        return (
          this.#notWritable(change.values) ??
          this.#ifExpected(row, change.expect, {
            values: change.values,
            unlink: change.again === true ? 'again' : 'alone',
          })
        );
      default:
        return change satisfies never;
    }
  }

  #update(row: PresentRow<Place>, { expect, values }: ChangeOf<'update' | 'link'>): Verdict | null {
    if (this.#hasAll(row.cells, values) && shows(row.cells, values)) return null;
    return this.#notWritable(values) ?? this.#ifExpected(row, expect, { values });
  }

  #append(change: ChangeOf<'append'>, known: KnownRow<Place>): Verdict | null {
    const { leadId, values, status } = change;
    const present = known.row?.cells ?? known.added;
    if (present !== null) return shows(present, values) ? null : this.#verdicts.exists;
    const own = isForLoose(change) ? this.#byContent.take(this.#contentKey(values)) : undefined;
    if (own !== undefined) return this.#giveId(own, change, known);
    known.added = values;
    this.#appends.push({ leadId, values: this.#inWords(values), status: status ?? null });
    return null;
  }

  #link(change: ChangeOf<'link'>, known: KnownRow<Place>): Verdict | null {
    const row = this.#byContent.take(this.#contentKey(change.expect));
    return row === undefined ? this.#verdicts.changed : this.#giveId(row, change, known);
  }

  #giveId(
    row: PresentRow<Place>,
    { leadId, values, status }: ChangeOf<'append' | 'link'>,
    known: KnownRow<Place>,
  ): Verdict | null {
    const differs = status !== undefined && this.#rules.hasStatus && !sameCell(row.status, status);
    // The id matters more: a formula in the status cell must not prevent it.
    const withoutStatus = () => this.#write(row, { leadId, values });
    const verdict = differs && this.#write(row, { leadId, values, status }) === null ? null : withoutStatus();
    if (verdict === null) known.added = values;
    return verdict;
  }

  #status({ leadId, copies, expect, shown, text }: ChangeOf<'status'>): Verdict | null {
    if (!this.#rules.hasStatus) return null;
    const known = leadId === null ? null : this.#knownRow(leadId);
    const found = known === null ? this.#byStatus.take(this.#statusKey(expect, shown)) : known.row;
    const first = found && found.paused !== true ? [found] : [];
    const rows = copies === true ? (known?.copies ?? []) : first;
    const verdicts = rows.map((row) =>
      sameCell(row.status, text) ? null : this.#write(row, { status: text }),
    );
    return verdicts.find((verdict) => verdict !== null) ?? null;
  }

  #ifExpected(row: PresentRow<Place>, expect: Cells, write: Partial<RowWrite<Place>>): Verdict | null {
    if (row.paused === true) return this.#verdicts.paused;
    if (!shows(row.cells, expect)) return this.#verdicts.changed;
    return this.#write(row, write);
  }

  #write(row: PresentRow<Place>, write: Partial<RowWrite<Place>>): Verdict | null {
    const before = this.#writes.get(row.place);
    const differing = Object.entries(write.values ?? {}).filter(
      ([field, value]) => !(field in row.cells) || !sameCell(cellOf(row.cells, field), value),
    );
    const whole = {
      place: row.place,
      leadId: write.leadId ?? before?.leadId ?? null,
      values: { ...before?.values, ...this.#inWords(Object.fromEntries(differing)) },
      status: write.status ?? before?.status ?? null,
      unlink: write.unlink ?? before?.unlink ?? null,
      remove: write.remove ?? before?.remove ?? false,
    };
    const reason = this.#rules.notWritable?.(whole) ?? null;
    if (reason !== null) {
      const message = `${reason} The ${this.#words.row} was not changed.`;
      return { status: 'held', code: 'target.cell-not-writable', message };
    }
    this.#writes.set(row.place, whole);
    return null;
  }

  /** A missing cell is not empty. Fields without a column never match. */
  #hasAll(cells: Cells, values: Values): boolean {
    return Object.keys(values).every((field) => field in cells || !this.#rules.fields.has(field));
  }

  #knownRow(leadId: string): KnownRow<Place> {
    const id = idKey(leadId);
    let known = this.#byId.get(id);
    if (known === undefined) this.#byId.set(id, (known = { row: null, count: 0, copies: null, added: null }));
    return known;
  }

  #notWritable(values: Values): Verdict | null {
    for (const field in values) {
      const value = values[field] ?? null;
      if (value === null || value === '') continue;
      if (!this.#rules.fields.has(field)) {
        const message = `The ${this.#words.column} ${JSON.stringify(headingOf(this.#rules.headings, field))} is missing or duplicated. Nothing was written.`;
        return { status: 'deferred', code: 'target.column-missing', message };
      }
      const word = this.#written(field, value);
      const reason = word === undefined ? noWord(value) : this.#rules.notStorable(word ?? '', field);
      if (reason === null) continue;
      const message = `${headingOf(this.#rules.headings, field)}: ${reason} The ${this.#words.row} was not changed.`;
      return { status: 'held', code: 'target.value-not-storable', message };
    }
    return null;
  }

  #inWords(values: Values): Values {
    return Object.fromEntries(
      Object.entries(values).map(([field, value]) => [field, this.#written(field, value) ?? null]),
    );
  }

  #written(field: string, value: Value): Value | undefined {
    return writtenWord(value, this.#rules.fields.get(field)?.words);
  }

  /** Equal for cells that mean the same in every present column. */
  #contentKey(cells: Cells): string {
    return contentKey(cells, this.#rules.fields.keys());
  }

  #statusKey(cells: Cells, status: Value): string {
    return JSON.stringify([this.#contentKey(cells), canonical(status)]);
  }
}

export function isForLoose(change: RowChange): change is ChangeOf<'append' | 'link'> {
  return change.kind === 'link' || (change.kind === 'append' && change.isRepeated === true);
}

type ChangeOf<Kind extends RowChange['kind']> = Extract<RowChange, { kind: Kind }>;

/** `copies`: further rows with this id; null when no change concerns them. `added`: what a change before has put there. */
interface KnownRow<Place> {
  row: PresentRow<Place> | null;
  count: number;
  copies: PresentRow<Place>[] | null;
  added: Values | null;
}

const noWord = (value: string): string =>
  `the table has no word for ${JSON.stringify(value)}; add it to \`values\` of the field.`;

export const isBlank = (cells: Cells): boolean => Object.values(cells).every((cell) => cell === null);

function shows(cells: Cells, wanted: Cells): boolean {
  return Object.entries(wanted).every(([field, cell]) => sameCell(cellOf(cells, field), cell));
}

function cellOf(cells: Cells, field: string): Cell {
  return cells[field] ?? null;
}

export type Verdict = Omit<Exclude<RowOutcome, { status: 'done' }>, 'key'>;

/** What users call the parts of a target; default: those of a table. */
interface TargetWords {
  readonly row: string;
  readonly column: string;
}

const tableWords: TargetWords = { row: 'row', column: 'column' };

export const verdicts = ({ row, column }: TargetWords) =>
  ({
    changed: {
      status: 'deferred',
      code: 'row.changed',
      message: `The ${row} no longer shows what the plan saw. It was not changed; the next run tries again.`,
    },
    paused: {
      status: 'deferred',
      code: 'row.paused',
      message: `Somebody paused the ${row} meanwhile. It was not changed.`,
    },
    gone: {
      status: 'deferred',
      code: 'row.gone',
      message: `No ${row} has this id any more. Nothing was written; the next run tries again.`,
    },
    exists: {
      status: 'deferred',
      code: 'row.exists',
      message: `A ${row} with this id exists already, with other values. It was not changed.`,
    },
    duplicated: {
      status: 'deferred',
      code: 'row.duplicated',
      message: `More than one ${row} has this id, so none was changed. Remove the copies by hand.`,
    },
    ownCells: {
      status: 'held',
      code: 'row.has-own-cells',
      message: `Somebody filled other columns of this ${row}. It was not changed; delete it by hand if it is not needed.`,
    },
    noStatusColumn: {
      status: 'held',
      code: 'target.no-status-column',
      message: `There is no single status ${column} for the mark. The ${row} was not changed.`,
    },
  }) as const satisfies Record<string, Verdict>;

export function contentKey(cells: Cells, fields: Iterable<string>): string {
  return JSON.stringify(
    [...fields].map((field) => {
      const cell = cells[field] ?? null;
      return isUnreadable(cell) ? [cell.unreadable] : canonical(cell);
    }),
  );
}

class WantedRows<Row> {
  readonly #slots = new Map<string, { readonly rows: Row[]; wanted: number }>();

  get isEmpty(): boolean {
    return this.#slots.size === 0;
  }

  want(key: string): void {
    const slot = this.#slots.get(key);
    if (slot === undefined) this.#slots.set(key, { rows: [], wanted: 1 });
    else slot.wanted++;
  }

  see(key: string, row: Row): void {
    const slot = this.#slots.get(key);
    if (slot !== undefined && slot.rows.length < slot.wanted) slot.rows.push(row);
  }

  take(key: string): Row | undefined {
    return this.#slots.get(key)?.rows.shift();
  }
}
