import { batchesBySize } from '../core/lead/text-size.ts';
import type { Values } from '../core/lead/value.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { NewAction } from './actions.ts';
import { columnOf, firstOf, oneOf, type Queryable, rowsOf } from './database.ts';
import type { RoundRef, RunRef } from './runs.ts';

/** A new lead of which nothing else is known, and what it shows; null: it has an action of its own since. */
export type PageLine = readonly [leadId: string, cells: Values];

/** New leads that were stored together, as `scan_pages` has them; see the migration. */
export interface ScanPage {
  readonly id: number;
  readonly lines: readonly (PageLine | null)[];
  readonly attempts: number;
}

/** The action of a line that has one of its own. */
export function ownAction([leadId, values]: PageLine, rest: Pick<NewAction, 'state' | 'outcome'>): NewAction {
  const changes = Object.fromEntries(
    Object.entries(values).map(([field, to]) => [field, { from: null, to }]),
  );
  return {
    kind: 'create-row',
    leadId,
    row: null,
    contentHash: '',
    changes,
    expect: {},
    reason: 'new-lead',
    ...rest,
  };
}

/** The pages of a run in their order, one at a time; `where` chooses among them. */
async function* readPages(db: Queryable, runId: number, where: string, values: readonly unknown[] = []) {
  let after = 0;
  for (;;) {
    const found = await firstOf<Omit<ScanPage, 'lines'> & { body: string }>(
      db,
      `select id, body, attempts from scan_pages
       where run_id = $1 and id > $2 and ${where} order by id limit 1`,
      [runId, after, ...values],
    );
    if (found === null) return;
    const { body, ...page } = found;
    after = page.id;
    yield { ...page, lines: JSON.parse(body) as ScanPage['lines'] };
  }
}

/**
 * Leads of which earlier runs know something, so that a new lead of the scan among them has to be looked at by itself: held, undone,
 * taken away, or begun.
 */
export function leadsToLookAt(db: Queryable, connection: string): Promise<readonly string[]> {
  return columnOf(
    db,
    `select lead_id from held where kind in ('conflict', 'undone') and connection = $1 and lead_id <> ''
     union select a.lead_id from actions a join runs r on r.id = a.run_id where r.connection = $1 and a.lead_id is not null
       and (a.state = 'done' and a.kind in ('remove-row', 'mark-row', 'delete-lead')
         or a.state = 'planned' and a.kind = 'create-row' and a.attempts > 0)
     union select l.lead_id from new_row_lines l join runs r on r.id = l.run_id
       where r.connection = $1 and l.attempts > 0 and l.state = 'planned'`,
    [connection],
  );
}

/** The most new leads that are stored together. */
const leadsTogether = 800;

/** Plans a new row for each lead of which nothing else is known; `most`: that are written together. Returns how many. */
export async function planPages(db: Queryable, run: RoundRef, scan: LiveScan, most: number): Promise<number> {
  let planned = 0;
  for (const page of batchesBySize(scan.plainLines(), () => Math.min(leadsTogether, most))) {
    const text = `insert into scan_pages (run_id, round, leads, body) values ($1, $2, $3, $4)`;
    await db.query(text, [run.id, run.round, page.length, `[${page.join(',')}]`]);
    planned += page.length;
  }
  return planned;
}

/** The pages of a round that are not written. */
export function pagesToWrite(db: Queryable, run: RoundRef): AsyncGenerator<ScanPage> {
  return readPages(db, run.id, 'round = $3 and done_at is null', [run.round]);
}

/** Counts an attempt before pages are written: its reply may be lost. */
export async function pagesBegun(db: Queryable, pages: readonly ScanPage[]): Promise<void> {
  await db.query(`update scan_pages set attempts = attempts + 1 where id = any($1)`, [
    pages.map(({ id }) => id),
  ]);
}

/** Pages are written; `own`: the leads of lines that get an action of their own. */
export async function endPages(
  db: Queryable,
  pages: readonly ScanPage[],
  own: ReadonlySet<string>,
): Promise<void> {
  await db.query(`update scan_pages set done_at = now() where id = any($1)`, [pages.map(({ id }) => id)]);
  if (own.size > 0) for (const page of pages) await takeFrom(db, page, (leadId) => own.has(leadId));
}

/** Takes lines out of a page. Returns them. */
async function takeFrom(
  db: Queryable,
  { id, lines }: ScanPage,
  isTaken: (leadId: string) => boolean,
): Promise<readonly PageLine[]> {
  const taken = lines.filter((line) => line !== null).filter(([leadId]) => isTaken(leadId));
  if (taken.length === 0) return [];
  const gone = new Set<PageLine | null>(taken);
  const left = JSON.stringify(lines.map((line) => (gone.has(line) ? null : line)));
  await db.query(`update scan_pages set leads = leads - $2, body = $3 where id = $1`, [
    id,
    taken.length,
    left,
  ]);
  return taken;
}

/** The new rows of a round that were not read again yet: how many, and between which of its pairs theirs are. */
export interface NewRowsToRead {
  readonly count: number;
  readonly first: number;
  readonly last: number;
}

export async function newRowsToRead(db: Queryable, run: RunRef & RoundRef): Promise<NewRowsToRead | null> {
  const ofRound = `run_id = $1 and round = $2 and done_at is not null and leads > 0 and not seen`;
  const { count, ids } = await oneOf<{ count: number; ids: string[] }>(
    db,
    `select (select coalesce(sum(leads), 0)::int from scan_pages where ${ofRound}) as count,
       array(select e.line->>0 from scan_pages p cross join lateral json_array_elements(p.body::json) e (line)
         where p.id in ((select min(id) from scan_pages where ${ofRound}), (select max(id) from scan_pages where ${ofRound}))
           and json_typeof(e.line) = 'array') as ids`,
    [run.id, run.round],
  );
  if (count === 0) return null;
  const found = await oneOf<{ first: number; last: number }>(
    db,
    `select coalesce(min(id), 0) as first, coalesce(max(id), 0) as last from pairs where connection = $1 and lead_id = any($2)`,
    [run.connection, ids],
  );
  return { count, ...found };
}

/** A new row that the round wrote; `values`: what was written. */
export interface NewRowWritten {
  readonly leadId: string;
  readonly values: Values;
  readonly notedRow: number | null;
}

/** The new rows of these leads, as far as the round wrote them. */
export function newRowsOf(
  db: Queryable,
  connection: string,
  { first, last }: NewRowsToRead,
  leadIds: readonly string[],
): Promise<readonly NewRowWritten[]> {
  return rowsOf(
    db,
    `select lead_id as "leadId", base as "values", row_number as "notedRow" from pairs
     where connection = $1 and lead_id = any($2) and id between $3 and $4 and base is not null`,
    [connection, leadIds, first, last],
  );
}

/** All new rows of the round were read again as they were written, but for those that have actions of their own. */
export async function newRowsSeen(db: Queryable, run: RoundRef): Promise<void> {
  await db.query(
    `update scan_pages set seen = true where run_id = $1 and round = $2 and done_at is not null and not seen`,
    [run.id, run.round],
  );
}

/** Takes the lines of some leads that were written out of their pages; `isTaken` chooses. Returns them. */
export async function takeLines(
  db: Queryable,
  run: RoundRef,
  isTaken: (leadId: string) => boolean,
): Promise<readonly PageLine[]> {
  const all: PageLine[] = [];
  const written = readPages(db, run.id, 'round = $3 and done_at is not null and not seen', [run.round]);
  for await (const page of written) all.push(...(await takeFrom(db, page, isTaken)));
  return all;
}
