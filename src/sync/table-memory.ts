import type pg from 'pg';
import { shortHash } from '../core/lead/content-hash.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { inStep } from '../core/merge/row-status.ts';
import type { ContentTag } from '../ports/target.ts';
import type { Run } from '../store/runs.ts';
import {
  keepTableRead,
  keepWrittenTable,
  type RepeatedRead,
  repeatTableRead,
  type TableRead,
} from '../store/place-notes.ts';
import { version } from '../lib/version.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';

/** The most rows that do not show their baselines, pairs without a row, and asides, that a table read remembers. */
export const mostLeft = 1_000;

/** What the status column shows of an ordinary row; null: there is no status column. */
export function usualStatusOf({ connection }: StepContext): string | null {
  return connection.target.statusColumn === undefined ? null : inStep;
}

/** A table at one moment. `contentTag`: of its content and everything that decides how it is read. */
export type KnownTable = ContentTag;

/** Null: nothing tells whether the table is the same. `wasFilled`: rows of it are known. */
export async function lookAtTable(
  { target, connection, stop }: StepContext,
  wasFilled: boolean,
): Promise<KnownTable | null> {
  const found = await target.contentTag?.(stop);
  if (found === undefined || found === null) return null;
  // Another version of leadsync may read the same bytes differently.
  const { target: settings, fields, sync } = connection;
  const read = JSON.stringify([version, settings, fields, wasFilled, sync.match]);
  return { ...found, contentTag: shortHash(`${read}\n${found.contentTag}`) };
}

/**
 * Sees a table as it was when it was read last; null: it may have changed, or a pair has moved since. Where a change shows late, whoever
 * asks for the run has it read.
 */
export async function seeAsBefore(
  context: StepContext,
  run: Run,
  { contentTag, from }: KnownTable,
  scan: LiveScan,
): Promise<RepeatedRead | null> {
  if (from === 'late' && context.isAsked) return null;
  const read = await repeatTableRead(context.pool, run.connection, { contentTag, from }, scan.base.moves);
  if (read === null) return null;
  // The first row of a copy shows its baseline unless it is left itself.
  const left = read.left.flatMap(({ leadId, duplicate }) => (leadId === null || duplicate ? [] : [leadId]));
  scan.meetRowsBut([...read.rowless, ...left]);
  const seeing = { isWhole: true, usualStatus: usualStatusOf(context) };
  for (const row of read.left) scan.seeRow(row, seeing);
  scan.seeAsides(read.asides);
  return read;
}

/** Remembers what a table showed. `before`: the table before it was read; null: it cannot be recognised. */
export async function rememberTable(
  context: StepContext,
  run: Run,
  before: KnownTable | null,
  read: Omit<TableRead, 'rowless'>,
  scan: LiveScan,
): Promise<void> {
  if (before === null || read.left.length > mostLeft || read.asides.length > mostLeft) return;
  const rowless = scan.rowless(mostLeft);
  if (rowless === null || rowless.some((leadId) => scan.merged(leadId) !== null)) return;
  const { version: seen } = before;
  if (seen !== undefined && seen !== (await context.target.version?.(context.stop))) return;
  const keep = (db: pg.PoolClient) =>
    keepTableRead(db, run.connection, before, scan.base.moves, { ...read, rowless });
  await inLeasedTransaction(context, keep, 'repeatable');
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
  if (before === null || before.version === undefined || before.version !== version) return;
  const { mark, missing } = await context.target.open({ create: false, wasFilled: true }, context.stop);
  if (missing.length > 0 || version !== (await context.target.version?.(context.stop))) return;
  const fields = context.connection.fields.map(({ field }) => field);
  const shown = { rows, problems: [], mark: mark === undefined ? null : (mark ?? '') };
  const read = { ...shown, left: [], rowless: [], asides: [] };
  await inLeasedTransaction(context, (db) =>
    keepWrittenTable(db, run.connection, before.contentTag, fields, read),
  );
}
