import type { Cells } from '../lead/value.ts';
import type { PlannedAction } from './action.ts';

/** What becomes of new rows and new leads that may be the same. */
export interface MatchedRecords {
  /** The rows that get the id of a lead, by the lead; `message`: the evidence. */
  readonly rowOf: ReadonlyMap<
    string,
    { readonly row: number; readonly cells: Cells; readonly message: string }
  >;
  readonly linkedRows: ReadonlySet<number>;
  /** Rows that a person took apart from a lead that gets another row. */
  readonly rejectedRows: ReadonlySet<number>;
  /** The conflict of leads and rows that get no counterpart; null: it is the lead's. */
  readonly heldLeads: ReadonlyMap<string, PlannedAction>;
  readonly heldRows: ReadonlyMap<number, PlannedAction | null>;
}

export const noMatches: MatchedRecords = {
  rowOf: new Map(),
  linkedRows: new Set(),
  rejectedRows: new Set(),
  heldLeads: new Map(),
  heldRows: new Map(),
};

/** A lead and a row that may be the same, by their indexes. */
export interface Candidate {
  readonly lead: number;
  readonly row: number;
  readonly score: number;
  /** Same name, and nothing contradicts it. */
  readonly isNamesake: boolean;
  /** Equal in every field of `matchBy`. */
  readonly isExact: boolean;
  /** A person decided that they are the same. */
  readonly isAccepted: boolean;
}

export interface Choice<C extends Candidate> {
  /** To link now: accepted by a person, or exact. Each lead and row is in at most one. */
  readonly links: readonly C[];
  /** Each other's best, by a clear margin. */
  readonly proposed: readonly C[];
  /** The remaining candidates of unlinked leads and rows. */
  readonly ambiguous: readonly C[];
}

/** The lead that the best must have over the second. */
const margin = 0.05;

/**
 * Chooses among the candidates, independent of their order. `linksExact`: links exact ones without asking when neither
 * side has another candidate of that name. Pure.
 */
export function chooseMatches<C extends Candidate>(candidates: readonly C[], linksExact: boolean): Choice<C> {
  const sorted = candidates.toSorted((a, b) => a.lead - b.lead || a.row - b.row);
  const links: C[] = [];
  const [leads, rows] = [new Set<number>(), new Set<number>()];
  const isFree = ({ lead, row }: C): boolean => !leads.has(lead) && !rows.has(row);
  const link = (one: C): void => {
    if (!isFree(one)) return;
    links.push(one);
    leads.add(one.lead);
    rows.add(one.row);
  };
  for (const one of sorted) if (one.isAccepted) link(one);
  if (linksExact) {
    const [ofLead, ofRow] = [countBy(sorted, 'lead'), countBy(sorted, 'row')];
    const isOnly = ({ lead, row }: C): boolean => ofLead.get(lead) === 1 && ofRow.get(row) === 1;
    for (const one of sorted) if (one.isExact && isOnly(one)) link(one);
  }
  const open = sorted.filter(isFree);
  const [ofLead, ofRow] = [clearBests(open, 'lead'), clearBests(open, 'row')];
  const isBest = (one: C): boolean => ofLead.has(one) && ofRow.has(one);
  const proposed = open.filter(isBest);
  return { links, proposed, ambiguous: open.filter((one) => !isBest(one)) };
}

/** How many namesakes each has. */
function countBy(candidates: readonly Candidate[], side: 'lead' | 'row'): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const one of candidates) if (one.isNamesake) counts.set(one[side], (counts.get(one[side]) ?? 0) + 1);
  return counts;
}

/** The best of each lead or row, unless another one is nearly as good. */
function clearBests<C extends Candidate>(candidates: readonly C[], side: 'lead' | 'row'): ReadonlySet<C> {
  const groups = [...Map.groupBy(candidates, (one) => one[side]).values()];
  const bests = groups.flatMap((rivals) => {
    const best = rivals.reduce((most, { score }) => Math.max(most, score), 0);
    const near = rivals.filter(({ score }) => best - score <= margin);
    return near.length === 1 ? near : [];
  });
  return new Set(bests);
}
