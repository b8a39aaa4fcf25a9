import type { Shown } from './entry-text.ts';

/** Dates are epoch ms in whole seconds. */
interface Agreed {
  readonly due: number;
  /** It is past, and an entry that is not there is not made any more. */
  readonly isPast: boolean;
  /** The two sides differ and wait for a person: the entry stays as it is. */
  readonly isHeld: boolean;
}

/** How a person took an entry out of the way: it is not put back before the follow-up moves. */
type Ended = 'deleted' | 'completed';

/**
 * `open`: not carried out yet. `applied`: the service has it, and no sync has come by since. `conflict`: the service shows another date, and
 * nobody has settled it. `over`: the agreed follow-up counts again.
 */
export interface Edit {
  /** Epoch ms; null: cleared. */
  readonly to: number | null;
  readonly state: 'open' | 'applied' | 'conflict' | 'over';
}

export interface Known {
  /** The date that leadsync wrote, or that was agreed on since. */
  readonly due: number;
  /** A date whose write may or may not have arrived. */
  readonly writing: number | null;
  /** The calendar has shown it, or confirmed it. */
  readonly isThere: boolean;
  readonly ended: Ended | null;
  readonly edit: Edit | null;
}

export interface EntryFacts {
  /** Null: there is no follow-up for this person. */
  readonly agreed: Agreed | null;
  /** Null: there is no entry, and none was ever begun. */
  readonly known: Known | null;
  readonly shown: Shown | { readonly kind: 'missing' };
  /** Whether a title or a text is to be written anew. */
  readonly isStale: boolean;
}

export type Decision =
  | { readonly do: 'nothing' | 'put' | 'change' | 'take-back' | 'forget' }
  | { readonly do: 'settle' }
  /** Request an edit of the lead: only while it still shows `from`. */
  | {
      readonly do: 'request';
      readonly from: number;
      readonly to: number;
    }
  | { readonly do: 'end'; readonly ended: Ended };

const nothing = { do: 'nothing' } as const;

/**
 * A date that differs from the one that leadsync wrote was moved by a person and becomes a requested edit, also when the follow-up has moved
 * meanwhile: it then ends as a conflict, which loses neither. `settle` notes that the entry shows the agreed follow-up already.
 */
export function decideEntry(facts: EntryFacts): Decision {
  const { agreed, known, shown } = facts;
  if (known === null) return agreed === null || agreed.isPast || agreed.isHeld ? nothing : { do: 'put' };
  if (shown.kind === 'unclear') return nothing;
  const { edit } = known;
  const isAgreed = edit !== null && isSame(agreed?.due ?? null, edit.to);
  if (edit !== null && edit.state !== 'over' && !isAgreed) return whileWaiting(known, edit, shown);
  if (shown.kind === 'missing') return whenMissing(facts, known);
  if (shown.isDone) return whenDone(facts, known);
  const from = edit?.to ?? shown.mark ?? known.due;
  if (isMovedByPerson(shown, known)) {
    if (isSame(agreed?.due ?? null, shown.at)) return { do: 'change' };
    return { do: 'request', from, to: shown.at };
  }
  if (agreed === null) return { do: 'take-back' };
  if (agreed.isHeld) return nothing;
  const isMarked = shown.mark === null || isSame(shown.mark, agreed.due);
  if (!isSame(shown.at, agreed.due) || !isMarked || facts.isStale) return { do: 'change' };
  const isSettled =
    edit === null && known.ended === null && known.writing === null && isSame(known.due, agreed.due);
  return isSettled ? nothing : { do: 'settle' };
}

/** Before a write of the agreed date leaves: it may arrive without our hearing of it. */
export function begun(known: Known | null, due: number): Known {
  if (known === null) return { due, writing: due, isThere: false, ended: null, edit: null };
  return { ...known, writing: due };
}

export function stored(due: number): Known {
  return { due, writing: null, isThere: true, ended: null, edit: null };
}

/** What is known after a decision that writes nothing into the calendar; `due`: what is agreed on. */
export function noted(
  known: Known,
  decision: Extract<Decision, { do: 'request' | 'end' | 'settle' }>,
  due: number | null,
): Known {
  switch (decision.do) {
    case 'request':
      return {
        ...known,
        due: decision.from,
        ended: null,
        edit: { to: decision.to, state: 'open' },
      };
    case 'end':
      return { ...known, due: due ?? known.due, writing: null, ended: decision.ended, edit: null };
    case 'settle':
      // Of a conflict that the person has taken back, what is agreed on comes with the next pass.
      return known.edit?.state === 'conflict' ? { ...known, edit: null } : stored(due ?? known.due);
    default:
      return decision satisfies never;
  }
}

/** Whether two dates are one: calendars and their programs drop seconds. */
export function isSame(one: number | null, other: number | null): boolean {
  return one === null || other === null ? one === other : Math.abs(one - other) < 60_000;
}

/** The entry itself knows best what was written: the calendar may be an older one, or the state. */
function isMovedByPerson(
  { at, mark }: Extract<Shown, { kind: 'entry' }>,
  { due, writing, edit }: Known,
): boolean {
  if (edit !== null && edit.to !== null) return !isSame(at, edit.to);
  return mark === null ? !isSame(at, due) && !isSame(at, writing) : !isSame(at, mark);
}

/** An edit is under way: the entry is left as the person has it, and moved again is one more edit. */
function whileWaiting(known: Known, edit: Edit, shown: EntryFacts['shown']): Decision {
  const isOther = shown.kind === 'entry' && !shown.isDone && !isSame(shown.at, edit.to);
  if (!isOther || edit.state === 'open') return nothing;
  // Taken back by the person: nothing is left of the conflict here.
  if (edit.state === 'conflict' && isSame(shown.at, known.due)) return { do: 'settle' };
  const from = edit.state === 'applied' && edit.to !== null ? edit.to : known.due;
  return { do: 'request', from, to: shown.at };
}

function whenMissing({ agreed }: EntryFacts, known: Known): Decision {
  if (agreed === null) return { do: 'forget' };
  if (!known.isThere) return agreed.isHeld ? nothing : { do: 'put' };
  return endedByPerson(agreed, known, 'deleted');
}

function whenDone({ agreed }: EntryFacts, known: Known): Decision {
  // It stays as the person's own record.
  if (agreed === null) return nothing;
  return endedByPerson(agreed, known, 'completed');
}

function endedByPerson(agreed: Agreed, known: Known, ended: Ended): Decision {
  const due = known.edit === null ? known.due : known.edit.to;
  if (agreed.isHeld) return nothing;
  if (!isSame(agreed.due, due)) {
    if (ended === 'completed') return { do: 'change' };
    return agreed.isPast ? { do: 'forget' } : { do: 'put' };
  }
  if (known.ended === ended) return known.edit === null ? nothing : { do: 'settle' };
  return { do: 'end', ended };
}
