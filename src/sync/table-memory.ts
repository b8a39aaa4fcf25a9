import { shortHash } from '../core/lead/content-hash.ts';
import { inStep } from '../core/merge/row-status.ts';
import { stageAsides } from '../store/asides.ts';
import { SeenPairs } from '../store/seen-pairs.ts';
import type { Run } from '../store/runs.ts';
import { dropSeals, sealAllRows } from '../store/seals.ts';
import { type RowStaging, stageRows } from '../store/staging.ts';
import { keepTableRead, repeatTableRead, type TableRead } from '../store/table-reads.ts';
import { version } from '../lib/version.ts';
import { inLeasedTransaction, inRepeatable, type StepContext } from './context.ts';

/** The most rows outside of seals, and asides, that a table read remembers. */
export const mostLeft = 1_000;

export function rowStaging({ connection }: StepContext, isWhole: boolean, isSealable: boolean): RowStaging {
  const usualStatus = connection.target.statusColumn === undefined ? null : inStep;
  return { fields: connection.fields, isWhole, usualStatus, isSealable };
}

/** A table at one moment. `digest`: of its bytes and everything that decides how they are read. */
export interface KnownTable {
  readonly version: string;
  readonly digest: string;
}

/** Null: the table has no digest. `wasFilled`: rows of it are known. */
export async function lookAtTable(
  { target, connection, stop }: StepContext,
  wasFilled: boolean,
): Promise<KnownTable | null> {
  const found = await target.digest?.(stop);
  if (found === undefined || found === null) return null;
  // Another version of leadsync may read the same bytes differently.
  const settings = JSON.stringify([version, connection.target, connection.fields, wasFilled]);
  return { version: found.version, digest: shortHash(`${settings}\n${found.digest}`) };
}

/** Stages a table that has not changed since it was read last; null: it has, or a pair moved since. */
export function stageAsBefore(
  context: StepContext,
  run: Run,
  { digest }: KnownTable,
): Promise<Omit<TableRead, 'left' | 'asides'> | null> {
  const met = new SeenPairs();
  return inRepeatable(context, async (db) => {
    const read = await repeatTableRead(db, run, digest, met);
    if (read === null) return null;
    await stageRows(db, run, read.left, rowStaging(context, true, false), met);
    await stageAsides(db, run.id, read.asides);
    return read;
  });
}

/** Remembers what a table showed. `before`: the table before it was read; null: it cannot be recognised. */
export async function rememberTable(
  context: StepContext,
  run: Run,
  before: KnownTable | null,
  read: TableRead,
  met: SeenPairs,
): Promise<void> {
  const isKept = before !== null && read.left.length <= mostLeft && read.asides.length <= mostLeft;
  const isSame = isKept && before.version === (await context.target.version?.(context.stop));
  await inRepeatable(context, async (db) => {
    await dropSeals(db, run.connection, 'row', met);
    if (isSame) await keepTableRead(db, run.connection, before.digest, read, met);
  });
}

/**
 * Remembers a table that holds only what a run has written: `rows` rows, each verified, with the usual status, at this
 * version. Remembers nothing when the pairs say otherwise.
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
  if (missing.length > 0 || version !== (await context.target.version?.(context.stop))) return;
  const fields = context.connection.fields.map(({ field }) => field);
  await inLeasedTransaction(context, async (db) => {
    const met = new SeenPairs();
    if (!(await sealAllRows(db, run.connection, before.digest, fields, rows, met))) return;
    const read = { rows, problems: [], mark: mark === undefined ? null : (mark ?? ''), left: [], asides: [] };
    await keepTableRead(db, run.connection, before.digest, read, met);
  });
}
