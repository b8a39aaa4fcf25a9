import { hashContent } from '../lead/content-hash.ts';
import {
  type Cell,
  type Cells,
  isUnreadable,
  sameCell,
  showCell,
  type Value,
  type Values,
} from '../lead/value.ts';
import type { ActionKind, Change, PlannedAction } from './action.ts';
import { type FieldMemo, mergeField } from './merge-field.ts';
import { holdMessage, undoneMessages } from './hold-message.ts';
import { idBack } from './plan-held-rows.ts';
import type { Policy } from './policy.ts';

/** All that is known of one lead id when a plan is made. */
export interface PairState {
  readonly leadId: string;
  /** The baseline of each field that ever was in step. Null: never a pair. */
  readonly base: Values | null;
  /** The lead in the last complete scan. Null: absent. */
  readonly lead: Cells | null;
  readonly row: { readonly row: number; readonly cells: Cells } | null;
  readonly memo: Readonly<Record<string, FieldMemo>>;
  /** Consecutive complete scans of different runs, including this one, that lacked the lead (the row). */
  readonly leadAbsences: number;
  readonly rowAbsences: number;
  /** An earlier run carried out the lead's deletion (marked the row). */
  readonly deletionDone: boolean;
  /** A person merged the missing row into another. */
  readonly merged?: { readonly row: number; readonly message: string } | null;
  /** The lead's fingerprint, now and when an undo removed its row; absent: no undo, or the lead changed since. */
  readonly undone?: string | null;
}

/** Complete scans in different runs that must miss an id before it counts as gone (docs/guarantees.md, 4). */
const absencesThatProve = 2;

/** The first table of docs/architecture.md 5: what to do with one lead id. Pure; empty: nothing to do. */
export function planPair(state: PairState, policy: Policy): readonly PlannedAction[] {
  const { base, lead, row } = state;
  if (lead && row) return planBoth(state, lead, row, policy);
  if (lead && state.merged) {
    const { row: place, message } = state.merged;
    return [{ ...action('hold', state, { reason: 'row.merged', message }), row: place }];
  }
  if (lead) {
    if (base !== null) return planRowGone(state, base, lead, policy);
    return state.undone ? [undoneRow(state, state.undone)] : planNewLead(state, lead, policy, 'new-lead');
  }
  if (row) return base === null ? [orphan(state, row)] : planLeadGone(state, base, row, policy);
  const isRowGone = state.merged || state.rowAbsences >= absencesThatProve;
  const bothGone = state.leadAbsences >= absencesThatProve && isRowGone;
  return bothGone ? [action('forget', state, { reason: 'gone-on-both-sides' })] : [];
}

/** A lead without a row. With direction `to-leads` no rows are created. */
function planNewLead(
  state: PairState,
  lead: Cells,
  policy: Policy,
  reason: string,
): readonly PlannedAction[] {
  if (policy.direction === 'to-leads') return [];
  const changes: Record<string, Change> = {};
  const holds: PlannedAction[] = [];
  for (const mapping of policy.fields) {
    const { field } = mapping;
    const value = lead[field] ?? null;
    if (isUnreadable(value)) {
      const message = holdMessage('lead.unreadable', mapping, value, null);
      const held = { [field]: { from: value, to: null } };
      holds.push(action('hold', state, { changes: held, reason: 'lead.unreadable', message }));
    } else changes[field] = { from: null, to: value };
  }
  return [action('create-row', state, { changes, reason }), ...holds];
}

/** Keeps a row that an undo removed from coming back. */
function undoneRow(state: PairState, contentHash: string): PlannedAction {
  return {
    ...action('hold', state, { reason: 'lead.undone', message: undoneMessages['lead.undone'] }),
    contentHash,
  };
}

function planRowGone(state: PairState, base: Values, lead: Cells, policy: Policy): readonly PlannedAction[] {
  if (!sameRecord(lead, base, policy)) return planNewLead(state, lead, policy, 'row-deleted-but-lead-edited');
  if (policy.onRowDeleted === 'ignore') return [];
  if (policy.onRowDeleted === 'restore' || policy.direction === 'to-target') {
    return planNewLead(state, lead, policy, 'row-deleted');
  }
  if (state.rowAbsences < absencesThatProve) {
    return state.rowAbsences > 0 ? [waitingDelete(state, base, 'row', 'the lead')] : [];
  }
  return [action('delete-lead', state, { expect: lead, reason: 'row-deleted' })];
}

function planLeadGone(
  state: PairState,
  base: Values,
  row: NonNullable<PairState['row']>,
  policy: Policy,
): readonly PlannedAction[] {
  const isEdited = !sameRecord(row.cells, base, policy);
  if (state.leadAbsences < absencesThatProve) {
    const isRemoved = policy.onLeadDeleted === 'remove' && policy.direction !== 'to-leads';
    const isWaiting = isRemoved && !isEdited && !state.deletionDone && state.leadAbsences > 0;
    return isWaiting ? [waitingDelete(state, base, 'lead', 'the row')] : [];
  }
  if (isEdited) {
    const changes: Record<string, Change> = {};
    for (const { field } of policy.fields) {
      if (!(field in row.cells)) continue;
      const cell = row.cells[field] ?? null;
      if (!sameCell(cell, base[field] ?? null))
        changes[field] = { from: null, to: cell, base: base[field] ?? null };
    }
    const message =
      'the lead was deleted in the service, but this row was edited since: nothing was changed. Delete the row, or clear its id to make a new lead of it';
    return [action('hold', state, { changes, reason: 'conflict.edit-meets-delete', message })];
  }
  if (policy.onLeadDeleted === 'keep' || policy.direction === 'to-leads' || state.deletionDone) return [];
  const kind = policy.onLeadDeleted === 'mark' ? 'mark-row' : 'remove-row';
  return [action(kind, state, { expect: row.cells, reason: 'lead-deleted' })];
}

/** Warns while the row or lead can still be put back: the next complete scan without it proves the deletion. */
function waitingDelete(
  state: PairState,
  base: Values,
  missing: 'lead' | 'row',
  deleted: 'the lead' | 'the row',
): PlannedAction {
  const company = showCell(base['companyName'] ?? null);
  const message = `the ${missing} of ${company} is missing; if the next complete scan lacks it too, the next sync deletes ${deleted}. Nothing was deleted so far. To keep it, put the ${missing} back`;
  return action('report', state, { reason: 'delete.waiting', message });
}

/** Merges both sides field by field (the second table of docs/architecture.md 5). */
function planBoth(
  state: PairState,
  lead: Cells,
  row: NonNullable<PairState['row']>,
  policy: Policy,
): readonly PlannedAction[] {
  const toRow: Record<string, Change> = {};
  const toLead: Record<string, Change> = {};
  const agreed: Record<string, Change> = {};
  const holds: PlannedAction[] = [];
  for (const mapping of policy.fields) {
    const { field } = mapping;
    const leadCell = lead[field] ?? null;
    if (!(field in row.cells)) {
      // A field this direction did not show is no edit: fill the cell.
      if (mapping.direction === 'to-leads' || policy.direction === 'to-leads') continue;
      if (sameCell(leadCell, null) || isUnreadable(leadCell)) continue;
      toRow[field] = { from: null, to: leadCell, rule: 'fills-empty', ...knownBase(state.base?.[field]) };
      continue;
    }
    const rowCell = row.cells[field] ?? null;
    const base = state.base?.[field];
    const decision = mergeField(
      { base, lead: leadCell, row: rowCell, memo: state.memo[field] },
      mapping,
      policy,
    );
    switch (decision.kind) {
      case 'same':
        break;
      case 'agree':
        agreed[field] = { from: leadCell, to: decision.value, ...knownBase(base) };
        break;
      case 'to-row':
        toRow[field] = { from: rowCell, to: decision.value, rule: decision.rule, ...knownBase(base) };
        break;
      case 'to-lead':
        toLead[field] = { from: leadCell, to: decision.value, rule: decision.rule, ...knownBase(base) };
        break;
      case 'hold': {
        const changes = { [field]: { from: leadCell, to: rowCell, ...knownBase(base) } };
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

const knownBase = (base: Value | undefined) => (base === undefined ? {} : { base });

/** A row with an unknown id. `mayBe`: leads it may belong to. */
export function orphan(
  state: PairState,
  row: NonNullable<PairState['row']>,
  mayBe?: readonly string[],
): PlannedAction {
  const advice =
    mayBe === undefined ? 'Clear the id to make a new lead of it, or delete the row' : idBack(mayBe);
  const message = `row ${row.row} carries the id ${state.leadId}, which no lead has: nothing was changed. ${advice}`;
  return action('hold', state, { reason: 'row.orphan', message });
}

/** A row that lost its id and shows what its lead shows gets the id back, with the lead's later changes. */
export function planFoundRow(state: PairState, policy: Policy): readonly PlannedAction[] {
  const merged = planPair(state, policy);
  const toRow = merged.find(({ kind }) => kind === 'update-row');
  const cells = state.row?.cells ?? {};
  const link = action('link', state, { changes: { ...toRow?.changes }, expect: cells, reason: 'id-lost' });
  return [
    { ...link, contentHash: hashContent(cells, policy.fields) },
    ...merged.filter((one) => one !== toRow),
  ];
}

/** A lead missing because the service is an older copy: its row loses the id, so that the lead is created again. */
export function planLeadAgain(state: PairState, row: NonNullable<PairState['row']>): PlannedAction {
  return action('unlink', state, { expect: row.cells, reason: 'older-copy' });
}

function update(
  kind: 'update-lead' | 'update-row',
  state: PairState,
  changes: Record<string, Change>,
): PlannedAction {
  const expect: Record<string, Cell> = {};
  const rules = new Set<string | undefined>();
  for (const field in changes) {
    const change = changes[field];
    if (change === undefined) continue;
    expect[field] = change.from;
    rules.add(change.rule);
  }
  return action(kind, state, { changes, expect, reason: [...rules].join('+') });
}

function action(
  kind: ActionKind,
  state: PairState,
  rest: { changes?: Record<string, Change>; expect?: Cells; reason: string; message?: string },
): PlannedAction {
  return {
    kind,
    leadId: state.leadId,
    row: state.row?.row ?? null,
    contentHash: '',
    changes: {},
    expect: {},
    ...rest,
  };
}

/** Whether a record shows the baseline in all its fields. */
function sameRecord(cells: Cells, base: Values, policy: Policy): boolean {
  return policy.fields.every(
    ({ field }) => !(field in cells) || sameCell(cells[field] ?? null, base[field] ?? null),
  );
}
