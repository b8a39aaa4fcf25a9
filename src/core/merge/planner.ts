import { type Values, withoutFields } from '../lead/value.ts';
import type { Actions } from './action.ts';
import {
  type AbsenceProof,
  type Absences,
  absencesAfter,
  deleteAnswerOf,
  type Difference,
  differenceOf,
  type LooseRow,
  type LooseRows,
  memoOf,
  notAsked,
  RecordTally,
  type Sight,
} from './difference.ts';
import type { FirstLeadsTally, Names } from './first-leads.ts';
import type { FoundRows } from './lost-rows.ts';
import type { MatchedRecords } from './match-likeness.ts';
import type { OlderCopies } from './older-copy.ts';
import { orphan, type PairState, planFoundRow, planLeadAgain, planMatchedRow, planPair } from './plan.ts';
import {
  missedCode,
  planClosedId,
  planDuplicateRow,
  planLostRow,
  planMissed,
  planMovedRow,
  planNewRow,
  planTwinRow,
  planUnreadableId,
} from './plan-rows.ts';
import type { Policy } from './policy.ts';
import { type RefusedCreates, sentContent, sentKey, undoneRow } from './refused-create.ts';
import { type Elsewhere, type Home, planMissingRow, planRowOfOther } from './row-elsewhere.ts';
import { ShuffledRows } from './shifted-rows.ts';
import type { UndoneRecords } from './undo.ts';

/** Facts about the whole scan, found before its records are decided one by one. */
export interface PlanFacts {
  readonly policy: Policy;
  /** Leads and rows of unfinished creates. */
  readonly creates: { readonly leadIds: ReadonlySet<string>; readonly rows: ReadonlySet<number> };
  /** Fields whose baseline is void: it was another column's. */
  readonly moved: ReadonlySet<string>;
  readonly found: FoundRows;
  readonly older: OlderCopies;
  readonly isProof: AbsenceProof;
  readonly matches: MatchedRecords;
  readonly undone: UndoneRecords;
  readonly refused: RefusedCreates;
  readonly loose: LooseRows;
  /** Rows that stand elsewhere than in their table. */
  readonly elsewhere: Elsewhere;
  /** By lead: the tables to which rows of this one belong. */
  readonly homes: ReadonlyMap<string, Home>;
  /** Leads whose missing row may stand in a table that was not read since. */
  readonly unread: ReadonlySet<string>;
  /** Of a first sync. */
  readonly first: FirstLeadsTally | null;
  /** The companies of rows that have a lead, or soon will; null: two rows of one company are two leads. */
  readonly names: Names | null;
}

/** Plans the records of a scan, one by one: first all pairs, then the rows that no lead id names, in the table's order. */
export class Planner {
  readonly tally = new PlanTally();
  readonly shuffled: ShuffledRows;
  /** How many rows are held because another one shows the same company. */
  twins = 0;
  /** The ids of rows that are not as in the baseline, and the one that stands first. */
  readonly ids = { ids: 0, row: Infinity, id: '' };
  readonly #facts: PlanFacts;

  constructor(facts: PlanFacts) {
    this.#facts = facts;
    this.shuffled = new ShuffledRows(facts.policy.fields);
    const { found, matches, names } = facts;
    for (const { row, cells } of [...found.rowOf.values(), ...matches.rowOf.values()]) names?.see(row, cells);
  }

  pair(sight: Sight): { readonly actions: Actions; readonly absences: Absences | null } {
    if (sight.isPaused === true) return this.#paused(sight);
    const { leadId } = sight;
    const { creates, moved, found, older, isProof, matches, undone, loose, elsewhere, unread, names } =
      this.#facts;
    const difference = differenceOf(sight, isProof);
    const isUndecided = found.isAnyones || found.leadIds.has(leadId) || elsewhere.has(leadId);
    const absences = absencesAfter(sight, difference, isUndecided, isProof.at);
    this.tally.records.see(sight, difference);
    loose.seePair(sight);
    if (sight.isSame || sight.row !== null) this.#seeId(sight);
    if (difference === null) return { actions: [], absences };
    if (creates.leadIds.has(leadId)) {
      this.tally.leaveLead(difference);
      return { actions: [], absences };
    }
    const { lead, rowNumber, leadAbsences, deletionDone, merged, asked } = difference;
    const again = found.rowOf.get(leadId) ?? matches.rowOf.get(leadId);
    if (again !== undefined) names?.see(again.row, lead ?? {});
    const row = again?.cells ?? difference.row;
    const base: Values | null = difference.base && withoutFields(difference.base, moved);
    const planned = this.#plan({
      leadId,
      base,
      lead,
      row: row && { row: again?.row ?? rowNumber ?? 0, cells: row },
      memo: older.memo(leadId, memoOf(difference, lead, row)),
      answer: deleteAnswerOf(difference, lead, row),
      leadAbsences,
      rowAbsences: Math.min(difference.rowAbsences, unread.has(leadId) ? 1 : Infinity),
      isRowDoubted: older.undecided.has('row'),
      ...(isProof.proveAfter > 0 && { provenFrom: (absences?.since ?? isProof.at) + isProof.proveAfter }),
      deletionDone,
      merged,
      unasked: asked?.answer === 'gone' ? undefined : (asked?.message ?? notAsked),
      undone: lead === null || difference.isWanted ? null : undone.find(leadId, lead),
    });
    const actions = this.tally.withoutMissed(planned, 'leads');
    if (actions.length < planned.length) return { actions: [], absences };
    this.tally.see(difference, actions, again !== undefined);
    // Cells that are brought forward are no sign of sorting.
    if (base !== null && row !== null && !older.bringsForward(leadId)) this.shuffled.see(base, row);
    return { actions, absences };
  }

  /** Nothing is done on either side; absences begin anew after the pause. */
  #paused(sight: Sight): ReturnType<Planner['pair']> {
    this.tally.seePaused(sight);
    const wasMissed = sight.leadAbsences + sight.rowAbsences > 0;
    const none = { leadId: sight.leadId, lead: 0, row: 0, since: null, place: null };
    return { actions: [], absences: sight.isKnown && wasMissed ? none : null };
  }

  #seeId({ leadId, rowNumber }: Sight): void {
    this.ids.ids += 1;
    if (rowNumber === null || rowNumber >= this.ids.row) return;
    this.ids.row = rowNumber;
    this.ids.id = leadId;
  }

  #plan(state: PairState): Actions {
    const { policy, older } = this.#facts;
    const { leadId, base, lead, row } = state;
    if (row === null && older.comesBack('row', leadId))
      return this.#planOne(state, { ...policy, onRowDeleted: 'restore' });
    if (base === null || lead !== null || row === null || !older.comesBack('lead', leadId))
      return this.#planOne(state, policy);
    return [planLeadAgain(state, row)];
  }

  /** The actions of one lead id, with what was found about its row. */
  #planOne(state: PairState, policy: Policy): Actions {
    const { found, matches, elsewhere, homes } = this.#facts;
    const { leadId, base, lead, row } = state;
    const held = matches.heldLeads.get(leadId);
    if (held !== undefined) return [held];
    const matched = matches.rowOf.get(leadId);
    if (matched !== undefined) return planMatchedRow(state, policy, matched.message);
    if (row === null) {
      const mayBeAnyones = base === null ? lead !== null && found.mayHaveRow(lead) : found.isAnyones;
      if (mayBeAnyones || found.leadIds.has(leadId)) return [];
      return planMissingRow(state, planPair(state, policy), elsewhere.get(leadId));
    }
    if (found.rowOf.has(leadId)) return planFoundRow(state, policy);
    const movedIn = planRowOfOther(state, homes.get(leadId));
    if (movedIn !== null) return [movedIn];
    const others = found.moved.get(row.row);
    if (others !== undefined && base !== null) return [planMovedRow(state, others)];
    const mayBe = found.mayBe.get(row.row);
    if (mayBe !== undefined && lead === null) return [orphan(state, row, mayBe)];
    return planPair(state, policy);
  }

  row(one: LooseRow): Actions {
    const { policy, creates, found, matches, undone, refused, loose, first, names } = this.#facts;
    if (one.isPaused === true) return this.#pausedRow(one);
    this.tally.records.seeLoose(one);
    const { row, leadId, unreadableId, idClosed, isApart, cells, isWanted, mergedOf } = loose.see(one);
    const mayBe = found.mayBe.get(row) ?? mergedOf;
    if (leadId !== null) return [planDuplicateRow(leadId, row, mayBe)];
    if (unreadableId !== null) return [planUnreadableId(row, cells, unreadableId, mayBe, policy)];
    if (creates.rows.has(row)) {
      this.tally.leaveRow(row);
      return [];
    }
    if (found.links.has(row) || matches.linkedRows.has(row)) return [];
    if (mayBe !== undefined) return [planLostRow(row, cells, mayBe, policy)];
    const held = matches.heldRows.get(row);
    if (held !== undefined) {
      // Called for its side effect: the undone record was seen in this scan.
      undone.find('', cells);
      if (held === null) this.tally.heldWithLead += 1;
      return held === null ? [] : [held];
    }
    const unsure = found.unsure.get(row);
    const ofUnsure = unsure === undefined ? null : planLostRow(row, cells, [unsure], policy);
    if (isApart && ofUnsure !== null) return [ofUnsure];
    if (isApart) {
      this.tally.apart += 1;
      return [];
    }
    const isUndone = !isWanted && undone.find('', cells) !== null;
    const key = sentKey(sentContent(cells, policy));
    if (isWanted) refused.release(key);
    const before = isWanted ? null : refused.find(key);
    const planned = planNewRow(row, cells, isUndone ? undoneRow : before, policy);
    const actions = this.tally.withoutMissed(planned, 'rows');
    // Else it waits for the column with all that is new, and its lead with it.
    if (ofUnsure !== null && actions.length === planned.length) return [ofUnsure];
    if (!actions.some(({ kind }) => kind === 'create-lead')) return actions;
    if (idClosed !== null) return [planClosedId(row, cells, idClosed, policy)];
    const twin = names?.see(row, cells) ?? null;
    if (twin !== null && !isWanted && !matches.rejectedRows.has(row)) {
      this.twins += 1;
      return [planTwinRow(row, cells, twin, policy)];
    }
    first?.see(row, cells);
    return actions;
  }

  /** What an undo or the service said of its content holds after the pause as well. */
  #pausedRow(one: LooseRow): Actions {
    const { policy, undone, refused, loose } = this.#facts;
    this.tally.seePausedRow(one);
    loose.see(one);
    if (one.leadId === null) {
      undone.find('', one.cells);
      refused.find(sentKey(sentContent(one.cells, policy)));
    }
    return [];
  }

  /** What is planned when all was seen. */
  end(): Actions {
    const missed = this.tally.missed();
    return missed === null ? [] : [planMissed(missed, this.#facts.policy)];
  }
}

/** Counts records that differ, or may differ, and have no action. */
export class PlanTally {
  readonly records = new RecordTally();
  /** Equal in all fields that both sides show. */
  equal = 0;
  /** Differ and stay so, by the settings or without a proof. */
  leftAlone = 0;
  /** Rows that people paused: they are left alone. */
  paused = 0;
  /** Rows apart, which are no records. */
  apart = 0;
  /** Rows whose conflict is their likeliest lead's. */
  heldWithLead = 0;
  readonly #missed = { leads: 0, rows: 0 };
  #found = 0;
  readonly #leads = new Set<string>();
  readonly #rows = new Set<number>();

  /** A planned pair; `isFound`: its row had lost the id. A pair with copied rows is held for these. */
  see({ lead, row, isCopied }: Difference, actions: Actions, isFound: boolean): void {
    if (isFound && lead !== null) this.#found += 1;
    if (isCopied || (lead === null && row === null)) return;
    if (actions.length === 0) this.leftAlone += 1;
    else if (actions.every(({ kind }) => kind === 'agree')) this.equal += 1;
  }

  /** A lead whose row is paused; copies of that row are held. */
  seePaused(sight: Sight): void {
    this.records.seePaused(sight);
    this.paused += 1;
    if (!sight.isCopied) this.leftAlone += 1;
  }

  /** A paused row that no lead id names; one with the id of a row above it is no record. */
  seePausedRow(row: LooseRow): void {
    this.paused += 1;
    if (row.leadId !== null) return;
    this.records.seeLoose(row);
    this.leftAlone += 1;
  }

  /** Takes out the holds that are listed as one, of which it counts the records. */
  withoutMissed(actions: Actions, side: 'leads' | 'rows'): Actions {
    const others = actions.filter(({ reason }) => reason !== missedCode);
    if (others.length < actions.length) this.#missed[side] += 1;
    return others;
  }

  /** The new records of which nothing is made while a column is missing; null: none. */
  missed(): { readonly leads: number; readonly rows: number } | null {
    const { leads, rows } = this.#missed;
    return leads + rows === 0 ? null : { leads, rows };
  }

  /** A lead that may belong to an unfinished create. */
  leaveLead({ leadId, lead, row }: Difference): void {
    if (lead !== null || row !== null) this.#leads.add(leadId);
  }

  /** A row of an unfinished create. */
  leaveRow(row: number): void {
    this.#rows.add(row);
  }

  /**
   * Counts the records of unfinished creates by their actions. `linked`: leads that are one record with a row that does not
   * carry their id yet. `waiting`: records without an action.
   */
  finish(actions: Actions): { readonly linked: number; readonly waiting: number } {
    const [leads, rows] = [new Set(this.#leads), new Set(this.#rows)];
    let linked = this.#found;
    for (const { kind, leadId, row } of actions) {
      const isLead = leadId !== null && this.#leads.has(leadId);
      if (isLead) leads.delete(leadId);
      if (row !== null && (kind === 'link' || !isLead)) rows.delete(row);
      if (isLead && kind === 'link') linked += 1;
    }
    // One of them is the one that is listed.
    const missed = Math.max(0, this.#missed.leads + this.#missed.rows - 1);
    return { linked, waiting: leads.size + rows.size + missed };
  }
}
