import { type PlannedAction, rowKinds } from './action.ts';

/** An action of a round, but for those that only hold, with what became of it. */
export interface Act extends Pick<PlannedAction, 'kind' | 'row' | 'contentHash'> {
  /** Its own, or that of the lead it made. */
  readonly leadId: string | null;
  readonly state: string;
  /** What reading it again showed. */
  readonly receipt: 'equal' | 'changed' | 'unexplained' | null;
  readonly code: string | null;
  /** Of new rows that were written together, each a record of its own: how many. Null: it is of one record. */
  readonly newRows: number | null;
}

/** The record that is held; without a lead id a row. */
export type HeldRecord = Pick<Act, 'leadId' | 'row' | 'contentHash'>;

/** What became of the records of a run that it held, wrote or left; each is counted once, as the gravest that is true of it. */
export interface RecordCounts {
  readonly unexplained: number;
  readonly held: number;
  readonly putOff: number;
  /** Differ without anything to be done or a column to mark them in, or were left out of the reviewed plan. */
  readonly left: number;
  /** Were written and read again as they were written; of an undo writes, no records. */
  readonly written: number;
}

/** From the lightest to the gravest; `unread`: written, and not read again by a run that has ended. */
const outcomes = ['written', 'left', 'putOff', 'held', 'unexplained', 'unread'] as const;
type Outcome = (typeof outcomes)[number];

/**
 * Counts the records of a round. `rowsReadEqual`: the writes to rows when all were seen at once; `isFinished`: it has
 * ended, so that what it did not read again is no more put off; `isUndo`: it counts its writes.
 */
export function countOutcomes(
  acts: readonly Act[],
  held: readonly HeldRecord[],
  run: { readonly rowsReadEqual: number; readonly isFinished: boolean; readonly isUndo: boolean },
): RecordCounts {
  const isUnread = ({ kind, state, receipt, newRows }: Act): boolean =>
    state === 'done' && receipt === null && newRows === null && rowKinds.includes(kind);
  const areRowsEqual = acts.filter(isUnread).length === run.rowsReadEqual;
  const isEqual = (act: Act): boolean => act.receipt === 'equal' || (areRowsEqual && isUnread(act));
  const unread: Outcome = run.isFinished ? 'unread' : 'putOff';
  const outcomeOf = (act: Act): Outcome => {
    const { kind, state, receipt, code } = act;
    if ((kind === 'report' && state !== 'deferred') || state === 'left-out') return 'left';
    if (receipt === 'unexplained') return 'unexplained';
    if (state === 'held') return 'held';
    if (receipt === 'changed' || state !== 'done') return 'putOff';
    if (kind === 'mark-row' && code === 'target.no-status-column') return 'left';
    return isEqual(act) ? 'written' : unread;
  };
  const byRecord = new Map<string, number>();
  const see = (record: HeldRecord, outcome: Outcome): void => {
    const key = record.leadId ?? (record.row === null ? record.contentHash : `#${record.row}`);
    byRecord.set(key, Math.max(byRecord.get(key) ?? 0, outcomes.indexOf(outcome)));
  };
  const madeOf = new Map<number, string>();
  for (const act of acts.filter(({ newRows }) => newRows === null)) {
    see(act, outcomeOf(act));
    if (act.kind === 'create-lead' && act.row !== null && act.leadId !== null)
      madeOf.set(act.row, act.leadId);
  }
  for (const one of held) {
    // A row and the lead that was made of it meanwhile are one record.
    const made = one.row === null ? undefined : madeOf.get(one.row);
    see({ ...one, leadId: one.leadId ?? made ?? null }, 'held');
  }

  const counts = { written: 0, left: 0, putOff: 0, held: 0, unexplained: 0, unread: 0 };
  for (const gravity of byRecord.values()) counts[outcomes[gravity] ?? 'unread'] += 1;
  for (const act of acts) counts[outcomeOf(act)] += act.newRows ?? 0;
  if (run.isUndo) counts.written = acts.filter((act) => act.state === 'done' && isEqual(act)).length;
  const { unread: _, ...known } = counts;
  return known;
}
