import type { Random } from '../../src/demo/random.ts';
import type { Sandbox } from '../../src/demo/sandbox.ts';
import { pauseHeading } from './paused-rows.ts';
import type { Table } from './table.ts';
import { columns, entityOf, fieldNames, idOf, plainId } from './tokens.ts';

type Row = readonly string[];

/** Whether any cell of the table is this lead's id. */
export async function isLinked(table: Table, leadId: string): Promise<boolean> {
  return ((await table.grid()) ?? []).some((record) => record.some((cell) => plainId(cell) === leadId));
}

/** Whether the table has a row of this company. */
export async function showsRow(table: Table, entity: string): Promise<boolean> {
  return ((await table.grid()) ?? []).some((record) => record.some((cell) => entityOf(cell) === entity));
}

/** Removes empty rows, and the later ones of rows with one id; returns the latter. */
export function removeRepeated(headings: Row, records: string[][]): readonly Row[] {
  const seen = new Set<string>();
  const repeated: string[][] = [];
  const kept = records.filter((record) => {
    // As the report of rows apart from the table advises.
    if (record.every((cell) => cell === '')) return false;
    const id = idOf(record, headings);
    if (id !== '' && seen.has(id)) repeated.push(record);
    const isKept = id === '' || !seen.has(id);
    seen.add(id);
    return isKept;
  });
  records.splice(0, records.length, ...kept);
  return repeated;
}

/**
 * Whether a row shows the id of one company and the name of another, until what was written into it when people moved
 * rows is put back: nobody can tell for which of them something is typed there, and it stays in the row.
 */
export function isOfTwo(record: Row, headings: Row, sandbox: Sandbox): boolean {
  const id = idOf(record, headings);
  const lead = sandbox.leads.list().find((one) => plainId(one.id) === id);
  const entity = entityOf(record[headings.indexOf('Company')] ?? '');
  return lead !== undefined && entity !== null && entityOf(lead.companyName) !== entity;
}

/**
 * Whether a row without id shows the name of another row, until what was written into it when people moved rows is put
 * back: nobody can tell for which of them something is typed there.
 */
export function isNameOfAnother(record: Row, headings: Row, records: readonly Row[]): boolean {
  if ((record[headings.indexOf('Lead ID')] ?? '') !== '') return false;
  const company = (of: readonly string[]) => entityOf(of[headings.indexOf('Company')] ?? '');
  return records.some((other) => other !== record && company(other) === company(record));
}

/**
 * A new row of which more than half is retyped before it is known that it has got its id may get two leads: a known
 * limit (promise 3). Notes in `retyped` the companies that were retyped once.
 */
export function mayGetTwoLeads(
  record: Row,
  headings: Row,
  settled: ReadonlyMap<string, string>,
  retyped: Set<string>,
): boolean {
  const entity = entityOf(record[headings.indexOf('Company')] ?? '') ?? '';
  const others = ['Status', 'Lead ID', pauseHeading].map((heading) => headings.indexOf(heading));
  const filled = record.filter((cell, column) => cell !== '' && !others.includes(column)).length;
  const hasId = (record[headings.indexOf('Lead ID')] ?? '') !== '';
  if (hasId) return filled < 2 && !settled.has(`${entity}.companyName`);
  if (filled < 2 || retyped.has(entity)) return true;
  retyped.add(entity);
  return false;
}

/** Of a company that is gone nobody can tell any more what was made one with it: that row is deleted, too. */
export function loseJoined(joined: Map<string, string>, deletedRows: Set<string>, winner: string): void {
  for (const [loser, into] of joined) {
    if (into !== winner) continue;
    joined.delete(loser);
    deletedRows.add(loser);
    loseJoined(joined, deletedRows, loser);
  }
}

/** A row of these headings with the values of a new record, by field. */
export function asRow(fresh: Readonly<Record<string, string>>, headings: Row): string[] {
  const fieldOf = (heading: string) => fieldNames.find((field) => columns[field] === heading) ?? '';
  return headings.map((heading) => fresh[fieldOf(heading)] ?? '');
}

/** Moves a column before another; returns which, null: there are too few. */
export async function moveColumn(table: Table, random: Random): Promise<string | null> {
  const [headings = []] = (await table.grid()) ?? [];
  if (headings.length < 2) return null;
  const [from, to] = [random.below(headings.length), random.below(headings.length)];
  table.moveColumn?.(from, to);
  return `${headings[from]} before ${headings[to]}`;
}
