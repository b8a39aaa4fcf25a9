import { basename } from 'node:path';
import type pg from 'pg';
import { readableFingerprint } from '../core/lead/content-hash.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import type { Problem } from '../lib/errors.ts';
import type { OtherPlace } from '../core/merge/guard.ts';
import { countActions } from '../store/actions.ts';
import { sightsOf } from '../store/differences.ts';
import { wasEverInStep } from '../store/pairs.ts';
import {
  currentPlace,
  keyOf,
  type KnownPlace,
  placeById,
  placeNames,
  renamePlace,
  seePlace,
  sharedWith,
} from '../store/places.ts';
import { nextRound, type Run, updateRun } from '../store/runs.ts';
import type { CopyBeside } from '../ports/target.ts';
import { inLeasedTransaction, type StepContext } from './context.ts';

/** After this pause (ms) a run checks its place again: a link may lead elsewhere by now. */
const lookAgainAfter = 60_000;

/** The codes of notes about a place begin with this. */
const placeCode = 'place.';

/** Whether a run with this problem is still complete. */
export function isNote({ code }: Problem): boolean {
  return code.startsWith(placeCode) || code === 'delete.dropped';
}

/**
 * Finds the place of a run, and thereby its baselines: those of the place; none for a new place; or the current ones when
 * that place is gone and this may be it, which the plan has to prove. A place that was in step and is missing stops the
 * run: it is not created anew. Nothing of the current place changes before the guard passed the plan (`enterPlace`).
 */
export async function whichPlace(context: StepContext, run: Run): Promise<Run> {
  const { target, connection, cut } = context;
  if (run.place !== null && run.idleMs < lookAgainAfter) return run;
  const found = (await target.place?.(cut)) ?? null;
  if (found === null) return run;
  const seen = await inLeasedTransaction(context, (db) => seePlace(db, connection.name, found));
  if (seen.id === run.place) return run;
  const placed = await inLeasedTransaction(context, async (db) => {
    const begun = run.place === null ? run : await nextRound(db, run.id);
    const baseline = await baselineOf(context, seen, found.isThere, run);
    return updateRun(db, begun.id, { place: seen.id, baseline });
  });
  await context.runPolicy.assertPlace(context.pool, placed, seen);
  if (found.isThere || run.allow.includes('target-gone')) return placed;
  if (!(await wasEverInStep(context.pool, placed.connection))) return placed;
  // The target reports what is wrong before all leads are read.
  const elsewhere = placed.connection !== connection.name;
  await target.open({ create: false, wasFilled: true, elsewhere }, cut);
  return placed;
}

/** The key of the baselines in a place; null: that of the connection. */
async function baselineOf(
  { target, pool, connection, cut }: StepContext,
  seen: KnownPlace,
  isThere: boolean,
  { allow }: Run,
): Promise<string | null> {
  if (seen.isCurrent) return null;
  const current = await currentPlace(pool, connection.name);
  // Baselines without a place belong here.
  if (current === null) return null;
  if (seen.wasCurrent || !isThere || allow.includes('other-target')) return keyOf(seen);
  return (await target.isLeft?.({ id: current.identity, address: current.address }, cut)) === true
    ? null
    : keyOf(seen);
}

/** A target that a run created has another identity than the missing one. */
export async function noteMade(context: StepContext, run: Run): Promise<void> {
  const made = run.place === null ? null : await context.target.place?.(context.cut);
  if (made?.isThere !== true || run.place === null) return;
  const { place } = run;
  await inLeasedTransaction(context, (db) => renamePlace(db, place, made));
}

/** The place of a run, and the one in step so far. */
export interface Placement {
  readonly kind: 'same' | 'moved' | 'former' | 'new';
  readonly here: KnownPlace;
  readonly before: KnownPlace;
}

/** Null: nothing was in step so far, or the target has no place. */
export async function placementOf(
  db: pg.PoolClient,
  run: Run,
  connection: string,
): Promise<Placement | null> {
  const here = run.place === null ? null : await placeById(db, run.place);
  const before = await currentPlace(db, connection);
  if (here === null || before === null) return null;
  if (here.id === before.id) return { kind: 'same', here, before };
  if (run.connection === connection) return { kind: 'moved', here, before };
  return { kind: here.wasCurrent ? 'former' : 'new', here, before };
}

/** The guard's numbers of a place without baselines of its own; null: it has them. */
export async function otherPlace(
  db: pg.PoolClient,
  run: Run,
  scan: LiveScan,
  placement: Placement | null,
): Promise<OtherPlace | null> {
  if (placement === null) return null;
  const { kind } = placement;
  const addresses = placeNames(placement);
  if (kind === 'moved')
    return { ...addresses, ...(await countRecognised(db, run, scan)), newLeads: 0, differing: 0 };
  if (kind !== 'new') return null;
  const newLeads = (await countActions(db, run.id))
    .filter((one) => one.kind === 'create-lead' && one.round === run.round && one.state !== 'left-out')
    .reduce((total, { count }) => total + count, 0);
  return { ...addresses, known: 0, recognised: 0, newLeads, differing: countDiffering(scan) };
}

/** How a place that may have moved compares with what is remembered: pairs that were in step, and rows that show it. */
async function countRecognised(
  db: pg.PoolClient,
  run: Run,
  scan: LiveScan,
): Promise<{ readonly known: number; readonly recognised: number }> {
  const known = scan.inStep();
  let recognised = scan.unmoved().rows;
  for await (const { leadId, base } of sightsOf(db, run, scan, [...scan.rows.ids()])) {
    const cells = scan.row(leadId)?.cells ?? null;
    if (base === null || cells === null) continue;
    const fields = Object.entries(base);
    const same = fields.filter(([field, value]) => cells[field] === value);
    if (2 * same.length >= fields.length) recognised += 1;
  }
  return { known, recognised };
}

/** Rows of a scan that show other values than their leads. */
function countDiffering(scan: LiveScan): number {
  let count = 0;
  for (const leadId of scan.rows.ids()) {
    const lead = scan.lead(leadId);
    const hash = lead && readableFingerprint(lead, scan.base.fields);
    if (lead !== null && !scan.isPaused(leadId) && scan.row(leadId)?.hash !== hash) count += 1;
  }
  return count;
}

const note = (code: string, message: string): Problem => ({ code: `${placeCode}${code}`, message });

/** The note that another connection syncs the same place; empty: none does. */
export async function placeShared(
  db: Parameters<typeof sharedWith>[0],
  place: Pick<KnownPlace, 'connection' | 'identity' | 'address'>,
): Promise<readonly Problem[]> {
  const other = await sharedWith(db, place);
  if (other === null) return [];
  const message = `${place.address} is kept in step by the connection ${other} too: give each a place of its own`;
  return [note('shared', message)];
}

export async function placeNotes(
  db: pg.PoolClient,
  placement: Placement | null,
): Promise<readonly Problem[]> {
  if (placement === null) return [];
  const { here, before } = placeNames(placement);
  const kept = `What is remembered of ${before} is kept for when the target is set back`;
  const notes = {
    same: [],
    moved: [note('moved', `moved from ${before} to ${here}: it goes on there`)],
    former: [note('switched', `back in ${here}: it goes on from where it was left. ${kept}`)],
    new: [note('first-sync', `first sync of ${here}. ${kept}`)],
  };
  return [...notes[placement.kind], ...(await placeShared(db, placement.here))];
}

/** The most conflict copies that a note names. */
const mostNamed = 3;

/** The note about conflict copies beside a table; empty: there are none. */
export function copiesNote(name: string, copies: readonly CopyBeside[]): readonly Problem[] {
  if (copies.length === 0) return [];
  const named = copies
    .slice(0, mostNamed)
    .map(({ name: copy, changedAt }) => `${copy} (since ${new Date(changedAt).toISOString()})`);
  const more = copies.length > mostNamed ? [`${copies.length - mostNamed} more`] : [];
  const one = copies.length === 1;
  const message = `${[...named, ...more].join(', ')} beside ${name} ${one ? 'looks like a conflict copy' : 'look like conflict copies'} of it. Edits in ${one ? 'it' : 'them'} reach nobody: take over into ${basename(name)} what is missing there, then delete ${one ? 'the copy' : 'the copies'}`;
  return [note('conflict-copies', message)];
}
