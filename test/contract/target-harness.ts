import { expect, test } from 'vitest';
import type { FieldMapping } from '../../src/core/lead/mapping.ts';
import type { Cells, Values } from '../../src/core/lead/value.ts';
import type { RowChange, RowOutcome, Target, TargetRow } from '../../src/ports/target.ts';

/** Texts as a person sees them, headings first. */
export type Table = readonly (readonly string[])[];

/** One place to keep rows (a file, a sheet), and what the suite must be able to do to it besides using the adapter. */
export interface TargetHarness extends AsyncDisposable {
  /** A new adapter object on the same place, as another process would have it. Zone: Europe/Berlin; id: `Lead ID`. */
  target(options?: {
    readonly fields?: readonly FieldMapping[];
    readonly statusColumn?: string;
    readonly pauseColumn?: string;
  }): Target;
  /** Makes or changes the content as a person does, in one step; the function gets the table as it is. */
  edit(change: (table: Table) => Table): void | Promise<void>;
  /** What a person sees now; null when there is nothing. */
  show(): Table | null | Promise<Table | null>;
}

/** A place that a person can change while the adapter is in the middle of something. */
export interface LocalHarness extends TargetHarness {
  edit(change: (table: Table) => Table): void;
  show(): Table | null;
}

/**
 * What a kind of target cannot be put into, so that the tests of it are not registered:
 *
 * - `loose-headings`: its columns have exact names and no order, as the properties of a CRM;
 * - `double-headings`: it refuses a second column of the same name;
 * - `headings-without-id`: without the id column there is no target yet, whatever else is there;
 * - `copies`: it refuses a second row with the same id;
 * - `free-text-dates`: the column of a date holds dates only;
 * - `own-cells-emptied`: a row with cells of its own is never emptied of ours, it is left and held instead;
 * - `new-columns`: its contract for columns of new fields is another one;
 * - `row-numbers`: its rows are not numbered from a row of headings;
 * - `asides`: its rows cannot run into one another;
 * - `marks`: it has no place for a mark;
 * - `generations`: its mark says who keeps it, not since when.
 */
export type Inability =
  | 'loose-headings'
  | 'double-headings'
  | 'headings-without-id'
  | 'copies'
  | 'free-text-dates'
  | 'own-cells-emptied'
  | 'new-columns'
  | 'row-numbers'
  | 'asides'
  | 'marks'
  | 'generations';

export type Inabilities = ReadonlySet<Inability>;

/** Gives `test`, or for what the target cannot be put into a function that registers nothing. */
export function testsFor(
  cannot: Inabilities,
): (needed: Inability) => (title: string, body: () => Promise<void>) => void {
  return (needed) => (cannot.has(needed) ? () => {} : test);
}

const field = (name: string, column: string, type: 'text' | 'instant' = 'text'): FieldMapping => ({
  field: name,
  column,
  type,
  direction: 'two-way',
});
export const contractFields: readonly FieldMapping[] = [
  field('name', 'Company'),
  field('city', 'City'),
  field('due', 'Next follow-up', 'instant'),
];

export const headings = ['Lead ID', 'Company', 'Notes', 'City', 'Next follow-up', 'Sync'];
export const anna = ['id-a', 'Anna AG', 'mine', 'Aachen', '2026-11-21T08:30:00.000Z', ''];
export const bert = ['id-b', 'Bert BV', '', 'Bonn', '', ''];
export const loose = ['', 'Loose Ltd', 'new one', 'Leeds', '', ''];
export const annaCells: Values = { name: 'Anna AG', city: 'Aachen', due: '2026-11-21T08:30:00.000Z' };
export const bertCells: Values = { name: 'Bert BV', city: 'Bonn', due: null };
export const looseCells: Values = { name: 'Loose Ltd', city: 'Leeds', due: null };

export const never = () => new AbortController().signal;

export async function readAll(target: Target, purpose?: string): Promise<TargetRow[]> {
  const options = { create: false, ...(purpose !== undefined && { purpose }) };
  const { rows } = await target.open(options, never());
  const all: TargetRow[] = [];
  for await (const batch of rows) all.push(...batch);
  return all;
}

export const append = (leadId: string, values: Values, status?: string): RowChange => ({
  kind: 'append',
  key: leadId,
  leadId,
  values,
  ...(status !== undefined && { status }),
});
export const update = (leadId: string, expected: Cells, values: Values): RowChange => ({
  kind: 'update',
  key: leadId,
  leadId,
  expect: expected,
  values,
});
export const link = (
  leadId: string,
  expected: Cells,
  values: Values = {},
  status?: string,
  isRepeated = false,
): RowChange => ({
  kind: 'link',
  key: leadId,
  leadId,
  expect: expected,
  values,
  isRepeated,
  ...(status !== undefined && { status }),
});
/** What the status column is to say: of the row with the id, of its copies, or of a row without id. */
export const status = (leadId: string, text: string, copies = false): RowChange => ({
  kind: 'status',
  key: `${leadId} ${copies}`,
  leadId,
  copies,
  expect: {},
  shown: '',
  text,
});
export const looseStatus = (expected: Cells, shown: string, text: string): RowChange => ({
  kind: 'status',
  key: `${shown} -> ${text}`,
  leadId: null,
  expect: expected,
  shown,
  text,
});
export const mark = (leadId: string, expected: Cells, text: string): RowChange => ({
  kind: 'mark',
  key: leadId,
  leadId,
  expect: expected,
  text,
});
export const remove = (leadId: string, expected: Cells, bare = false): RowChange => ({
  kind: 'remove',
  key: leadId,
  leadId,
  expect: expected,
  bare,
});
export const unlink = (leadId: string, expected: Cells, values: Values = {}, again = false): RowChange => ({
  kind: 'unlink',
  key: leadId,
  leadId,
  expect: expected,
  values,
  again,
});

/** A signal at whose `at`-th question something else happens first; `asked` tells how often it was asked. */
export function interruptedSignal(
  at: number,
  action: () => void,
): { signal: AbortSignal; asked: () => number } {
  const signal = never();
  let asked = 0;
  signal.throwIfAborted = () => {
    if (++asked === at) action();
  };
  return { signal, asked: () => asked };
}

export type MakeHarness = () => Promise<TargetHarness>;

/** Runs a test on a target with these rows, headings first. */
export async function withRows<Harness extends TargetHarness>(
  makeHarness: () => Promise<Harness>,
  rows: Table,
  body: (harness: Harness) => Promise<void>,
): Promise<void> {
  await using harness = await makeHarness();
  await harness.edit(() => rows);
  await body(harness);
}

/** Writes, checks that a second call changes nothing and says the same, and gives code or status. */
export async function written(harness: TargetHarness, changes: readonly RowChange[]): Promise<string[]> {
  const outcomes = await harness.target({ statusColumn: 'Sync' }).write(changes, never());
  expect(outcomes.map((outcome) => outcome.key)).toEqual(changes.map((change) => change.key));
  const shown = await harness.show();
  const again = await harness.target({ statusColumn: 'Sync' }).write(changes, never());
  expect(again.map(verdict)).toEqual(outcomes.map(verdict));
  expect(await harness.show()).toEqual(shown);
  return outcomes.map(verdict);
}

export function verdict(outcome: RowOutcome): string {
  return outcome.status === 'done' ? 'done' : outcome.code;
}
