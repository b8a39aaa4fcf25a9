import { hashContent } from '../../src/core/lead/content-hash.ts';
import type { Direction, FieldMapping } from '../../src/core/lead/mapping.ts';
import type { Cell, Cells, Value, Values } from '../../src/core/lead/value.ts';
import type { FieldMemo } from '../../src/core/merge/merge-field.ts';
import type { Intent } from '../../src/core/merge/match-lost-creates.ts';
import type { Refused } from '../../src/core/merge/refused-create.ts';
import type { Policy } from '../../src/core/merge/policy.ts';
import { policyValues } from '../docs/every-policy.ts';
import { Chance } from './chance.ts';

/** What the state has of a pair. */
export interface Pair {
  readonly base: Values | null;
  readonly leadAbsences: number;
  readonly rowAbsences: number;
  readonly deletionDone: boolean;
  readonly place: number;
  readonly memo: Readonly<Record<string, FieldMemo>>;
  readonly merged: { readonly row: number; readonly message: string } | null;
  readonly undone: string | null;
}

export interface Row {
  readonly row: number;
  readonly leadId: string | null;
  readonly cells: Cells;
  readonly unreadableId: string | null;
  readonly idClosed: string | null;
  readonly isApart: boolean;
  readonly isPaused: boolean;
  readonly refused: Refused | null;
}

/** A whole run before its plan: both sides, what earlier runs left, the settings and the scan. */
export interface RunState {
  readonly policy: Policy;
  /** Fields whose column this run does not see. */
  readonly unseen: ReadonlySet<string>;
  /** Fields whose baseline was another column's. */
  readonly moved: ReadonlySet<string>;
  readonly filtered: boolean;
  /** Values of rows are held that may come from an older copy. */
  readonly isRowDoubted: boolean;
  /** What a lead that the list lacks proves; as `ScanProof`. */
  readonly weight: number;
  readonly pairs: ReadonlyMap<string, Pair>;
  /** All that the service has, and the part that the list shows. */
  readonly leads: ReadonlyMap<string, Cells>;
  readonly listed: ReadonlySet<string>;
  readonly rows: readonly Row[];
  readonly intents: readonly Intent[];
  /** `plan`: nothing is written; `apply`: some lines alone. */
  readonly mode: 'sync' | 'plan' | 'apply';
  /** Chance says what becomes of each action. */
  readonly chance: Chance;
}

const names = ['companyName', 'stage', 'city'] as const;
const started = Date.UTC(2026, 10, 21, 2);

/** Draws a whole-run state in which all conditions of runs are mixed. `size`: records, roughly. */
export function anyRun(seed: number, size: number): RunState {
  const chance = new Chance(seed);
  const direction = (): Direction => (chance.is(70) ? 'two-way' : chance.of('to-target', 'to-leads'));
  const fields = names.map(
    (field): FieldMapping => ({ field, column: field, type: 'text', direction: direction() }),
  );
  const policy: Policy = {
    fields,
    unseen: [],
    direction: direction(),
    onConflict: chance.of('hold', ...policyValues.onConflict),
    onFirstSync: chance.of('hold', ...policyValues.onFirstSync),
    onLeadDeleted: chance.of(...policyValues.onLeadDeleted),
    onRowDeleted: chance.of(...policyValues.onRowDeleted),
  };
  const unseen = new Set(chance.is(15) ? [chance.of(...names)] : []);
  const filtered = chance.is(20);
  const state = {
    policy,
    unseen,
    moved: new Set(chance.is(5) ? [chance.of(...names)] : []),
    filtered,
    isRowDoubted: chance.is(8),
    weight: filtered ? 0 : chance.is(25) ? 0.5 : 1,
    pairs: new Map<string, Pair>(),
    leads: new Map<string, Cells>(),
    listed: new Set<string>(),
    rows: [] as Row[],
    intents: [] as Intent[],
    mode: chance.is(80) ? ('sync' as const) : chance.of('plan' as const, 'apply' as const),
    chance,
  };
  const filling = new Filling(state);
  for (let nth = 0; nth < size; nth++) filling.addRecord(nth);
  filling.shiftIds();
  return state;
}

interface Growing extends Omit<RunState, 'pairs' | 'leads' | 'listed' | 'rows' | 'intents'> {
  readonly pairs: Map<string, Pair>;
  readonly leads: Map<string, Cells>;
  readonly listed: Set<string>;
  readonly rows: Row[];
  readonly intents: Intent[];
}

class Filling {
  readonly #state: Growing;
  readonly #chance: Chance;

  constructor(state: Growing) {
    this.#state = state;
    this.#chance = state.chance;
  }

  addRecord(nth: number): void {
    const chance = this.#chance;
    const leadId = `l${nth}`;
    const kind = chance.below(100);
    if (kind < 62) this.#addPair(leadId, nth);
    else if (kind < 70) this.#addLead(leadId, this.#values(nth));
    else if (kind < 79) this.#addRow(null, this.#shown(this.#values(nth)));
    else if (kind < 84) {
      this.#addLead(leadId, this.#values(nth));
      this.#addRow(leadId, this.#shown(chance.is(30) ? this.#values(nth) : this.#values(nth + 10)));
    } else if (kind < 88) this.#addRow(`x${nth}`, this.#shown(this.#values(chance.below(4))));
    else this.#addCreate(leadId, nth);
  }

  /** Ids of two rows that stand beside each other's values, and a row that was copied with its id. */
  shiftIds(): void {
    const { rows } = this.#state;
    const chance = this.#chance;
    if (rows.length < 2) return;
    const nth = chance.below(rows.length - 1);
    const [a, b] = [rows[nth], rows[nth + 1]];
    if (a === undefined || b === undefined) return;
    const what = chance.below(100);
    if (what < 12) {
      rows[nth] = { ...a, leadId: b.leadId };
      rows[nth + 1] = { ...b, leadId: a.leadId };
    } else if (what < 24) {
      rows.push({ ...a, row: rows.length + 2 });
    }
  }

  #addPair(leadId: string, nth: number): void {
    const chance = this.#chance;
    const base = this.#values(nth);
    const edit = (): Cells => {
      if (chance.is(45)) return base;
      return { ...base, [chance.of(...names)]: this.#cell() };
    };
    const [lead, row] = [edit(), chance.is(8) ? null : edit()];
    const isDeleted = chance.is(12);
    const isRowGone = chance.is(15);
    if (!isDeleted) this.#addLead(leadId, lead);
    const memo = chance.is(10) ? { [chance.of(...names)]: this.#memo() } : {};
    this.#state.pairs.set(leadId, {
      base: chance.is(4) ? null : base,
      leadAbsences: isDeleted ? chance.below(3) : 0,
      rowAbsences: isRowGone ? chance.below(3) : 0,
      deletionDone: isDeleted && chance.is(15),
      place: nth + 2,
      memo,
      merged: isRowGone && chance.is(8) ? { row: 2, message: 'merged' } : null,
      undone: chance.is(2) ? 'undone' : null,
    });
    if (isRowGone) return;
    this.#addRow(chance.is(8) ? null : leadId, this.#shown(row ?? lead));
  }

  /** A create of which it is not known what became. */
  #addCreate(leadId: string, nth: number): void {
    const chance = this.#chance;
    const content = this.#values(nth);
    const row = this.#shown(content);
    const { intents, policy } = this.#state;
    intents.push({
      id: nth,
      contentHash: hashContent(row, this.#readable(policy.fields)),
      row,
      content,
      leadId: chance.is(30) ? leadId : null,
      lostItsRow: false,
      answered: chance.is(20),
      attemptedAt: started - chance.of(5_000, 60_000, 3_600_000),
      scansWithoutIt: chance.below(3),
    });
    if (chance.is(60)) this.#addLead(leadId, chance.is(80) ? content : { ...content, stage: 'a' });
    if (chance.is(85))
      this.#addRow(chance.is(10) ? leadId : null, chance.is(85) ? row : { ...row, city: 'b' });
  }

  #addLead(leadId: string, cells: Cells): void {
    this.#state.leads.set(leadId, cells);
    if (!this.#chance.is(this.#state.filtered ? 35 : this.#state.weight < 1 ? 20 : 4))
      this.#state.listed.add(leadId);
  }

  #addRow(leadId: string | null, cells: Cells): void {
    const chance = this.#chance;
    const isOdd = leadId === null && chance.is(25);
    this.#state.rows.push({
      row: this.#state.rows.length + 2,
      leadId,
      cells,
      unreadableId: isOdd && chance.is(40) ? '=A1' : null,
      idClosed: isOdd && chance.is(30) ? 'it is locked.' : null,
      isApart: isOdd && chance.is(30),
      isPaused: chance.is(6),
      refused: isOdd && chance.is(30) ? { code: 'lead.create-refused', why: 'refused' } : null,
    });
  }

  /** What a row shows of its values: a short row lacks cells, and a column that is not seen shows nothing. */
  #shown(values: Cells): Cells {
    const isShort = this.#chance.is(6);
    const shown = Object.entries(values).filter(
      ([field]) => !this.#state.unseen.has(field) && !(isShort && field === 'city'),
    );
    return Object.fromEntries(shown);
  }

  #readable(fields: readonly FieldMapping[]): readonly FieldMapping[] {
    return fields.filter(({ field }) => !this.#state.unseen.has(field));
  }

  #values(nth: number): Values {
    const chance = this.#chance;
    // Few names: namesakes are the hard ones.
    const companyName: Value = chance.is(4) ? null : `company ${nth % 5}`;
    return { companyName, stage: chance.of('a', 'b', null), city: chance.of('a', 'b', 'c', null) };
  }

  #cell(): Cell {
    const chance = this.#chance;
    if (chance.is(8)) return { unreadable: '#REF!', why: chance.of('error', 'unmapped') };
    return chance.is(4) ? 'M\u00c3\u00bcller' : chance.of('a', 'b', 'c', 'M\u00fcller', 'company 9', null);
  }

  #memo(): FieldMemo {
    const chance = this.#chance;
    return {
      resolution: chance.of(null, null, 'lead', 'target'),
      refused: chance.is(30),
      covered: chance.is(20),
      putBack: chance.of(null, null, 'lead', 'row'),
      forward: chance.is(30),
    };
  }
}

/** When the scan of every state began. */
export const scanStartedAt = started;
