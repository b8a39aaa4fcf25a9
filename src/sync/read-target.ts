import type pg from 'pg';
import type { Aside } from '../core/lead/aside.ts';
import type { Problem } from '../lib/errors.ts';
import { hashContent, shortHash } from '../core/lead/content-hash.ts';
import { isLikeId, isNote, repeatsHeadings, TablePieces } from '../core/lead/table-rows.ts';
import { charactersIn, mostTogether, withinSize } from '../core/lead/text-size.ts';
import { idKey, isLeadId } from '../core/lead/lead-id.ts';
import { headingOf, type Headings } from '../core/lead/mapping.ts';
import { type Cell, isUnreadable, storable } from '../core/lead/value.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { LeftRow, ScannedRow } from '../core/merge/shown-rows.ts';
import { hasCreatesInDoubt } from '../store/intents.ts';
import { wasEverInStep } from '../store/pairs.ts';
import { keepNotesBelow, newFields, notesBelow } from '../store/place-notes.ts';
import { leadsToLookAt } from '../store/new-rows.ts';
import { type Run, updateRun } from '../store/runs.ts';
import type { TargetRow, TargetSnapshot } from '../ports/target.ts';
import { inLeasedTransaction, policyOf, type StepContext } from './context.ts';
import { lookAtTable, mostLeft, rememberTable, seeAsBefore, usualStatusOf } from './table-memory.ts';
import { openScan } from './open-scan.ts';
import { noteMade } from './which-place.ts';
import { batchesWeighed } from './concurrency.ts';
import { endless, usualScanBounds } from './scan-bounds.ts';
import { pull } from './pull.ts';

/** Batches of rows compared together while as many are read. */
const batchesTogether = 2;

/** The rows of a target, and its problems. */
export interface ReadTable {
  readonly rows: number;
  readonly problems: readonly Problem[];
  /** As `Run.mark`. */
  readonly mark: string | null;
  /** As `Run.tableReadAt`. */
  readonly readAt?: string;
}

/** The whole scan of a run that is to be planned; of one that another process has read the table is read once more. */
export async function openWhole(
  context: StepContext,
  begun: Run,
): Promise<{ readonly run: Run; readonly scan: LiveScan }> {
  const { run, scan } = await openScan(context, begun);
  if (run.phase === 'pull' || context.memory.isWhole) return { run, scan };
  const table = await readTable(context, run, scan, run.mode === 'sync');
  return { run: await finishReading(context, run, table, scan, run.attempts), scan };
}

/** Reads the whole target and ends the scan. A plan creates neither a missing target nor columns of new fields. */
export async function readTarget(context: StepContext, begun: Run): Promise<Run> {
  const { run, scan } = await openScan(context, begun);
  if (run.phase === 'pull') return run;
  return finishReading(context, run, await readTable(context, run, scan, run.mode === 'sync'), scan);
}

/** Reads the whole target, and keeps rows that differ from the baseline. Throws what the target throws, and `target.endless`. */
async function readTable(
  context: StepContext,
  run: Run,
  scan: LiveScan,
  create: boolean,
): Promise<ReadTable> {
  const { target, connection, scanBounds = usualScanBounds } = context;
  scan.forgetRows();
  const added = await newFields(context.pool, run.connection, connection.fields);
  const isGoneAllowed = run.allow.includes('target-gone');
  const wasFilled = !isGoneAllowed && (await wasEverInStep(context.pool, run.connection));
  const elsewhere = run.connection !== connection.name;
  // The service spells some ids otherwise, and may spell more of them so the next time: a row may become another lead's.
  const isKnowable = added.length === 0 && !scan.isSpelled;
  const known = isKnowable ? await lookAtTable(context, wasFilled) : null;
  const same = known && (await seeAsBefore(context, run, known, scan));
  if (same !== null) return same;
  /** The first of all, for the next night. */
  const asides: Aside[] = [];
  const onAsides = (found: readonly Aside[]): void => {
    scan.seeAsides(found);
    if (asides.length <= mostLeft) asides.push(...found.slice(0, mostLeft + 1));
  };
  const purpose = `${run.id} ${run.round}`;
  const options = { create, purpose, newFields: added, wasFilled, elsewhere, onAsides };
  const snapshot = await target.open(options, context.stop);
  if (snapshot.created) await noteMade(context, run);
  const isWhole = snapshot.missing.length === 0;
  const seeing = { isWhole, usualStatus: usualStatusOf(context) };
  const left: LeftRow[] = [];
  const outside = new RowsOutside(
    connection.fields,
    wasFilled ? await notesBelow(context.pool, run.connection) : null,
  );
  const apart = new ApartRows<TargetRow>((row) => outside.joins(row));
  let [count, places, leftSize] = [0, 0, 0];
  // A row apart is no new lead and has no status, but it may be a row that lost its id.
  const see = (table: readonly TargetRow[], others: readonly TargetRow[]): void => {
    outside.see(others);
    const loose = others.map((row) => ({ ...storableRow(row), status: null, apart: true }));
    const from = places;
    const rows = [...table.map(storableRow), ...loose].map((row, nth) => ({ ...row, ordinal: from + nth }));
    const kept = rows.flatMap((row) => scan.seeRow(row, seeing) ?? []);
    if (left.length <= mostLeft && leftSize <= mostTogether) {
      left.push(...kept);
      leftSize += charactersIn(kept);
    }
    count += table.length;
    places += rows.length;
  };
  const headings = hasPlaces(context) ? new HeadingLines(context) : null;
  for await (const batch of batchesWeighed(snapshot.rows, batchesTogether)) {
    context.stop.throwIfAborted();
    const read = batch.map((row) => ({ ...row, cells: withinSize(row.cells) }));
    const found = headings ? headings.without(apart.see(headings.see(read))) : withoutOthers(read);
    const before = count;
    see(found.table, found.apart);
    if (scan.rows.bytes > scanBounds.bytes)
      throw endless('target', `it has more than ${before} rows of ${scanBounds.bytes} bytes`);
  }
  see([], headings?.without({ table: [], apart: apart.end() }).apart ?? []);
  scan.mergeRows(snapshot.merged ?? new Map());
  const missing = snapshot.missing.map((one) => columnProblem(one, create ? [] : added, connection.fields));
  const mark = snapshot.mark === undefined ? null : (snapshot.mark ?? '');
  const isFirst = !wasFilled && connection.target.type === 'workbook';
  const guessed =
    isFirst && snapshot.hint !== undefined ? [{ code: 'place.encoding', message: snapshot.hint }] : [];
  const problems = [...missing, ...guessed, ...(headings?.problem() ?? []), ...outside.problem()];
  const shown = { rows: count, problems, mark };
  const isKept = isWhole && snapshot.isLive !== true && leftSize <= mostTogether;
  if (run.mode === 'sync') {
    await rememberTable(context, run, isKept ? known : null, { ...shown, left, asides }, scan);
    const keep = (db: pg.PoolClient) => keepNotesBelow(db, run.connection, outside.below);
    await inLeasedTransaction(context, keep, 'repeatable');
  }
  return shown;
}

/** Whether people choose where rows stand, so that one may stand apart. */
function hasPlaces({ connection: { target } }: StepContext): boolean {
  return target.type === 'workbook' || target.type === 'google-sheets';
}

type Pieces = ReturnType<ApartRows<TargetRow>['see']>;

/** The rows that are the headings once more: rows of the table for what is apart from it, and then nothing. */
class HeadingLines {
  readonly #connection: StepContext['connection'];
  readonly #lines = new Set<TargetRow>();

  constructor({ connection }: StepContext) {
    this.#connection = connection;
  }

  see(rows: readonly TargetRow[]): readonly TargetRow[] {
    const { fields, target } = this.#connection;
    return rows.map((row) => {
      if (!repeatsHeadings(row, fields, target.idColumn)) return row;
      const line = { ...row, leadId: null };
      this.#lines.add(line);
      return line;
    });
  }

  without({ table, apart }: Pieces): Pieces {
    const isNone = (row: TargetRow): boolean => !this.#lines.has(row);
    return { table: table.filter(isNone), apart: apart.filter(isNone) };
  }

  /** One for all. */
  problem(): readonly Problem[] {
    const rows = [...this.#lines].map(({ row }) => row);
    const [first] = rows;
    if (first === undefined) return [];
    const [repeat, them] = rows.length === 1 ? ['repeats', 'it'] : ['repeat', 'them'];
    const message = `${rowsNamed(rows)} ${repeat} the headings: no lead was created. Delete ${them}`;
    return [{ code: 'row.headings', message, row: first }];
  }
}

const mostNamed = 5;

/** The numbers of rows, as the subject of a sentence. */
function rowsNamed([first = 0, ...others]: readonly number[]): string {
  if (others.length === 0) return `row ${first}`;
  const named = others.length < mostNamed ? others.join(', ') : `${others.length} others`;
  return `rows ${first}, ${named}`;
}

/** The rows apart from the table of one reading. */
class RowsOutside {
  readonly #fields: StepContext['connection']['fields'];
  readonly #known: ReadonlySet<string> | null;
  readonly #told: number[] = [];
  readonly #below: string[] = [];

  /** `known`: the contents of notes below the range of the table; null: rows were never in step. */
  constructor(fields: StepContext['connection']['fields'], known: ReadonlySet<string> | null) {
    this.#fields = fields;
    this.#known = known;
  }

  /** For `keepNotesBelow`. */
  get below(): readonly string[] {
    return this.#below;
  }

  /** Whether a row directly below the range was added since: programs other than Excel do not extend it. */
  joins(row: TargetRow): boolean {
    return this.#known?.has(this.#hashOf(row)) === false;
  }

  see(rows: readonly TargetRow[]): void {
    for (const row of rows) {
      const hash = this.#hashOf(row);
      const isNamed = typeof row.cells['companyName'] === 'string' && row.standing !== 'note';
      const isKnown = this.#known?.has(hash) === true;
      // The first time all that lies apart is told; from then on what could be a lead and was not there then.
      const isTold = row.other !== true && row.paused !== true;
      if (isTold && (this.#known === null || (isNamed && !isKnown))) this.#told.push(row.row);
      if ((this.#known === null || isKnown) && this.#below.length < mostLeft) this.#below.push(hash);
    }
  }

  problem(): readonly Problem[] {
    const [first] = this.#told;
    if (first === undefined) return [];
    const [is, them] = this.#told.length === 1 ? ['is', 'it'] : ['are', 'them'];
    const message = `${rowsNamed(this.#told)} ${is} apart from the table, below an empty row, its range or its totals: no lead was created. Move ${them} up to the other rows where a lead is meant`;
    return [{ code: 'row.apart', message, row: first }];
  }

  #hashOf(row: TargetRow): string {
    return hashContent(storableRow(row).cells, this.#fields);
  }
}

/** Records without a request for a lead are staged like rows apart. */
function withoutOthers(rows: readonly TargetRow[]): Pieces {
  const [table, apart] = [[] as TargetRow[], [] as TargetRow[]];
  for (const row of rows) (row.other === true ? apart : table).push(row);
  return { table, apart };
}

/** `toCome`: fields whose column the next sync creates. */
function columnProblem(
  { field, message, isDoubled }: TargetSnapshot['missing'][number],
  toCome: readonly string[],
  headings: Headings,
): Problem {
  if (isDoubled === true || !toCome.includes(field)) return { code: 'target.column-missing', message, field };
  const coming = `the column ${JSON.stringify(headingOf(headings, field))} is new: the next sync creates it and fills it`;
  return { code: 'target.column-new', message: coming, field };
}

const isOfColumn = ({ code }: Problem): boolean => code.startsWith('target.column-');

/** The codes of problems that each reading finds anew. */
const ofRows: ReadonlySet<string> = new Set(['row.apart', 'row.headings', 'place.encoding']);

/** Ends a scan that has seen both sides. `attempts`: in a row without progress. */
export async function finishReading(
  context: StepContext,
  run: Run,
  table: ReadTable,
  scan: LiveScan,
  attempts = 0,
): Promise<Run> {
  scan.respellRows();
  const special = await newToLookAt(context, run, scan, table);
  if (special !== null) scan.setAsideNew(special);
  context.memory.isWhole = true;
  const others = run.problems.filter((problem) => !isOfColumn(problem) && !ofRows.has(problem.code));
  return inLeasedTransaction(context, (db) =>
    updateRun(db, run.id, {
      phase: 'plan',
      targetRows: table.rows,
      tableReadAt: table.readAt ?? null,
      mark: table.mark,
      attempts,
      problems: [...others, ...table.problems],
    }),
  );
}

/**
 * New leads of which something else is known than what they show: a row, or what earlier runs left. Null: every one has to be
 * looked at, since a row may belong to any of them, or people review them one by one.
 */
async function newToLookAt(
  { pool, connection, runPolicy }: StepContext,
  run: Run,
  scan: LiveScan,
  { problems }: ReadTable,
): Promise<Set<string> | null> {
  const makesRows = run.mode === 'sync' && runPolicy.doesAll && policyOf(connection).direction !== 'to-leads';
  if (!makesRows || problems.some(isOfColumn) || scan.rows.hasUnreadableIds) return null;
  if (connection.sync.match !== 'off' && scan.rows.isAnyWithoutId) return null;
  if (await hasCreatesInDoubt(pool, run.connection)) return null;
  const asides = scan.asides.map(({ leadId }) => scan.spelled(leadId));
  const known = [...asides, ...(await leadsToLookAt(pool, run.connection))];
  return new Set(known.filter((leadId) => scan.hasLead(leadId) && !scan.isPair(leadId)));
}

/** A cell error as text, in any language: `#REF!`, `#BEZUG!`, `#N/A`, `Err:502`. */
const cellError = /^(?:#[\p{Lu}/0]+[!?]?|Err:\d{3})$/u;

function storableRow(row: TargetRow): Omit<ScannedRow, 'ordinal'> {
  const error = row.leadId !== null && cellError.test(row.leadId) ? row.leadId : undefined;
  const unreadableId = row.unreadableId ?? error;
  const cells: Record<string, Cell> = {};
  for (const field in row.cells) cells[field] = kept(row.cells[field] ?? null);
  return {
    ...row,
    leadId: row.leadId === null || error !== undefined ? null : keptId(row.leadId),
    ...(unreadableId !== undefined && { unreadableId: storable(unreadableId) }),
    cells,
    status: row.status === null ? null : storable(row.status),
  };
}

/** The text of an id cell; of a text that can be no id, a shortened form with a hash. */
function keptId(text: string): string {
  if (isLeadId(text)) return idKey(text);
  const shown = text
    .slice(0, 60)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '');
  return `${shown} (${shortHash(text)})`;
}

function kept(cell: Cell): Cell {
  if (cell === null) return null;
  return isUnreadable(cell) ? { ...cell, unreadable: storable(cell.unreadable) } : storable(cell);
}

/**
 * Pages through all leads, and reads a table that has a version meanwhile. The next phase reads a table that changed since,
 * so that what people type during the scan counts, or that has no version.
 */
export async function scan(context: StepContext, begun: Run): Promise<Run> {
  const { run, scan: live } = await openScan(context, begun);
  const over = new AbortController();
  const stop = AbortSignal.any([context.stop, over.signal]);
  const early = readEarly({ ...context, stop }, run, live);
  try {
    const pulled = await pull(context, run, live);
    const read = await early;
    if (read === null || read.version !== (await context.target.version?.(context.stop))) return pulled;
    return await finishReading(context, pulled, read.table, live);
  } finally {
    over.abort();
    await early;
  }
}

/** Null: the table was not read; the next phase reads it, or reports why it cannot. */
async function readEarly(
  context: StepContext,
  run: Run,
  live: LiveScan,
): Promise<{ readonly version: string; readonly table: ReadTable } | null> {
  // A run that is resumed again and again would read the whole table each time.
  if (run.cursor !== null || run.pulled > 0) return null;
  try {
    const version = await context.target.version?.(context.stop);
    if (version === undefined || version === null) return null;
    // A sync has to create the columns of new fields first.
    if ((await newFields(context.pool, run.connection, context.connection.fields)).length > 0) return null;
    return { version, table: await readTable(context, run, live, false) };
  } catch (error) {
    context.log.debug({ run: run.id, err: error }, 'the table was not read while the leads were');
    return null;
  }
}

type Row = Pick<TargetRow, 'row' | 'leadId' | 'unreadableId' | 'standing' | 'cells'>;

/** A longer piece without ids is no note, but a part of the table that lost its ids. */
const longestNote = 1_000;

/** Separates the rows of a table from rows apart, which do not become leads until they join it. */
export class ApartRows<Shown extends Row> {
  readonly #pieces = new TablePieces();
  readonly #joins: (row: Shown) => boolean;
  /** The last row within the range of the table, or added to it. */
  #last = 0;
  /** The rows of a piece without an id so far. */
  #waiting: Shown[] = [];

  /** `joins`: whether a row directly below the range of the table was added to it, as in programs that do not extend it. */
  constructor(joins: (row: Shown) => boolean = () => false) {
    this.#joins = joins;
  }

  /** Takes rows in the target's order; returns those that are decided by now. */
  see(rows: readonly Shown[]): { readonly table: readonly Shown[]; readonly apart: readonly Shown[] } {
    const table: Shown[] = [];
    const apart: Shown[] = [];
    for (const row of rows) {
      const standing = this.#standingOf(row);
      if (this.#pieces.begins(row.row, standing)) apart.push(...this.end());
      const isLong = this.#waiting.length >= longestNote && standing === undefined;
      const hasId = isLikeId(row.leadId ?? '') || row.unreadableId !== undefined || isLong;
      const isOfTable = this.#pieces.see(row.row, hasId, standing);
      if (isNote(row)) apart.push(withoutText(row));
      else if (isOfTable) table.push(...this.#waiting.splice(0), row);
      else if (standing === 'note') apart.push(withoutText(row));
      else this.#waiting.push(row);
    }
    return { table, apart };
  }

  /** The rows apart at the end of the target. */
  end(): readonly Shown[] {
    return this.#waiting.splice(0).map(withoutText);
  }

  #standingOf(row: Shown): TargetRow['standing'] {
    const isNext = row.standing === 'below' && row.row === this.#last + 1;
    const standing = isNext && this.#joins(row) ? 'within' : row.standing;
    if (standing === 'within') this.#last = row.row;
    return standing;
  }
}

/** A text in the id column of a row apart is no id. */
function withoutText<Shown extends Row>(row: Shown): Shown {
  return row.leadId === null ? row : { ...row, leadId: null };
}
