import { type Cell, sameButSpelling, sameCell } from '../lead/value.ts';
import type { Change } from './action.ts';

/** From where a person requested an edit: the link in a mail, or an entry moved in a calendar. */
export type EditSource = 'link' | 'calendar';

/** `patch`: write it. `applied`: an earlier attempt wrote it. `unchanged`: the lead shows it already. */
export type EditVerdict = 'patch' | 'applied' | 'unchanged' | 'conflict';

/**
 * What is to be done about a requested edit of a lead that shows `shown`: it is written only over the value that the person
 * saw. `wasTried`: an earlier attempt may have written it. Pure.
 */
export function judgeEdit(
  { from, to }: Pick<Change, 'from' | 'to'>,
  shown: Cell,
  wasTried: boolean,
): EditVerdict {
  if (wasTried && sameButSpelling(shown, to)) return 'applied';
  if (sameCell(shown, to)) return 'unchanged';
  return sameCell(shown, from) ? 'patch' : 'conflict';
}

/** The requested edits of a person from a calendar in the last hour, and all follow-ups of that person. */
export interface CalendarEdits {
  readonly requestedBy: string;
  readonly edits: number;
  readonly followUps: number;
}

const [usualEdits, usualShare] = [10, 0.2];

/** Whether a calendar was emptied or shifted as a whole: more than 10 dates at once, and more than a fifth of all. Pure. */
export function isWholeCalendar({ edits, followUps }: CalendarEdits): boolean {
  return edits > usualEdits && edits > usualShare * followUps;
}
