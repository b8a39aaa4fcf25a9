import {
  begun,
  type Decision,
  decideEntry,
  type Edit,
  type Known,
  noted,
  stored,
} from '../../src/caldav/decide-entry.ts';

/** A move of the world; `who`: of the two people. */
export type Move =
  | { readonly kind: 'move' | 'delete' | 'complete' | 'restore'; readonly who: number }
  | { readonly kind: 'serve' | 'clear' | 'carry-out' | 'sync' | 'resolve' }
  /** `cut`: the process dies after the write, before it notes it. `meanwhile`: the person moves the entry before the write. */
  | { readonly kind: 'pass'; readonly who: number; readonly cut: boolean; readonly meanwhile: boolean };

interface Shown {
  readonly at: number;
  readonly mark: number | null;
  readonly isDone: boolean;
  readonly version: number;
}

interface Person {
  entry: Shown | null;
  known: Known | null;
  edit: StoredEdit | null;
  /** The last date that the person chose, until the entry is theirs no more. */
  chosen: number | null;
}

interface StoredEdit {
  readonly from: number;
  readonly to: number | null;
  state: Edit['state'];
}

const minute = 60_000;

/** One lead, its service, the agreed date, and two people's calendars; every date is used once. */
export class CalendarWorld {
  service: number | null = minute;
  agreed: number | null = minute;
  readonly people: readonly Person[] = [0, 1].map(() => ({
    entry: null,
    known: null,
    edit: null,
    chosen: null,
  }));
  readonly edits: StoredEdit[] = [];
  /** Writes into calendars so far. */
  writes = 0;
  /** Dates that people chose and that nobody may lose: they were requested, or the same person chose another. */
  readonly #keepsMarks: boolean;
  #last = 1;

  constructor(keepsMarks: boolean) {
    this.#keepsMarks = keepsMarks;
  }

  play(move: Move): void {
    switch (move.kind) {
      case 'move':
      case 'delete':
      case 'complete':
      case 'restore':
        return this.#act(this.#person(move.who), move.kind);
      case 'serve':
        this.service = this.#next();
        return;
      case 'clear':
        this.service = null;
        return;
      case 'carry-out':
        return this.#carryOut();
      case 'sync':
        return this.#sync();
      case 'resolve':
        for (const edit of this.edits) if (edit.state === 'conflict') edit.state = 'over';
        return;
      case 'pass':
        return this.#pass(this.#person(move.who), move.cut, move.meanwhile);
      default:
        return move satisfies never;
    }
  }

  /** Lets everything come to rest, with everybody's conflicts settled as the service has it. */
  rest(): void {
    for (let round = 0; round < 6; round++) {
      for (const who of this.people.keys()) this.play({ kind: 'pass', who, cut: false, meanwhile: false });
      while (this.edits.some(({ state }) => state === 'open')) this.#carryOut();
      this.play({ kind: 'resolve' });
      this.#sync();
    }
  }

  #person(who: number): Person {
    const person = this.people[who];
    if (person === undefined) throw new RangeError('nobody');
    return person;
  }

  #next(): number {
    this.#last += 1;
    return this.#last * minute;
  }

  #act(person: Person, kind: 'move' | 'delete' | 'complete' | 'restore'): void {
    const { entry } = person;
    if (entry === null) return;
    const version = entry.version + 1;
    // Some programs drop what they do not know.
    const mark = this.#keepsMarks ? entry.mark : null;
    if (kind === 'delete') {
      person.entry = null;
      person.chosen = null;
    } else if (kind === 'move') {
      person.entry = { ...entry, at: this.#next(), mark, isDone: false, version };
      person.chosen = person.entry.at;
    } else {
      person.entry = { ...entry, mark, isDone: kind === 'complete', version };
      if (kind === 'complete') person.chosen = null;
    }
  }

  /** The oldest open edit, only while the service shows what it started from. */
  #carryOut(): void {
    const edit = this.edits.find(({ state }) => state === 'open');
    if (edit === undefined) return;
    if (this.service === edit.from || this.service === edit.to) {
      this.service = edit.to;
      edit.state = 'applied';
    } else edit.state = 'conflict';
  }

  #sync(): void {
    this.agreed = this.service;
    for (const edit of this.edits) if (edit.state === 'applied') edit.state = 'over';
  }

  #pass(person: Person, cut: boolean, meanwhile: boolean): void {
    const { entry, edit } = person;
    const known = person.known === null || edit === null ? person.known : { ...person.known, edit };
    const agreed = this.agreed === null ? null : { due: this.agreed, isPast: false, isHeld: false };
    const shown = entry === null ? { kind: 'missing' as const } : { kind: 'entry' as const, ...entry };
    if (known !== null && entry !== null) person.known = { ...known, isThere: true };
    const seen = person.known === null ? null : { ...person.known, edit: known?.edit ?? null };
    const decision = decideEntry({ agreed, known: seen, shown, isStale: false });
    if (meanwhile) this.#act(person, 'move');
    this.#carry(person, decision, entry?.version ?? null, cut);
  }

  #carry(person: Person, decision: Decision, version: number | null, cut: boolean): void {
    const { known } = person;
    switch (decision.do) {
      case 'nothing':
        return;
      case 'forget':
        person.known = null;
        person.edit = null;
        return;
      case 'put':
      case 'change': {
        if (this.agreed === null) throw new Error('nothing is agreed on');
        person.known = begun(known, this.agreed);
        if ((person.entry?.version ?? null) !== version) return;
        this.writes += 1;
        person.entry = { at: this.agreed, mark: this.agreed, isDone: false, version: (version ?? 0) + 1 };
        if (cut) return;
        person.known = stored(this.agreed);
        person.edit = null;
        return;
      }
      case 'take-back':
        if (person.entry?.version !== version) return;
        this.writes += 1;
        person.entry = null;
        if (cut) return;
        person.known = null;
        person.edit = null;
        return;
      case 'request': {
        if (known === null) throw new Error('a request without an entry');
        const edit: StoredEdit = { from: decision.from, to: decision.to, state: 'open' };
        this.edits.push(edit);
        person.edit = edit;
        person.known = noted(known, decision, this.agreed);
        return;
      }
      case 'end':
      case 'settle':
        if (known === null) throw new Error('an entry that is not known');
        person.known = noted({ ...known, edit: person.edit }, decision, this.agreed);
        person.edit = null;
        return;
      default:
        decision satisfies never;
    }
  }
}
