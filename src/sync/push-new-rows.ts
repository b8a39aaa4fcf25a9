import type pg from 'pg';
import type { PlannedAction } from '../core/merge/action.ts';
import { inStep } from '../core/merge/row-status.ts';
import { insertActions, type NewAction } from '../store/actions.ts';
import { hold } from '../store/held.ts';
import { copyPairs, knowLeads, knownOf } from '../store/new-pairs.ts';
import { advanceBaselines } from '../store/pairs.ts';
import { type Run, updateRun } from '../store/runs.ts';
import {
  type PageLine,
  pagesBegun,
  pagesToWrite,
  type ScanPage,
  settlePages,
  type SettledPage,
} from '../store/scan-pages.ts';
import { analyzePairs, isMany } from '../store/statistics.ts';
import type { RowChange, RowOutcome } from '../ports/target.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';
import { writeBatches } from './write-batches.ts';

/** Lines of a page, from one place to another, that are written together. */
interface Piece {
  readonly page: WrittenPage;
  readonly from: number;
  readonly to: number;
}

/** A page under work, with its lines that have an action of their own by now. */
interface WrittenPage extends ScanPage {
  readonly own: Set<string>;
}

/** A line that is written, and what became of it. */
interface Written {
  readonly line: PageLine;
  readonly outcome: RowOutcome;
}

/** Makes the rows of new leads, of which there may be very many. Lines whose fate is another one get an action of their own. */
export async function pushNewRows(context: StepContext, run: Run): Promise<void> {
  const told = context.connection.target.statusColumn === undefined ? {} : { status: inStep };
  let pairs = 0;
  await writeBatches(context, run, {
    batches: batchesOf(context, run),
    begin: (db, batch) =>
      pagesBegun(
        db,
        batch.map(({ page, to }) => ({ id: page.id, to })),
      ),
    async changes(batch) {
      const repeated = new Set(batch.flatMap(({ page, from }) => page.lines.slice(from, page.begun)));
      return linesOf(batch).map((line): RowChange => {
        const [leadId, values] = line;
        return { kind: 'append', key: leadId, leadId, values, ...told, isRepeated: repeated.has(line) };
      });
    },
    commit(batch, outcomeOf) {
      const lines = linesOf(batch).map((line) => ({ line, outcome: outcomeOf(line[0]) }));
      pairs += lines.length;
      return commit(context, run, batch, lines);
    },
  });
  if (isMany(pairs)) await analyzePairs(context.pool);
}

function linesOf(batch: readonly Piece[]): readonly PageLine[] {
  return batch.flatMap(({ page, from, to }) => page.lines.slice(from, to)).filter((line) => line !== null);
}

async function* batchesOf({ pool, target }: StepContext, run: Run): AsyncGenerator<readonly Piece[]> {
  let batch: Piece[] = [];
  let count = 0;
  for await (const read of pagesToWrite(pool, run)) {
    const page = { ...read, own: new Set<string>() };
    for (let from = page.settled; from < page.lines.length; ) {
      const to = Math.min(page.lines.length, from + Math.max(1, target.batchSize - count));
      batch.push({ page, from, to });
      count += to - from;
      from = to;
      if (count < target.batchSize) continue;
      yield batch;
      [batch, count] = [[], 0];
    }
  }
  if (batch.length > 0) yield batch;
}

/** The action of a line that has one of its own. */
export function ownAction([leadId, values]: PageLine, rest: Pick<NewAction, 'state' | 'outcome'>): NewAction {
  const changes = Object.fromEntries(
    Object.entries(values).map(([field, to]) => [field, { from: null, to }]),
  );
  const action: PlannedAction = {
    kind: 'create-row',
    leadId,
    row: null,
    rowKey: '',
    changes,
    expect: {},
    reason: 'new-lead',
  };
  return { ...action, ...rest };
}

const uniqueViolation = '23505';

async function commit(
  context: StepContext,
  run: Run,
  batch: readonly Piece[],
  lines: readonly Written[],
): Promise<void> {
  let own: ReadonlySet<string>;
  try {
    own = await inLeasedTransaction(context, (db) => settle(db, run, batch, lines, new Set()));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === uniqueViolation)) throw error;
    // The service gave a create of this run the id of a lead that was there already: that is a pair by now.
    const leadIds = lines.map(({ line }) => line[0]);
    const known = await knownOf(context.pool, run.connection, leadIds);
    own = await inLeasedTransaction(context, (db) => settle(db, run, batch, lines, known));
  }
  if (own.size === 0) return;
  for (const { page } of batch)
    for (const line of page.lines) if (line !== null && own.has(line[0])) page.own.add(line[0]);
}

async function settle(
  db: pg.PoolClient,
  run: Run,
  batch: readonly Piece[],
  lines: readonly Written[],
  known: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const isPlain = ({ line, outcome }: Written): boolean => outcome.status === 'done' && !known.has(line[0]);
  const pairOf = ({ line: [leadId, base], outcome }: Written) => {
    const row = outcome.status === 'done' ? (outcome.row ?? null) : null;
    return { leadId, base, row };
  };
  const plain = lines.filter(isPlain);
  const others = lines.filter((one) => !isPlain(one));
  await copyPairs(db, run.connection, plain.map(pairOf));
  const ownIds = new Set(others.map(({ line }) => line[0]));
  await settlePages(
    db,
    batch.map((piece) => settledPiece(piece, ownIds)),
  );
  if (others.length > 0) await settleOthers(db, run, others);
  await updateRun(db, run.id, { tries: 0 });
  return ownIds;
}

/** `others`: the ids of lines of the batch that get an action of their own. */
function settledPiece({ page, to }: Piece, others: ReadonlySet<string>): SettledPage {
  const own = page.lines.filter((line) => line !== null && others.has(line[0])).length;
  const settled = { id: page.id, to, taken: page.taken + page.own.size + own };
  if (own === 0) return settled;
  const isOwn = (line: PageLine | null): boolean =>
    line !== null && (others.has(line[0]) || page.own.has(line[0]));
  return { ...settled, left: page.lines.map((line) => (isOwn(line) ? null : line)) };
}

/** Lines with a fate of their own, and those of leads that are pairs already. */
async function settleOthers(db: pg.PoolClient, run: Run, others: readonly Written[]): Promise<void> {
  await insertActions(
    db,
    run,
    others.map(({ line, outcome }) => {
      const told = outcome.status === 'done' ? {} : { code: outcome.code, message: outcome.message };
      return ownAction(line, { state: outcome.status, outcome: told });
    }),
  );
  const done = others.flatMap(({ line: [leadId, values], outcome }) =>
    outcome.status === 'done' ? [{ leadId, values, row: outcome.row }] : [],
  );
  await advanceBaselines(db, run.connection, done);
  const leadIds = others.flatMap(({ line, outcome }) => (outcome.status === 'done' ? [] : [line[0]]));
  await knowLeads(db, run, leadIds, run.targetRows > 0);
  await hold(
    db,
    run,
    others.flatMap(({ line: [leadId], outcome }) =>
      outcome.status === 'held' ? [{ leadId, row: null, code: outcome.code, message: outcome.message }] : [],
    ),
  );
}
