import { counted } from '../core/lead/counted.ts';
import type { Problem } from '../lib/errors.ts';
import type { ActionKind } from '../core/merge/action.ts';
import type { RecordCounts } from '../core/merge/count-outcomes.ts';
import type { UnverifiedWrite } from '../store/verifications.ts';
import type { Run } from '../store/runs.ts';

/**
 * Every record of either side, counted once by what became of it. `equal`: compared and the same, or written and read
 * again; of an undo only its writes. `left`: differs, and is to stay so (settings, a deletion without proof yet, no line
 * of the reviewed plan). `unexplained`: does not show what was written, or is in no other number.
 */
export interface Verification {
  readonly records: number;
  readonly equal: number;
  readonly held: number;
  readonly putOff: number;
  readonly left: number;
  readonly unexplained: number;
}

/** Of a run that ended before its plan. */
export const noRecords: Verification = { records: 0, equal: 0, held: 0, putOff: 0, left: 0, unexplained: 0 };

/** `seesAll`: see `RunPolicy`. `unaccounted`: records that are in no number; below 0: records counted twice. */
export function verificationOf(
  run: Run,
  counts: RecordCounts,
  seesAll: boolean,
): { readonly verification: Verification; readonly unaccounted: number } {
  const { records } = run;
  if (records === 0) return { verification: noRecords, unaccounted: 0 };
  const { held, unexplained } = counts;
  const equal = run.comparedEqual + counts.written;
  const putOff = run.waiting + counts.putOff;
  const left = run.leftAlone + counts.left;
  const unaccounted = seesAll ? records - equal - held - putOff - left - unexplained : 0;
  const verification = {
    records,
    equal,
    held,
    putOff,
    left,
    unexplained: unexplained + Math.max(0, unaccounted),
  };
  return { verification, unaccounted };
}

/** The problem of numbers that do not add up. */
export function unaccountedProblem(unaccounted: number, records: number): Problem {
  const what =
    unaccounted > 0
      ? `${unaccounted} of ${counted(records, 'record')} could not be accounted for`
      : `${counted(-unaccounted, 'record')} too many ${unaccounted === -1 ? 'was' : 'were'} counted of ${records}`;
  const message = `${what}: it is not known whether both sides show the same. This is a mistake in leadsync: please report it with the log; the next run compares all of them again`;
  return { code: 'receipt.unaccounted', message };
}

/** The problem of a write that does not show what was written. */
export function unverifiedProblem({ kind, leadId, row, result }: UnverifiedWrite): Problem {
  return {
    code: `receipt.${result}`,
    message: result === 'changed' ? changedMessage(kind) : unexplainedMessage(kind),
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
      return 'the service said that it created this lead, but does not show it: the next run holds its row. Clear the id in the row to have the lead created again';
    case 'update-lead':
      return 'the service confirmed a change of this lead, but does not show it; the next run writes it again';
    case 'delete-lead':
      return 'the service confirmed that this lead was deleted, but still shows it; the next run looks again';
    default:
      return `the row does not show what was written (${kind}): perhaps an older copy of the table was saved over it; the next run writes it again`;
  }
}
