import { isUuid } from '../lead/lead-id.ts';
import type { Cells, Values } from '../lead/value.ts';
import { sameRecord } from './plan.ts';
import type { Policy } from './policy.ts';

/** A row whose lead the list does not show. */
export interface UnlistedRow {
  readonly leadId: string;
  readonly cells: Cells;
  /** The baseline; null: nobody knows the id. */
  readonly base: Values | null;
  /** As in PairState, before this scan. */
  readonly leadAbsences: number;
  readonly deletionDone: boolean;
  /** It was gone before, or is held for its id: another row may have become its lead's meanwhile. */
  readonly isStray: boolean;
}

/**
 * Whether a lead that the list does not show is asked for by its id: something is to be said or done about its row. A row that
 * shows its baseline is left as it is, unless the lead was gone before and a person is asked about it, or the list is filtered: no
 * scan proves a deletion there.
 */
export function isAskedFor(
  { cells, base, leadAbsences, deletionDone, isStray }: UnlistedRow,
  isFiltered: boolean,
  policy: Pick<Policy, 'fields' | 'unseen' | 'onLeadDeleted' | 'direction'>,
): boolean {
  if (base === null || isStray || !sameRecord(cells, base, policy)) return true;
  const isQuestion = policy.onLeadDeleted === 'ask' && policy.direction !== 'to-leads';
  return (isFiltered || isQuestion) && leadAbsences > 0 && !deletionDone;
}

/** What a request for a lead by its id says of it. */
type Answer = 'shown' | 'gone' | 'unknown';

/** What the service answered; `message`: why that is unknown. */
export interface Asked {
  readonly answer: Answer;
  readonly message: string | null;
}

/**
 * What follows from a rejected request (400, 422, or an id that no address can carry): nothing of a lead that was known, or of an
 * id such as the service gives; another text in an id cell is no lead's.
 */
export function afterRejectedId(leadId: string, isKnown: boolean): Answer {
  return isKnown || isUuid(leadId) ? 'unknown' : 'gone';
}

/** Why a lead was not asked for when there were too many. */
export const notAsked = 'this run asked for other leads first';
