import { counted } from '../core/lead/counted.ts';
import type { Problem } from '../errors.ts';
import type { ActionKind } from '../core/merge/action.ts';
import type { RecordCounts, StrangeReceipt } from '../store/receipts.ts';
import type { Run } from '../store/runs.ts';

/**
 * What became of every record of either side, each counted once; what was written was read again. `left`: differs
 * without anything to be done now (the settings want it so, its deletion is not proven yet, or it is no line of the
 * reviewed plan). `unexplained`: does not show what was written, or is in no other number. Each is counted by itself, `equal`
 * too: what was compared and is the same, and what was written and read again; of an undo only the latter, write by write.
 */
export interface Verification {
  readonly records: number;
  readonly equal: number;
  readonly held: number;
  readonly putOff: number;
  readonly left: number;
  readonly unexplained: number;
}

/** `seesAll`: as of `RunPolicy`. `unaccounted`: how many more records there are than were counted by what became of them; less than none: fewer. */
export function verificationOf(
  run: Run,
  fates: RecordCounts,
  seesAll: boolean,
): { readonly verification: Verification; readonly unaccounted: number } {
  const { records } = run;
  // A run that did not come as far as its plan knows of none.
  if (records === 0) return { verification: notVerified, unaccounted: 0 };
  const { held, unexplained } = fates;
  const [equal, putOff, left] = [
    run.comparedEqual + fates.written,
    run.waiting + fates.putOff,
    run.leftAlone + fates.left,
  ];
  const verification = { records, equal, held, putOff, left, unexplained };
  if (!seesAll) return { verification, unaccounted: 0 };
  const unaccounted = records - equal - held - putOff - left - unexplained;
  return {
    verification: { ...verification, unexplained: unexplained + Math.max(0, unaccounted) },
    unaccounted,
  };
}

/** The problem when they do not add up. */
export function unaccountedProblem(unaccounted: number, records: number): Problem {
  const what =
    unaccounted > 0
      ? `${unaccounted} of ${counted(records, 'record')} could not be accounted for`
      : `${counted(-unaccounted, 'record')} too many ${unaccounted === -1 ? 'was' : 'were'} counted of ${records}`;
  const message = `${what}: it is not known whether both sides show the same. This is a mistake in leadsync: please report it with the log; the next run compares all of them again`;
  return { code: 'receipt.unaccounted', message };
}

/** Of a run that did not come as far as its plan. */
export const notVerified: Verification = {
  records: 0,
  equal: 0,
  held: 0,
  putOff: 0,
  left: 0,
  unexplained: 0,
};

/** The problem of a write that does not show what was written. */
export function strangeProblem({ kind, leadId, row, receipt }: StrangeReceipt): Problem {
  return {
    code: `receipt.${receipt}`,
    message: receipt === 'changed' ? changedMessage(kind) : unexplainedMessage(kind),
    ...(leadId !== null && { leadId }),
    ...(row !== null && { row }),
  };
}

function changedMessage(kind: ActionKind): string {
  const side = kind === 'update-lead' ? 'lead' : 'row';
  return `the ${side} shows something else than was written a moment before: it was edited since, or stored otherwise; the next run looks again`;
}

function unexplainedMessage(kind: ActionKind): string {
  switch (kind) {
    case 'create-lead':
      return 'the service said that it made this lead, but does not show it: its row is held by the next run. Clear the id in the row to have the lead made again';
    case 'update-lead':
      return 'the service confirmed a change of this lead, but does not show it; the next run writes it again';
    case 'delete-lead':
      return 'the service confirmed that this lead was deleted, but still shows it; the next run looks again';
    default:
      return `the row does not show what was written (${kind}): an older copy of the table was saved over it, perhaps; the next run writes it again`;
  }
}
