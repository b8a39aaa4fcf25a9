import { hashContent } from '../../src/core/lead/content-hash.ts';
import { type Cells, isUnreadable, sameCell, type Values } from '../../src/core/lead/value.ts';
import { type PlannedAction, plannedAction } from '../../src/core/merge/action.ts';
import { contentMarks, findLostRows, type LostLead, type Stray } from '../../src/core/merge/lost-rows.ts';
import { agreedContent, isOver } from '../../src/core/merge/match-lost-creates.ts';
import { orphan, planPair, type PairState } from '../../src/core/merge/plan.ts';
import {
  planClosedId,
  planDuplicateRow,
  planLostRow,
  planMovedRow,
  planUnreadableId,
} from '../../src/core/merge/plan-held-rows.ts';
import { planFoundRow, planLink } from '../../src/core/merge/plan-link.ts';
import { planNewRow } from '../../src/core/merge/plan-new-row.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { intentRows, matchCreates } from '../support/run-steps.ts';
import { type Pair, type Row, type RunState, scanStartedAt } from './whole-run.ts';

/** A plan of a whole run, and what it saw. */
export interface Planned {
  readonly actions: readonly PlannedAction[];
  /** Leads as seen: those of the list, and those that were asked for by id. */
  readonly seen: ReadonlyMap<string, Cells>;
  /** Leads that a create made, as its reply said, and that the list lacks. */
  readonly made: ReadonlyMap<string, Cells>;
  /** The first row of each id. */
  readonly rowOf: ReadonlyMap<string, Row>;
  /** Rows without an id, and further rows of one. */
  readonly loose: readonly Row[];
  /** The leads of creates that are not settled; null: not found. */
  readonly open: readonly (string | null)[];
  /** Complete scans that lacked the lead, this one included. */
  readonly leadAbsences: (leadId: string) => number;
}

const unknown: Pair = {
  base: null,
  leadAbsences: 0,
  rowAbsences: 0,
  deletionDone: false,
  place: 0,
  memo: {},
  merged: null,
  undone: null,
};

/**
 * A run's plan, made in memory of the functions that decide (src/core/merge), as src/sync/make-plan.ts makes it from the database.
 */
export function planRun(state: RunState): Planned {
  const policy: Policy = {
    ...state.policy,
    fields: state.policy.fields.filter(({ field }) => !state.unseen.has(field)),
    unseen: state.policy.fields.filter(({ field }) => state.unseen.has(field)),
  };
  const { rowOf, loose } = sortRows(state.rows);
  const seen = seenLeads(state, rowOf, policy);
  const isProof = {
    leads: state.weight === 1 && seen.size > 0,
    rows: state.rows.length > 0 && !state.isRowDoubted,
  };
  const creates = settleCreates(state, policy, seen, rowOf, loose);
  const actions: PlannedAction[] = [...creates.actions];

  const lostLeads = findGone(state, policy, seen, rowOf, creates);
  const strays = findStrays(state, policy, seen, rowOf, loose, creates);
  const found = findLostRows(strays, lostLeads, state.policy.fields, policy.fields);
  const byRow = new Map(strays.map((stray) => [stray.row, stray]));
  const linkedRow = new Map([...found.links].map(([row, leadId]) => [leadId, byRow.get(row)]));
  const unreadable = new Set(
    strays
      .filter((stray) => stray.isUnreadable)
      .flatMap((stray) => contentMarks(stray.cells, state.policy.fields)),
  );

  const pairOf = (leadId: string): Pair => state.pairs.get(leadId) ?? unknown;
  const leadAbsences = (leadId: string): number =>
    seen.has(leadId) ? 0 : pairOf(leadId).leadAbsences + Number(isProof.leads);
  const planOne = (leadId: string): readonly PlannedAction[] => {
    const pair = pairOf(leadId);
    const [lead, again] = [seen.get(leadId) ?? null, linkedRow.get(leadId)];
    const row = again ?? rowOf.get(leadId) ?? null;
    const base = pair.base && without(pair.base, state.moved);
    const pairState: PairState = {
      leadId,
      base,
      lead,
      row: row && { row: row.row, cells: row.cells },
      memo: pair.memo,
      leadAbsences: leadAbsences(leadId),
      rowAbsences: row === null ? pair.rowAbsences + Number(isProof.rows) : 0,
      isRowDoubted: state.isRowDoubted,
      deletionDone: pair.deletionDone,
      merged: pair.merged,
      undone: lead === null ? null : pair.undone,
    };
    if (row === null) {
      const isAnyones =
        base === null
          ? lead !== null && contentMarks(lead, state.policy.fields).some((mark) => unreadable.has(mark))
          : found.isAnyones;
      return isAnyones || found.leadIds.has(leadId) ? [] : planPair(pairState, policy);
    }
    if (again !== undefined) return planFoundRow(pairState, policy);
    const others = found.moved.get(row.row);
    if (others !== undefined && base !== null) return [planMovedRow(pairState, others)];
    const mayBe = found.mayBe.get(row.row);
    return mayBe !== undefined && lead === null
      ? [orphan(pairState, row, mayBe)]
      : planPair(pairState, policy);
  };

  for (const leadId of new Set([...state.pairs.keys(), ...seen.keys(), ...rowOf.keys()])) {
    if (!creates.leadIds.has(leadId)) actions.push(...planOne(leadId));
  }
  for (const one of loose) {
    const mayBe = found.mayBe.get(one.row);
    if (one.leadId !== null) actions.push(planDuplicateRow(one.leadId, one.row, mayBe));
    else if (one.unreadableId !== null)
      actions.push(planUnreadableId(one.row, one.cells, one.unreadableId, mayBe, policy));
    else if (creates.rows.has(one.row) || found.links.has(one.row)) continue;
    else if (mayBe !== undefined) actions.push(planLostRow(one.row, one.cells, mayBe, policy));
    else if (!one.isApart) {
      const planned = planNewRow(one.row, one.cells, one.refused, policy);
      const isStuck = one.idClosed !== null && planned.some(({ kind }) => kind === 'create-lead');
      actions.push(...(isStuck ? [planClosedId(one.row, one.cells, one.idClosed ?? '', policy)] : planned));
    }
  }
  return { actions, seen, made: creates.made, rowOf, loose, open: creates.open, leadAbsences };
}

function sortRows(rows: readonly Row[]) {
  const rowOf = new Map<string, Row>();
  const loose: Row[] = [];
  for (const row of rows) {
    if (row.leadId === null || rowOf.has(row.leadId)) loose.push(row);
    else rowOf.set(row.leadId, row);
  }
  return { rowOf, loose };
}

/** What the list shows; a lead that it lacks is read by its id when its row differs. */
function seenLeads(state: RunState, rowOf: ReadonlyMap<string, Row>, policy: Policy): Map<string, Cells> {
  const seen = new Map([...state.leads].filter(([leadId]) => state.listed.has(leadId)));
  for (const [leadId, { cells }] of rowOf) {
    const lead = state.leads.get(leadId);
    const base = state.pairs.get(leadId)?.base;
    if (lead !== undefined && (!base || !showsBase(cells, base, policy))) seen.set(leadId, lead);
  }
  return seen;
}

function showsBase(cells: Cells, base: Values, { fields }: Policy): boolean {
  return fields.every(
    ({ field }) => !(field in cells) || sameCell(cells[field] ?? null, base[field] ?? null),
  );
}

export function without(values: Values, fields: ReadonlySet<string>): Values {
  return Object.fromEntries(Object.entries(values).filter(([field]) => !fields.has(field)));
}

/** Leads whose row is gone, or shows another name. */
function findGone(
  state: RunState,
  policy: Policy,
  seen: ReadonlyMap<string, Cells>,
  rowOf: ReadonlyMap<string, Row>,
  creates: Creates,
): readonly LostLead[] {
  const gone: LostLead[] = [];
  for (const [leadId, { base, rowAbsences, leadAbsences, place, merged, deletionDone }] of state.pairs) {
    if (base === null || creates.leadIds.has(leadId) || deletionDone) continue;
    const [now, row] = [seen.get(leadId), rowOf.get(leadId)];
    const lost = { leadId, base, lead: now ?? base, isListed: now !== undefined };
    if (row === undefined) {
      if (merged === null && (now !== undefined || leadAbsences === 0))
        gone.push({ ...lost, isFresh: rowAbsences === 0, place });
      continue;
    }
    const name = row.cells['companyName'];
    if (name === undefined || sameCell(base['companyName'] ?? null, null)) continue;
    if ([base, now].some((one) => one !== undefined && sameCell(one['companyName'] ?? null, name))) continue;
    const shown = { row: row.row, contentHash: hashContent(row.cells, policy.fields) };
    gone.push({ ...lost, isListed: true, isFresh: true, place: null, shown });
  }
  return [...gone, ...creates.rowless];
}

function findStrays(
  { pairs }: RunState,
  { fields }: Policy,
  seen: ReadonlyMap<string, Cells>,
  rowOf: ReadonlyMap<string, Row>,
  loose: readonly Row[],
  creates: Creates,
): readonly Stray[] {
  const isStray = ({ leadId, row }: Row): boolean =>
    leadId === null
      ? !creates.rows.has(row)
      : loose.some((one) => one.row === row) || (!pairs.has(leadId) && !seen.has(leadId));
  return [...rowOf.values(), ...loose].filter(isStray).map((row) => ({
    row: row.row,
    leadId: row.leadId,
    isUnreadable: row.unreadableId !== null,
    isClosed: row.idClosed !== null,
    cells: row.cells,
    contentHash: hashContent(row.cells, fields),
  }));
}

interface Creates {
  readonly actions: readonly PlannedAction[];
  readonly leadIds: ReadonlySet<string>;
  readonly rows: ReadonlySet<number>;
  readonly rowless: readonly LostLead[];
  readonly open: readonly (string | null)[];
  readonly made: ReadonlyMap<string, Cells>;
}

/** What the scan says about unfinished creates, as src/sync/find-lost-creates.ts. */
function settleCreates(
  state: RunState,
  policy: Policy,
  seen: ReadonlyMap<string, Cells>,
  rowOf: ReadonlyMap<string, Row>,
  loose: readonly Row[],
): Creates {
  const actions: PlannedAction[] = [];
  const [leadIds, rows, rowless] = [new Set<string>(), new Set<number>(), [] as LostLead[]];
  const open: (string | null)[] = [];
  const made = new Map<string, Cells>();
  const strangers = [...seen].flatMap(([id, cells]) => (state.pairs.has(id) ? [] : [{ id, cells }]));
  const matches = matchCreates(state.intents, strangers, { weight: state.weight, startedAt: scanStartedAt });
  const isLinked = (leadId: string): boolean => rowOf.has(leadId);
  const free = loose
    .filter(({ leadId }) => leadId === null)
    .map((row) => ({ ...row, contentHash: hashContent(row.cells, policy.fields) }));
  const unlinked = state.intents.filter(({ id }) => {
    const match = matches.get(id);
    return match?.kind !== 'found' || !isLinked(match.leadId);
  });
  const rowsOf = intentRows(unlinked, free);
  for (const intent of state.intents) {
    const match = matches.get(intent.id) ?? { kind: 'again' as const };
    if (match.kind === 'again') continue;
    const leadId = match.kind === 'found' ? match.leadId : null;
    if (leadId !== null && isLinked(leadId)) continue;
    const lead = seen.get(leadId ?? '') ?? null;
    const base = lead === null ? intent.content : agreedContent(intent, lead);
    if (leadId !== null) leadIds.add(leadId);
    if (leadId !== null && lead === null) made.set(leadId, base);
    const { rows: own, certain } = rowsOf.get(intent.id) ?? { rows: [], certain: false };
    if (own.length === 0) {
      if (leadId !== null) {
        leadIds.delete(leadId);
        const values = Object.fromEntries(
          Object.entries(intent.row).filter(([, cell]) => !isUnreadable(cell)),
        ) as Values;
        rowless.push({
          leadId,
          base: values,
          lead: lead ?? values,
          isListed: lead !== null,
          isFresh: true,
          place: null,
        });
      }
      if (match.kind === 'wait') open.push(null);
      continue;
    }
    open.push(leadId);
    const writable = own.filter(({ unreadableId }) => unreadableId === null);
    const [row] = writable;
    if (row === undefined) continue;
    for (const { row: taken } of writable) rows.add(taken);
    if (match.kind === 'ambiguous') for (const candidate of match.candidates) leadIds.add(candidate);
    const isAsked =
      !certain ||
      match.kind === 'ambiguous' ||
      match.kind === 'unrecognised' ||
      (match.kind === 'wait' && state.filtered && isOver(intent, scanStartedAt));
    if (isAsked) {
      const given = { leadId: intent.leadId, row: row.row, contentHash: intent.contentHash };
      actions.push(plannedAction('hold', { ...given, reason: 'create.in-doubt' }));
    } else if (leadId !== null) actions.push(...planLink(leadId, base, lead, row, policy));
  }
  return { actions, leadIds, rows, rowless, open, made };
}
