import { shortHash } from '../core/lead/content-hash.ts';
import { inStep } from '../core/merge/row-status.ts';
import { SeenPairs } from '../store/seen-pairs.ts';
import type { Run } from '../store/runs.ts';
import { dropSeals, sealAllRows } from '../store/seals.ts';
import { type RowStaging, stageRows } from '../store/staging.ts';
import { keepTableRead, repeatTableRead, type TableRead } from '../store/table-reads.ts';
import { version } from '../version.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';

/** The most rows of which no seal speaks that are remembered of a table. */
export const mostLeft = 1_000;

export function rowStaging({ connection }: StepContext, isWhole: boolean, isSealable: boolean): RowStaging {
  const usualStatus = connection.target.statusColumn === undefined ? null : inStep;
  return { fields: connection.fields, isWhole, usualStatus, isSealable };
}

/** A table at one moment. `digest`: it, and all else that decides what is read in it. */
export interface KnownTable {
  readonly version: string;
  readonly digest: string;
}

/** Null: only reading it tells what is in it. `wasFilled`: rows of it are known. */
export async function lookAtTable(
  { target, connection, stop }: StepContext,
  wasFilled: boolean,
): Promise<KnownTable | null> {
  const found = await target.digest?.(stop);
  if (found === undefined || found === null) return null;
  // Another version may read the same bytes in another way.
  const settings = JSON.stringify([version, connection.target, connection.fields, wasFilled]);
  return { version: found.version, digest: shortHash(`${settings}\n${found.digest}`) };
}

/** Stages a table that is as it was when it was read last. Null when it is not, or a pair is another one. */
export function stageAsBefore(
  context: StepContext,
  run: Run,
  { digest }: KnownTable,
): Promise<Omit<TableRead, 'left'> | null> {
  const met = new SeenPairs();
  return inLeasedTransaction(
    context,
    async (db) => {
      const read = await repeatTableRead(db, run, digest, met);
      if (read !== null) await stageRows(db, run, read.left, rowStaging(context, true, false), met);
      return read;
    },
    'repeatable',
  );
}

/** Remembers what a table showed. `before`: as it was before it was read; null: it is not known again. */
export async function rememberTable(
  context: StepContext,
  run: Run,
  before: KnownTable | null,
  read: TableRead,
  met: SeenPairs,
): Promise<void> {
  const isKept = before !== null && read.left.length <= mostLeft;
  const isSame = isKept && before.version === (await context.target.version?.());
  await inLeasedTransaction(
    context,
    async (db) => {
      await dropSeals(db, run.connection, 'row', met);
      if (isSame) await keepTableRead(db, run.connection, before.digest, read, met);
    },
    'repeatable',
  );
}

/**
 * The same of a table that holds what a run has written and nothing else: so many rows, each of which was seen to be as it
 * was written, with the usual status, when the table had this version. Nothing is remembered when the pairs say otherwise.
 */
export async function rememberWritten(
  context: StepContext,
  run: Run,
  rows: number,
  version: string | null | undefined,
): Promise<void> {
  const before = await lookAtTable(context, true);
  if (before === null || before.version !== version) return;
  const { mark, missing } = await context.target.open({ create: false, wasFilled: true }, context.stop);
  if (missing.length > 0 || version !== (await context.target.version?.())) return;
  const fields = context.connection.fields.map(({ field }) => field);
  await inLeasedTransaction(context, async (db) => {
    const met = new SeenPairs();
    if (!(await sealAllRows(db, run.connection, before.digest, fields, rows, met))) return;
    const read = { rows, problems: [], mark: mark === undefined ? null : (mark ?? ''), left: [] };
    await keepTableRead(db, run.connection, before.digest, read, met);
  });
}
