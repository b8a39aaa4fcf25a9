import { hash } from 'node:crypto';
import { type Lead, leadCells } from '../core/lead/lead.ts';
import { sameCell, withoutFields } from '../core/lead/value.ts';
import { afterRejectedId, type Asked, isAskedFor } from '../core/merge/difference.ts';
import { LeadsyncError } from '../lib/errors.ts';
import type { LeadsPort } from '../ports/leads-service.ts';
import type { LiveScan } from '../core/merge/live-scan.ts';
import { rowsOfOtherTables, scannedLeadCells, sightsOf } from '../store/differences.ts';
import { putBackCells, whatIsKnown } from '../store/earlier-values.ts';
import { movedFields } from '../store/place-notes.ts';
import { someKnown } from '../store/pairs.ts';
import { type Run, updateRun } from '../store/runs.ts';
import { logLeads } from '../store/run-sights.ts';
import { inLanes } from './concurrency.ts';
import { inLeasedTransaction, isFiltered, serviceOf, type StepContext } from './context.ts';
import { readablePolicy } from './make-plan.ts';
import { attemptsPerAction, faultCodes, faultsThatTell, itemCodes, unreadCodes } from './push-leads.ts';
import { type ForeignLeads, looksForeign } from '../core/merge/guard.ts';

/**
 * Reads leads by their ids, before anything is planned, of which the list alone says too little. Their answers become a part of
 * the scan.
 */
export async function askLeads(context: StepContext, run: Run, scan: LiveScan): Promise<void> {
  await askUnlisted(context, run, scan);
  await rereadLate(context, run, scan);
}

/** The most leads outside of the list that a run asks for: above it, those of the edited rows come first. */
const mostAsked = 10_000;

/** Answers stored together: the most that a killed run asks for again. */
const answersTogether = 100;

/** On a first sync, when none of so many ids is a lead's, the column holds other numbers: no more of them are asked for. */
const firstAsked = 20;

/**
 * Asks for leads that the list does not show and about whose rows something is to be said or done (see `isAskedFor`). What is
 * answered is stored. A request that the service does not answer is tried by the run again, and is left unknown at last, as are
 * all when several in a row fail, or the key may not read single leads.
 */
async function askUnlisted(context: StepContext, run: Run, scan: LiveScan): Promise<void> {
  const ids = await unlistedIds(context, run, scan);
  if (ids.length === 0) return;
  const asking = ids.slice(0, Math.max(0, mostAsked - scan.askedIds.length));
  const open = new Set(asking.map(({ leadId }) => leadId));
  const isFirst = scan.inStep() === 0;
  let [answers, inARow, isAnyShown] = [[] as Answered[], 0, !isFirst];
  let [fault, asked]: [LeadsyncError | null, number] = [null, 0];
  const isOver = (): boolean => inARow >= faultsThatTell || fault?.code === 'leads.forbidden';
  const areNumbers = (): boolean => asked > 0 && !isAnyShown;
  const ask = async (id: UnlistedId): Promise<void> => {
    const { leadId } = id;
    if (isOver()) return;
    context.stop.throwIfAborted();
    try {
      const lead = await context.leads.get(leadId, context.cut);
      isAnyShown ||= lead !== null;
      answers.push({ leadId, lead, answer: lead === null ? 'gone' : 'shown', message: null });
      inARow = 0;
    } catch (error) {
      const of = asFault(error);
      if (itemCodes.includes(of.code)) answers.push({ leadId, lead: null, ...afterRejection(of, id) });
      else [fault, inARow] = [of, inARow + 1];
    }
  };
  while (asking.length > 0 && !isOver() && !areNumbers()) {
    const together = asking.splice(0, isAnyShown ? answersTogether : firstAsked);
    asked += together.length;
    try {
      await inLanes(together, () => context.leads.lanes, ask);
    } finally {
      for (const { leadId } of answers) open.delete(leadId);
      if (answers.length > 0) await storeAsked(context, run, scan, answers);
      answers = [];
    }
  }
  const last = fault as LeadsyncError | null;
  if (last !== null && last.code !== 'leads.forbidden' && run.attempts + 1 < attemptsPerAction) throw last;
  if (last === null) return;
  const { message } = last;
  await storeAsked(
    context,
    run,
    scan,
    [...open].map((leadId) => ({ leadId, lead: null, answer: 'unknown', message })),
  );
}

interface UnlistedId {
  readonly leadId: string;
  /** Whether it was a lead: then a row of it was edited. */
  readonly isKnown: boolean;
}

/** The leads to ask for, first those of edited rows; unknown ids in an order of the run, so that each has its turn. */
async function unlistedIds(context: StepContext, run: Run, scan: LiveScan): Promise<readonly UnlistedId[]> {
  const { pool } = context;
  const policy = readablePolicy(context, run);
  const moved = await movedFields(pool, run.connection, policy.fields);
  // Nothing is asked of a lead that another connection keeps: it must not become one of this one's.
  const homes = await rowsOfOtherTables(pool, run, scan, serviceOf(context.connection));
  const ids: UnlistedId[] = [];
  for await (const row of sightsOf(pool, run, scan, scan.unlistedRows())) {
    const base = row.base && withoutFields(row.base, moved);
    if (row.row === null || (base === null && homes.has(row.leadId))) continue;
    const isStray = row.rowAbsences > 0 || row.held.some(({ code }) => code === 'row.orphan');
    if (isAskedFor({ ...row, cells: row.row, base, isStray }, isFiltered(context), policy))
      ids.push({ leadId: row.leadId, isKnown: base !== null });
  }
  if (ids.length <= mostAsked) return ids;
  const place = ({ leadId, isKnown }: UnlistedId): string =>
    `${isKnown ? 0 : 1}${hash('sha256', `${run.id} ${leadId}`)}`;
  const placed = ids.map((id) => ({ id, at: place(id) }));
  return placed.toSorted((a, b) => (a.at < b.at ? -1 : 1)).map(({ id }) => id);
}

interface Answered extends Asked {
  readonly leadId: string;
  readonly lead: Lead | null;
}

/** Throws what no single lead is the reason for. */
function asFault(error: unknown): LeadsyncError {
  const isLeads = error instanceof LeadsyncError && [...unreadCodes, ...faultCodes].includes(error.code);
  if (!isLeads) throw error;
  return error;
}

function afterRejection({ code, message }: LeadsyncError, { leadId, isKnown }: UnlistedId): Asked {
  const answer = code === 'leads.rejected' ? afterRejectedId(leadId, isKnown) : 'unknown';
  return { answer, message: answer === 'unknown' ? message : null };
}

async function storeAsked(
  context: StepContext,
  run: Run,
  scan: LiveScan,
  answers: readonly Answered[],
): Promise<void> {
  if (answers.length === 0) return;
  const { fields } = context.connection;
  for (const { lead, leadId, ...answer } of answers) {
    // In the spelling of the service, which may be another one than that of the table.
    scan.answer(lead?.id ?? leadId, answer);
    if (lead !== null) scan.correctLead(lead.id, leadCells(lead, fields));
  }
  scan.respellRows();
  await inLeasedTransaction(context, async (db) => {
    await logLeads(db, run.id, scan.takeLeads([]));
    await updateRun(db, run.id, { attempts: 0 });
  });
}

/** Leads read by their ids before it is clear whether the list is behind. */
const atATime = 20;

/**
 * Reads leads by their ids that the scan shows as they were before: a list may be behind what was written into the leads, and
 * would take it back in the rows. Corrects the scan. When none of some leads shows anything newer, the list is right: they were
 * edited, or the service is an older copy.
 */
async function rereadLate(context: StepContext, run: Run, scan: LiveScan): Promise<void> {
  const { pool, connection } = context;
  if (!(await whatIsKnown(pool, run.connection)).hasMoved) return;
  const fields = connection.fields.map(({ field }) => field);
  const leftAt = new Map<string, number>();
  for await (const { leadId, spans } of putBackCells(pool, run, scan, 'lead', fields))
    leftAt.set(leadId, Math.max(leftAt.get(leadId) ?? 0, ...spans.map((span) => span.leftAt)));
  // A list is behind what was written last.
  const latest = [...leftAt].toSorted(([, a], [, b]) => b - a).map(([leadId]) => leadId);
  for (const left = latest; left.length > 0; )
    if ((await correct(context, run, scan, left.splice(0, atATime))) === 0) return;
}

/** How many of these leads show something else than in the scan. */
async function correct(
  context: StepContext,
  run: Run,
  scan: LiveScan,
  leadIds: readonly string[],
): Promise<number> {
  const { fields } = context.connection;
  const listed = await scannedLeadCells(context.pool, run, scan, leadIds);
  const newer: { leadId: string; cells: ReturnType<typeof leadCells> }[] = [];
  await inLanes(
    leadIds,
    () => context.leads.lanes,
    async (leadId) => {
      context.stop.throwIfAborted();
      const lead = await readLate(context, run, leadId);
      const cells = lead && leadCells(lead, fields);
      const before = listed.get(leadId);
      if (cells && fields.some(({ field }) => !sameCell(cells[field] ?? null, before?.[field] ?? null)))
        newer.push({ leadId, cells });
    },
  );
  for (const { leadId, cells } of newer) scan.correctLead(leadId, cells);
  if (newer.length > 0) await inLeasedTransaction(context, (db) => logLeads(db, run.id, scan.takeLeads([])));
  return newer.length;
}

/** As `readById`; a lead whose request fails each time is as the scan shows it, so that one lead does not end every run. */
async function readLate({ leads, cut }: StepContext, run: Run, leadId: string): ReturnType<typeof readById> {
  try {
    return await readById(leads, leadId, cut);
  } catch (error) {
    const isFault = error instanceof LeadsyncError && faultCodes.includes(error.code);
    if (!isFault || run.attempts + 1 < attemptsPerAction) throw error;
    return undefined;
  }
}

/** A lead as it is now; null: it is gone; undefined: the service shows other leads but not this one. */
export async function readById(
  leads: LeadsPort,
  leadId: string,
  signal: AbortSignal,
): Promise<Lead | null | undefined> {
  try {
    return await leads.get(leadId, signal);
  } catch (error) {
    const code = error instanceof LeadsyncError ? error.code : '';
    if (!unreadCodes.includes(code)) throw error;
    return undefined;
  }
}

/** Known leads that are asked for by id before a service is taken for another one. */
export const askedKnown = 5;

/**
 * Whether the scan shows the leads of another organization: nearly none that is known, and none of some of them is there by
 * its id. Null: no; so a list with another filter, and one whose leads moved on, are honest.
 */
export async function findForeign(
  { pool, leads, cut }: StepContext,
  run: Run,
  scan: LiveScan,
): Promise<ForeignLeads | null> {
  const { known, missed } = scan.unlisted();
  const counts = { known, listed: known - missed, others: run.pulled - (known - missed) };
  if (!looksForeign(counts)) return null;
  const asked = await someKnown(pool, run.connection, askedKnown, [...scan.unlistedLeads()]);
  return (await hasAny(leads, asked, cut)) ? null : { ...counts, asked: asked.length };
}

/** Whether the service has any of these leads. Of one that may not be read it counts as not having it. */
export async function hasAny(
  leads: LeadsPort,
  leadIds: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  for (const leadId of leadIds) if (await readById(leads, leadId, signal)) return true;
  return false;
}
