import type { AuditConditions, AuditedAction, AuditedRecord } from '../../src/core/audit/audit.ts';
import { type Cells, isUnreadable, sameCell, type Values, withoutFields } from '../../src/core/lead/value.ts';
import { type PlannedAction, putOffReasons } from '../../src/core/merge/action.ts';
import { movesAfter } from '../../src/core/merge/baseline-moves.ts';
import { missedCode } from '../../src/core/merge/plan-rows.ts';
import type { Planned } from './plan-run.ts';
import type { RunState } from './whole-run.ts';

/** What a run leaves: all that an audit looks at, and whether the run itself says that it has not done all. */
export interface Ended {
  readonly records: readonly AuditedRecord[];
  readonly conditions: AuditConditions;
  readonly isIncomplete: boolean;
}

const straysHeld: ReadonlySet<string> = new Set([
  'row.id-unreadable',
  'row.id-lost',
  'row.id-moved',
  'row.orphan',
  'row.duplicate-id',
]);

/** Carries a plan out, action by action, as chance has it: done, held or put off; what is done is there afterwards as it was written. */
export function carryOut(state: RunState, plan: Planned): Ended {
  const end = new RunEnd(state);
  for (const action of plan.actions) end.add(action);
  return end.of(plan);
}

type Outcome = 'planned' | 'left-out' | 'done' | 'deferred' | 'held';

class RunEnd {
  readonly #state: RunState;
  readonly #byLead = new Map<string, AuditedAction[]>();
  readonly #byRow = new Map<number, AuditedAction[]>();
  readonly #heldLeads = new Map<string, Set<string>>();
  readonly #heldRows = new Set<number>();
  readonly #bases = new Map<string, Values | null>();
  readonly #made = new Map<string, Cells>();
  readonly #linked = new Set<string>();
  #isPutOff = false;
  #holdsStrays = false;

  constructor(state: RunState) {
    this.#state = state;
    // What was another column's is void.
    for (const [leadId, { base }] of state.pairs)
      this.#bases.set(leadId, base && withoutFields(base, state.moved));
  }

  add(action: PlannedAction): void {
    const { kind, leadId, row, reason, changes } = action;
    if (kind === 'forget') return;
    if (kind === 'agree') return this.#move(action, []);
    if (kind === 'hold') {
      this.#holdsStrays ||= straysHeld.has(reason);
      this.#note(action, 'planned');
      if (this.#state.mode !== 'plan') this.#hold(leadId, row, Object.keys(changes), reason);
      return;
    }
    if (kind === 'report') return this.#note(action, putOffReasons.has(reason) ? 'deferred' : 'planned');
    const outcome = this.#outcome();
    if (kind === 'create-lead') return this.#create(action, outcome);
    if (outcome === 'held')
      this.#hold(leadId, row, kind === 'update-lead' ? Object.keys(changes) : [], reason);
    const { chance } = this.#state;
    const refused =
      outcome === 'done' && kind === 'update-lead' ? Object.keys(changes).filter(() => chance.is(8)) : [];
    if (refused.length > 0) this.#hold(leadId, row, refused, reason);
    this.#note(action, outcome);
    if (outcome !== 'done' || leadId === null) return;
    if (kind === 'link') this.#linked.add(leadId);
    const hasRow = this.#state.rows.some((one) => one.leadId === leadId);
    const stored =
      kind === 'update-lead' && hasRow && chance.is(8) ? this.#storeOtherwise(action, refused) : action;
    this.#move(stored, refused);
  }

  /** What is left once all actions are over. */
  of({ actions, seen, made, rowOf, loose, open, leadAbsences }: Planned): Ended {
    const { pairs, unseen, mode } = this.#state;
    const isInDoubt = open.some((leadId) => leadId === null || !this.#linked.has(leadId));
    const ids = new Set([...pairs.keys(), ...seen.keys(), ...rowOf.keys(), ...this.#byLead.keys()]);
    // Of a pair whose row is paused a run keeps nothing to be audited.
    const ofLeads = [...ids]
      .filter((leadId) => rowOf.get(leadId)?.isPaused !== true)
      .map((leadId): AuditedRecord => {
        const row = rowOf.get(leadId);
        return {
          leadId,
          row: row?.row ?? null,
          base: this.#bases.get(leadId) ?? null,
          moved: this.#moved(leadId),
          lead: seen.get(leadId) ?? made.get(leadId) ?? this.#made.get(leadId) ?? null,
          cells: row?.cells ?? null,
          actions: this.#byLead.get(leadId) ?? [],
          held: this.#heldLeads.get(leadId) ?? new Set(),
          isLeadGone: leadAbsences(leadId) >= 2,
          isDeletionDone: pairs.get(leadId)?.deletionDone ?? false,
          isApart: false,
        };
      });
    const ofRows = loose.map(
      ({ row, cells, isApart, isPaused }): AuditedRecord => ({
        leadId: null,
        row,
        base: null,
        moved: new Set(),
        lead: null,
        cells,
        actions: this.#byRow.get(row) ?? [],
        held: new Set(this.#heldRows.has(row) ? [''] : []),
        isLeadGone: false,
        isDeletionDone: false,
        isApart,
        isPaused,
      }),
    );
    const isHeld = this.#heldLeads.size + this.#heldRows.size > 0;
    return {
      records: [...ofLeads, ...ofRows],
      conditions: {
        isPlan: mode === 'plan',
        unseen,
        holdsNew: actions.some(({ kind, reason }) => kind === 'hold' && reason === missedCode),
        holdsStrays: this.#holdsStrays,
        holdsMatches: false,
        holdsOldRows: this.#state.isRowDoubted,
        isInDoubt,
        pausesStrays: loose.some(({ isPaused }) => isPaused),
      },
      isIncomplete:
        this.#state.isRowDoubted ||
        isHeld ||
        this.#isPutOff ||
        isInDoubt ||
        unseen.size > 0 ||
        mode === 'plan',
    };
  }

  #outcome(): Outcome {
    const { mode, chance } = this.#state;
    if (mode === 'plan') return 'planned';
    if (mode === 'apply' && chance.is(40)) return 'left-out';
    return chance.is(75) ? 'done' : chance.of('deferred', 'held');
  }

  #create(action: PlannedAction, outcome: Outcome): void {
    this.#note(action, outcome);
    if (outcome === 'held') this.#hold(null, action.row, [], 'lead.create-refused');
    if (outcome !== 'done') return;
    const leadId = `made${action.row}`;
    const content = written(action);
    // Fields that are not sent are empty in the new lead, and the row gets that.
    const emptied = Object.keys(action.expect).filter(
      (field) => !(field in content) && action.expect[field] !== null,
    );
    const kept = emptied.filter((field) => isUnreadable(action.expect[field]));
    this.#made.set(leadId, content);
    if (kept.length > 0) this.#hold(leadId, action.row, kept, 'row.unreadable');
    const toRow = emptied
      .filter((field) => !kept.includes(field))
      .map((field) => [field, { from: null, to: null }] as const);
    this.add({ ...action, kind: 'link', leadId, changes: Object.fromEntries(toRow), reason: 'created' });
  }

  /** The service stores another spelling, which the row gets in the same run. */
  #storeOtherwise(action: PlannedAction, refused: readonly string[]): PlannedAction {
    const spelled = Object.entries(action.changes).flatMap(([field, change]) =>
      typeof change.to === 'string' && !refused.includes(field)
        ? [[field, { ...change, to: `${change.to} ` }] as const]
        : [],
    );
    if (spelled.length === 0) return action;
    const changes = Object.fromEntries(spelled);
    const toRow: PlannedAction = { ...action, kind: 'update-row', changes, reason: 'stored-otherwise' };
    const outcome = this.#outcome();
    this.#note(toRow, outcome === 'left-out' ? 'done' : outcome);
    if (outcome === 'held') this.#hold(action.leadId, action.row, [], toRow.reason);
    return { ...action, changes: { ...action.changes, ...changes } };
  }

  #note(action: PlannedAction, state: string): void {
    const { kind, leadId, row, reason, expect } = action;
    if (state === 'deferred') this.#isPutOff = true;
    const audited = {
      kind,
      state,
      reason,
      to: written(action),
      expect: kind === 'link' ? expect : {},
      isDoubted: false,
    };
    if (leadId !== null) append(this.#byLead, leadId, audited);
    if (row !== null && (leadId === null || kind === 'hold' || kind === 'link'))
      append(this.#byRow, row, audited);
  }

  #hold(leadId: string | null, row: number | null, fields: readonly string[], reason: string): void {
    const names = fields.length === 0 ? [''] : fields;
    if (leadId !== null && reason !== 'row.duplicate-id')
      this.#heldLeads.set(leadId, new Set([...(this.#heldLeads.get(leadId) ?? []), ...names]));
    if (row !== null && names.includes('')) this.#heldRows.add(row);
    if (row !== null && leadId === null) this.#heldRows.add(row);
  }

  #move(action: PlannedAction, refused: readonly string[]): void {
    const { leadId, kind } = action;
    if (leadId === null) return;
    const readable = Object.entries(written(action)).filter(
      ([field, cell]) => !isUnreadable(cell) && !refused.includes(field),
    );
    const agreed = Object.fromEntries(readable) as Values;
    const moves =
      kind === 'agree'
        ? [{ to: 'agreed' as const, leadId, values: agreed }]
        : movesAfter({ action, leadId, agreed, refused });
    for (const move of moves) {
      if (move.to === 'agreed') this.#bases.set(leadId, { ...this.#bases.get(leadId), ...move.values });
      else if (move.to === 'forgotten') this.#bases.set(leadId, null);
    }
  }

  #moved(leadId: string): ReadonlySet<string> {
    const [before, after] = [this.#state.pairs.get(leadId)?.base ?? null, this.#bases.get(leadId) ?? null];
    if (before === null || after === null) return new Set();
    return new Set(
      Object.keys(before).filter((field) => !sameCell(before[field] ?? null, after[field] ?? null)),
    );
  }
}

function written({ changes }: PlannedAction): Cells {
  return Object.fromEntries(Object.entries(changes).map(([field, { to }]) => [field, to]));
}

function append<Key>(map: Map<Key, AuditedAction[]>, key: Key, action: AuditedAction): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [action]);
  else list.push(action);
}
