import type { Values } from '../../src/core/lead/value.ts';
import type { Package } from './install.ts';

/** What the columns of a table are; `extra` is one that leadsync is told nothing of. */
export const columns = [
  ['companyName', 'text'],
  ['segment', 'choice'],
  ['city', 'text'],
  ['region', 'long'],
  ['stage', 'choice'],
  ['nextFollowUpAt', 'moment'],
  ['headcount', 'number'],
  ['revenue', 'decimal'],
  ['isKeyAccount', 'flag'],
  ['leadId', 'text'],
  ['status', 'text'],
  ['extra', 'text'],
] as const;

/** A field of leads, or what else stands in a row. */
export type Field = (typeof columns)[number][0];
export type Kind = (typeof columns)[number][1];

/** The fields of leads. */
export const leadFields = columns
  .map(([field]) => field)
  .filter((field) => field !== 'leadId' && field !== 'status' && field !== 'extra');

/** What a person types: JSON of the program's own API, not only what leadsync would write. */
export type Typed = Readonly<Partial<Record<Field, string | number | boolean | null>>>;

export interface Row {
  /** The program's own number of it. */
  readonly key: number;
  readonly leadId: string | null;
  /** As texts; moments in ISO 8601, UTC. */
  readonly values: Values;
}

/** A table with leads, as a person sees and edits it in the program. */
export interface GridTable {
  /** As `target.table` names it. */
  readonly name: string;
  /** Connection string of its database. */
  readonly url: string;
  /** Name of the column of each field in the database. */
  readonly column: (field: Field) => string;
  /** `target.timeZone`, if it has to be set. */
  readonly timeZone?: string;
  list(): Promise<readonly Row[]>;
  /** Gives the keys. */
  add(rows: readonly Typed[]): Promise<readonly number[]>;
  edit(rows: readonly (readonly [key: number, typed: Typed])[]): Promise<void>;
  remove(keys: readonly number[]): Promise<void>;
  /** What people do to the table itself, in the program: a sentence for what was done. */
  reshape(): Promise<string>;
}

/** The program, running. */
export interface RunningGrid {
  /** Makes a table by the program's own API, as its people make one; `name` has letters alone. */
  makeTable(name: string): Promise<GridTable>;
  /** The connection string of the database where leadsync is to make a table that the program then shows. */
  readonly adopts: string;
  /** Shows such a table. */
  adoptTable(name: string): Promise<GridTable>;
}

export interface Start {
  /** Where it is installed. */
  readonly installed: string;
  /** For whatever it writes. */
  readonly home: string;
  /** Makes an empty database, and gives its connection string. */
  readonly database: (name: string) => Promise<string>;
  readonly signal: AbortSignal;
  /** Gets what has to be closed in the end. */
  readonly stack: AsyncDisposableStack;
}

export interface Grid {
  readonly title: string;
  readonly package: Package;
  start(start: Start): Promise<RunningGrid>;
}

/** The name of a field's column where leadsync names none: words with underscores. */
export const snakeCase = (field: string): string =>
  field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
