import {
  type Cells,
  isUnreadable,
  sameButSpelling,
  sameCell,
  showCell,
  type Value,
  type Values,
} from '../lead/value.ts';
import { type DeleteAnswer, deleteQuestions } from './held-conflicts.ts';
import { holdMessage, undoneMessages } from './hold-message.ts';
import type { MergedPlace } from '../lead/table-rows.ts';
import {
  type ActionKind,
  type Actions,
  type Change,
  type Changes,
  type PlannedAction,
  plannedAction,
  type RowState,
  shownBefore,
} from './action.ts';
import { type FieldMemo, mergeField, unreadCode } from './merge-field.ts';
import { idAdvice, planMissing, planTooLarge } from './plan-rows.ts';
import { absencesThatProve, missedFields, type Policy, sameRecord } from './policy.ts';
import { hashContent } from '../lead/content-hash.ts';

/** The facts about one lead id for a plan. */
export interface PairState {
  readonly leadId: string;
  /** The baseline of each field that ever was in step. Null: never a pair. */
  readonly base: Values | null;
  /**
   * The lead in the last complete scan, or by its id (see `isAskedFor`). Null: absent in the list, and where its row differs or
   * nobody knows the id, gone by its id as well, unless `unasked`.
   */
  readonly lead: Cells | null;
  /** Why it is not known whether the absent lead is gone, as a sentence without its beginning: nothing is said of a deletion. */
  readonly unasked?: string | undefined;
  readonly row: RowState | null;
  readonly memo: Readonly<Record<string, FieldMemo>>;
  /**
   * Consecutive complete scans of different runs, including this one, that lacked the lead (the row): the first, and those
   * that came long enough after it.
   */
  readonly leadAbsences: number;
  readonly rowAbsences: number;
  /** Epoch ms: when scans begin to come long enough after the first. Absent: the next one does. */
  readonly provenFrom?: number;
  /** The table may be an older copy, which is held: that a row is missing says nothing. */
  readonly isRowDoubted?: boolean;
  /** An earlier run carried out the lead's deletion (marked the row). */
  readonly deletionDone: boolean;
  /** What a person answered when asked whether it was deleted. Absent: nothing that holds. */
  readonly answer?: DeleteAnswer | null;
  /** Where its missing row went. */
  readonly merged?: MergedPlace | null;
  /** The lead's fingerprint, now and when an undo removed its row; absent: no undo, or the lead changed since. */
  readonly undone?: string | null;
}

/** The first table of docs/architecture.md 5: what to do with one lead id. Pure; empty: nothing to do. */
export function planPair(state: PairState, policy: Policy): Actions {
  const { base, lead, row } = state;
  const isPlanned = row !== null || base !== null || policy.direction !== 'to-leads';
  const tooLarge = isPlanned ? planTooLarge(state, policy) : null;
  if (tooLarge !== null) return [tooLarge];
  if (lead && row) return planBoth(state, lead, row, policy);
  if (lead && state.merged) {
    return [action('hold', state, { ...state.merged, reason: 'row.merged' })];
  }
  if (lead) {
    if (base !== null) return planRowGone(state, base, lead, policy);
    if (!state.undone) return planNewLead(state, lead, policy, 'new-lead');
    const [reason, contentHash] = ['lead.undone', state.undone] as const;
    return [action('hold', state, { reason, contentHash, message: undoneMessages[reason] })];
  }
  if (row) return base === null ? [orphan(state, row)] : planLeadGone(state, base, row, policy);
  const isRowGone = state.merged || state.rowAbsences >= absencesThatProve;
  const bothGone = state.leadAbsences >= absencesThatProve && isRowGone;
  return bothGone ? [action('forget', state, { reason: 'gone-on-both-sides' })] : [];
}

/** A lead without a row. With direction `to-leads` no rows are created. */
function planNewLead(state: PairState, lead: Cells, policy: Policy, reason: string): Actions {
  if (policy.direction === 'to-leads') return [];
  if (missedFields(policy).length > 0) return [planMissing({ leadId: state.leadId, row: null })];
  const changes: Record<string, Change> = {};
  const holds: PlannedAction[] = [];
  for (const mapping of policy.fields) {
    const { field } = mapping;
    const value = lead[field] ?? null;
    if (isUnreadable(value)) {
      const code = unreadCode('lead', value);
      const message = holdMessage(code, mapping, value, null);
      const unread = { [field]: { from: value, to: null } };
      holds.push(action('hold', state, { changes: unread, reason: code, message }));
    } else changes[field] = { from: null, to: value };
  }
  return [action('create-row', state, { changes, reason }), ...holds];
}

function planRowGone(state: PairState, base: Values, lead: Cells, policy: Policy): Actions {
  // The row may be on the clipboard: written again at once, it would be there twice.
  const mayReturn =
    state.provenFrom !== undefined && state.rowAbsences === 1 && policy.direction !== 'to-leads';
  const restored = (reason = 'row-deleted') =>
    mayReturn ? notYet(state, base, 'writes the row again') : planNewLead(state, lead, policy, reason);
  if (policy.onRowDeleted === 'ask' && policy.direction !== 'to-target')
    return planDeleteOfRow(state, base, lead, restored);
  if (!sameRecord(lead, base, policy)) return restored('row-deleted-but-lead-edited');
  switch (policy.onRowDeleted) {
    case 'ignore':
      return [];
    case 'ask':
    case 'restore':
      return restored();
    case 'delete-lead':
      if (policy.direction === 'to-target') return restored();
      if (state.rowAbsences >= absencesThatProve) return [deleteLead(state, lead)];
      return notYet(state, base, 'deletes the lead');
    default:
      return policy.onRowDeleted satisfies never;
  }
}

const deleteLead = (state: PairState, lead: Cells): PlannedAction =>
  action('delete-lead', state, { expect: lead, reason: 'row-deleted' });

/** The row is missing, which is not proven so far. */
function notYet(state: PairState, base: Values, then: string): Actions {
  if (state.rowAbsences > 0) return [waitingDelete(state, base, 'row', then)];
  return state.isRowDoubted === true ? [] : [unprovenDelete(state, base)];
}

/** A row is missing, and a person says what becomes of its lead, edited or not: they see it as it is. */
function planDeleteOfRow(state: PairState, base: Values, lead: Cells, restored: () => Actions): Actions {
  if (state.rowAbsences < absencesThatProve) return notYet(state, base, asks);
  if (state.answer === 'deleted') return [deleteLead(state, lead)];
  if (state.answer === 'restore') return restored();
  const message = `the row of ${nameIn(base)} was deleted: nothing is written before somebody decides. leadsync conflicts shows the number for leadsync resolve NUMBER --use deleted (the lead is deleted too) or --use restore (the row is written again)`;
  return [action('hold', state, { expect: lead, reason: deleteQuestions.row, message })];
}

const asks = 'asks whether that was meant';

const nameIn = (base: Values): string => showCell(base['companyName'] ?? null);

/** What becomes of the row of a lead that was deleted. */
const afterLeadDeleted = {
  keep: null,
  ask: null,
  mark: 'mark-row',
  remove: 'remove-row',
} as const satisfies Record<Policy['onLeadDeleted'], PlannedAction['kind'] | null>;

function planLeadGone(state: PairState, base: Values, row: RowState, policy: Policy): Actions {
  const isEdited = !sameRecord(row.cells, base, policy);
  if (isEdited) {
    const changes: Record<string, Change> = {};
    for (const { field } of policy.fields) {
      if (!(field in row.cells)) continue;
      const cell = row.cells[field] ?? null;
      if (!sameCell(cell, base[field] ?? null))
        changes[field] = { from: null, to: cell, base: base[field] ?? null };
    }
    if (state.unasked !== undefined) return [unasked(state, row, state.unasked, changes)];
    const message =
      'the lead was deleted in the service, but this row was edited since: nothing was changed. Delete the row, or clear its id to make a new lead of it';
    return [action('hold', state, { changes, reason: 'conflict.edit-meets-delete', message })];
  }
  const kind = afterLeadDeleted[policy.onLeadDeleted];
  if (policy.direction === 'to-leads' || state.deletionDone) return [];
  if (policy.onLeadDeleted === 'ask') return planDeleteOfLead(state, base, row);
  if (kind === null) return [];
  if (state.leadAbsences >= absencesThatProve)
    return [action(kind, state, { expect: row.cells, reason: 'lead-deleted' })];
  const isWaiting = kind === 'remove-row' && state.leadAbsences > 0;
  return isWaiting ? [waitingDelete(state, base, 'lead', 'deletes the row')] : [];
}

/** A lead is gone, and a person says what becomes of its row. */
function planDeleteOfLead(state: PairState, base: Values, row: RowState): Actions {
  if (state.leadAbsences < absencesThatProve)
    return state.leadAbsences > 0 ? [waitingDelete(state, base, 'lead', asks)] : [];
  if (state.unasked !== undefined) return [unasked(state, row, state.unasked)];
  const expect = row.cells;
  if (state.answer === 'deleted') return [action('remove-row', state, { expect, reason: 'lead-deleted' })];
  if (state.answer === 'restore') return [action('unlink', state, { expect, reason: leadWanted })];
  const message = `the lead of ${nameIn(base)} was deleted in the service: nothing is written before somebody decides. leadsync conflicts shows the number for leadsync resolve NUMBER --use deleted (the row is removed too) or --use restore (the row loses its id, and the sync after that makes a new lead of it)`;
  return [action('hold', state, { expect, reason: deleteQuestions.lead, message })];
}

/** Why a row loses the id of a lead that is gone: the next sync makes a lead of it. */
const leadWanted = 'lead-restored';

/** Warns while the row or lead can still be put back: the next complete scan without it, late enough, proves the deletion. */
function waitingDelete(state: PairState, base: Values, missing: 'lead' | 'row', then: string): PlannedAction {
  const company = nameIn(base);
  const { provenFrom } = state;
  const next =
    provenFrom === undefined
      ? ['the next complete scan', 'the next sync']
      : [`a complete scan from ${shownMinute(provenFrom)} on`, 'that sync'];
  const message = `the ${missing} of ${company} is missing${missing === 'lead' ? ' in the list' : ''}; if ${next[0]} lacks it too${missing === 'lead' ? ', and the service has none with its id' : ''}, ${next[1]} ${then}. Nothing was deleted so far. To keep it, put the ${missing} back`;
  return action('report', state, { reason: 'delete.waiting', message });
}

const shownMinute = (epochMs: number): string =>
  `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** A table without rows proves no deletion. */
function unprovenDelete(state: PairState, base: Values): PlannedAction {
  const message = `the row of ${nameIn(base)} is missing, but a table without rows does not prove that it was deleted: the lead stays, and no row was written. Put the row back, or set onRowDeleted to restore`;
  return action('report', state, { reason: 'delete.unproven', message });
}

/** Merges both sides field by field (the second table of docs/architecture.md 5). */
function planBoth(state: PairState, lead: Cells, row: RowState, policy: Policy): Actions {
  const toRow: Record<string, Change> = {};
  const toLead: Record<string, Change> = {};
  const agreed: Record<string, Change> = {};
  const holds: PlannedAction[] = [];
  for (const mapping of policy.fields) {
    const { field } = mapping;
    const leadCell = lead[field] ?? null;
    const base = state.base?.[field];
    const known = base === undefined ? {} : { base };
    if (!(field in row.cells)) {
      // A field this direction did not show is no edit: fill the cell.
      if (mapping.direction === 'to-leads') continue;
      if (sameCell(leadCell, null) || isUnreadable(leadCell)) continue;
      toRow[field] = { from: null, to: leadCell, rule: 'fills-empty', ...known };
      continue;
    }
    const rowCell = row.cells[field] ?? null;
    const decision = mergeField(
      { base, lead: leadCell, row: rowCell, memo: state.memo[field] },
      mapping,
      policy,
    );
    switch (decision.kind) {
      case 'same':
        break;
      case 'agree':
        agreed[field] = { from: leadCell, to: decision.value, ...known };
        break;
      case 'to-row':
        toRow[field] = { from: rowCell, to: decision.value, rule: decision.rule, ...known };
        break;
      case 'to-lead':
        toLead[field] = { from: leadCell, to: decision.value, rule: decision.rule, ...known };
        break;
      case 'hold': {
        const changes = { [field]: { from: leadCell, to: rowCell, ...known } };
        const message = holdMessage(decision.code, mapping, leadCell, rowCell);
        holds.push(action('hold', state, { changes, reason: decision.code, message }));
        break;
      }
    }
  }
  const actions: PlannedAction[] = [];
  if (Object.keys(agreed).length > 0)
    actions.push(action('agree', state, { changes: agreed, reason: 'in-step' }));
  if (Object.keys(toLead).length > 0) actions.push(update('update-lead', state, toLead));
  if (Object.keys(toRow).length > 0) actions.push(update('update-row', state, toRow));
  return [...actions, ...holds];
}

/** A row with an unknown id. `mayBe`: leads it may belong to. */
export function orphan(state: PairState, row: RowState, mayBe?: readonly string[]): PlannedAction {
  if (state.base === null && state.unasked !== undefined) return unasked(state, row, state.unasked);
  const why = state.unasked === undefined ? 'which no lead has' : 'which the service does not list';
  const message = `row ${row.row} carries the id ${state.leadId}, ${why}: nothing was changed. ${idAdvice(mayBe)}`;
  return action('hold', state, { reason: 'row.orphan', message });
}

/** A row that waits until the service says whether its lead is there. */
function unasked(state: PairState, { row }: RowState, why: string, changes: Changes = {}): PlannedAction {
  const message = `the list does not show the lead of row ${row} (${state.leadId}), and the service did not say whether it is there: ${why}. Nothing was changed; the next sync asks again`;
  return action('hold', state, { changes, reason: 'lead.unasked', message });
}

/** A lead missing because the service is an older copy: its row loses the id, so that the lead is created again. */
export function planLeadAgain(state: PairState, row: RowState): PlannedAction {
  return action('unlink', state, { expect: row.cells, reason: 'older-copy' });
}

function update(kind: 'update-lead' | 'update-row', state: PairState, changes: Changes): PlannedAction {
  const reason = [...new Set(Object.values(changes).map(({ rule }) => rule))].join('+');
  return action(kind, state, { changes, expect: shownBefore(changes), reason });
}

function action(
  kind: ActionKind,
  { leadId, row }: PairState,
  rest: Pick<PlannedAction, 'reason'> & Partial<PlannedAction>,
): PlannedAction {
  return plannedAction(kind, { leadId, row: row?.row ?? null, ...rest });
}

/**
 * Gives a row without id the id of its lead, with what the merge of the two writes into the row. `others`: what else the
 * merge does.
 */
function linkRow(
  state: PairState,
  policy: Policy,
  reason: string,
  message?: string,
): { readonly link: PlannedAction; readonly others: Actions } {
  const { row, cells } = state.row ?? { row: null, cells: {} };
  const merged = planPair(state, policy);
  const toRow = merged.find(({ kind }) => kind === 'update-row');
  const link = plannedAction('link', {
    leadId: state.leadId,
    row,
    contentHash: hashContent(cells, policy.fields),
    changes: { ...toRow?.changes },
    expect: cells,
    reason,
    ...(message !== undefined && { message }),
  });
  return { link, others: merged.filter((one) => one !== toRow) };
}

const isNoAgreement = ({ kind }: PlannedAction): boolean => kind !== 'agree';

/** Gives a row that lost its id, and shows what its lead shows, the id back. */
export function planFoundRow(state: PairState, policy: Policy): Actions {
  const { link, others } = linkRow(state, policy, 'id-lost');
  return [link, ...others];
}

/**
 * Links a new row and a new lead that are the same, by the rules of a first sight. The baseline moves with the link, not
 * before: until then they are two. `message`: the evidence.
 */
export function planMatchedRow(state: PairState, policy: Policy, message: string): Actions {
  const { link, others } = linkRow(state, policy, 'matched', message);
  const { contentHash } = link;
  const withHash = others.map((one) => (one.kind === 'update-lead' ? { ...one, contentHash } : one));
  return [...withHash.filter(isNoAgreement), link];
}

/**
 * Links a row without id to the lead created from it, with later changes of either side. `content`: what was sent. The
 * service's own spelling goes to a row that still shows what was sent; in a row edited since, the difference counts as
 * nobody's edit.
 */
export function planLink(
  leadId: string,
  content: Values,
  lead: Cells | null,
  row: RowState,
  policy: Policy,
): Actions {
  const base = Object.entries(content).map(([field, sent]): [string, Value] => {
    const stored = lead?.[field] ?? null;
    const isEdited = !sameCell(row.cells[field] ?? null, sent);
    return [field, isEdited && sameButSpelling(sent, stored) && !isUnreadable(stored) ? stored : sent];
  });
  const pair: PairState = {
    leadId,
    base: Object.fromEntries(base),
    lead: lead ?? content,
    row,
    memo: {},
    leadAbsences: 0,
    rowAbsences: 0,
    deletionDone: false,
  };
  const { link, others } = linkRow(pair, policy, 'settled-create');
  return [link, ...others.filter(isNoAgreement)];
}
