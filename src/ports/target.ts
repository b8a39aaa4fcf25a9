import type { AskedCell, Author } from '../core/lead/author.ts';
import type { Cells, Values } from '../core/lead/value.ts';

/** A row of the target that carries data in at least one mapped column, or an id. */
export interface TargetRow {
  /** Where it stands now, as the target's own user would name it (1-based, the header is 1). For messages only. */
  readonly row: number;
  readonly leadId: string | null;
  /**
   * What the id cell shows that is no id and cannot be written over: a formula without a value, an error, a cell that a
   * merge covers. `leadId` is null then. No lead is made of such a row, and while there is one no other row counts as gone.
   */
  readonly unreadableId?: string;
  /** Of a row without id: nobody asked a lead for it. None is made of it, but it may be that of a lead (`match`). */
  readonly other?: boolean;
  /** Of a row without id: why none can be written into its id cell, as a sentence. No lead is made of it. */
  readonly idClosed?: string;
  /**
   * One cell for each readable mapped field. A cell that is not there (a short line of a CSV file) is left out: it is not
   * shown, never empty.
   */
  readonly cells: Cells;
  /** What the status column shows, empty text included. Null: there is no single status column. Never data. */
  readonly status: string | null;
}

/** What became of a row that a person merged into another. */
export interface MergedRow {
  /** Where the row stands that stayed. */
  readonly row: number;
  /** Which one that is, and what a person can do, as sentences. */
  readonly message: string;
}

export interface MissingColumn {
  readonly field: string;
  readonly message: string;
  readonly isDoubled?: boolean;
}

export interface TargetSnapshot {
  /** Mapped fields whose column is missing or there twice (`isDoubled`): left out of this run. */
  readonly missing: readonly MissingColumn[];
  /** True when the target did not exist and was created with its headings. */
  readonly created: boolean;
  /** Time zone in which the target's own dates are meant, as it names it. Absent: that of the configuration. */
  readonly timeZone?: string;
  /** Headings of mapped columns of which we may not write every cell, as things stand. Absent: none is known. */
  readonly closed?: readonly string[];
  /** What columns cannot keep of what is mapped to them, a sentence each, for `leadsync check`. Absent: nothing is known. */
  readonly unsuited?: readonly string[];
  /** Whether the account may write to it at all; null: that cannot be told. Absent: it shows only when something is written. */
  readonly mayWrite?: boolean | null;
  /** By where they stood: rows that are not there any more because they were merged. Absent: none ever is. */
  readonly merged?: ReadonlyMap<number, MergedRow>;
  /** The text by which we have marked the target; null: there is none. Absent: this kind has no place for it. */
  readonly mark?: string | null;
  /** Rows in the target's order, in batches. Throws `target.changed` (retry now) when somebody wrote meanwhile. */
  readonly rows: AsyncIterable<readonly TargetRow[]>;
}

/**
 * One change of one row. `expect` is what the plan saw: when the row no longer shows it the change is put off. Rows
 * are found by their id, never by number; a row without id is found by its content.
 */
export type RowChange =
  | {
      readonly kind: 'append';
      readonly key: string;
      readonly leadId: string;
      readonly values: Values;
      /** For the status column; a target without one leaves it out. */
      readonly status?: string;
      /** Where the row of this lead stood before, or the one that it was merged into; absent: it never had one. */
      readonly was?: number;
      /** It was begun before, and nobody heard what became of it: a row without id that shows exactly this gets the id. */
      readonly isRepeated?: boolean;
    }
  | {
      readonly kind: 'update';
      readonly key: string;
      readonly leadId: string;
      readonly expect: Cells;
      readonly values: Values;
    }
  | {
      /** Writes the id (and values) into a row that has none and shows exactly `expect` in all mapped columns. */
      readonly kind: 'link';
      readonly key: string;
      readonly leadId: string;
      readonly expect: Cells;
      readonly values: Values;
      /** For the status column; left out where that cannot be written. */
      readonly status?: string;
    }
  | {
      /**
       * Writes how rows stand into the status column, only where it shows something else, and touches nothing else. With
       * an id: the first row that has it, or with `copies` all further ones. Without: a row that has no id and shows
       * exactly `expect` in all mapped columns and `shown` in the status column. `done` also when there is no such row or
       * no status column: the next run looks again. `held` where the cell cannot be written to.
       */
      readonly kind: 'status';
      readonly key: string;
      readonly leadId: string | null;
      readonly copies?: boolean;
      readonly expect: Cells;
      readonly shown: string;
      readonly text: string;
    }
  | {
      /** Writes the text of a deleted lead into the status column. */
      readonly kind: 'mark';
      readonly key: string;
      readonly leadId: string;
      readonly expect: Cells;
      readonly text: string;
    }
  | {
      /**
       * Takes the row away. What its users have put into columns of their own stays: then only the mapped columns, the
       * id and the status are emptied. `bare`: not at all when there is such a cell (`row.has-own-cells`).
       */
      readonly kind: 'remove';
      readonly key: string;
      readonly leadId: string;
      readonly expect: Cells;
      readonly bare?: boolean;
    }
  | {
      /**
       * Takes the id out of the row and writes the values: what stands there then is a row that has no lead. `again`: one is to be
       * made of it, so where people have to ask for that (HubSpot) it is asked for.
       */
      readonly kind: 'unlink';
      readonly again?: boolean;
      readonly key: string;
      readonly leadId: string;
      readonly expect: Cells;
      readonly values: Values;
    };

/**
 * What became of one change. `done` also when the row already showed the new values, so that a write that was
 * interrupted after it took effect can be repeated. `put-off`: the row is no longer what the plan saw; the next run
 * looks again (`row.changed`, `row.gone`, `row.exists`, `row.duplicated`, `target.column-missing`). `held`: this change
 * can never be written as it is (`target.value-not-storable`, `target.no-status-column`), or not where it belongs
 * (`target.cell-not-writable`: a formula, merged cells; `row.has-own-cells`; `row.archived`: a person has deleted it, and
 * it can be restored).
 */
export type RowOutcome =
  | {
      readonly key: string;
      readonly status: 'done';
      /** Where a new row stands, when the target knows. */
      readonly row?: number;
    }
  | {
      readonly key: string;
      readonly status: 'put-off' | 'held';
      readonly code: string;
      readonly message: string;
    };

/** Where a target keeps its rows. */
export interface Place {
  /** What tells it from all others, in one spelling, and cannot be typed: begins with its kind. */
  readonly id: string;
  /** What tells it from others while it is missing, where that is something else than once it was made. */
  readonly idWhileMissing?: string;
  /** As people call it; two places may have one after the other. */
  readonly address: string;
  /** Whether there is a file, tab or table; of one that is missing only the address tells which it was. */
  readonly isThere: boolean;
}

/**
 * A text of ours that travels with the content. Written together with rows, never alone: at once with them or, where the
 * target has no such thing, after them. No write fails because it cannot be written; `arrived` is called when it is there.
 */
export interface MarkToWrite {
  readonly text: string;
  readonly arrived: () => void;
}

/**
 * What a sync asks of a spreadsheet or CRM. Faults are thrown as LeadsyncError:
 *
 * | code | retry | when |
 * |---|---|---|
 * | target.busy | later | a person has it open (an editor's lock file), another writer holds our lock, or a record is locked |
 * | target.changed | now | somebody wrote while we read or wrote; nothing was written |
 * | target.incomplete | later | the file ends in the middle of a row: it is still being written, or was cut off |
 * | target.emptied | later | it is there, but nothing is in it any more (`wasFilled`) |
 * | target.gone | never | it is missing, though rows of it are known (`wasFilled`) |
 * | target.tab-renamed | never | the sheet has another title now (which is named) |
 * | target.copied | never | a copy of a file that is kept in step already |
 * | target.header-missing | never | no heading of the mapping is in the first row |
 * | target.id-column-missing | never | headings are there but the id column is not, or it is there twice |
 * | target.unreadable | never | broken or foreign file: what is wrong and where |
 * | target.not-writable | never | read-only folder or file, missing folder |
 * | target.disk-full | later | no space; the old file is untouched |
 * | target.io | later | any other fault of the system |
 * | target.rate-limited | later | the service asks to wait, or would; nothing was sent or done |
 * | target.unavailable | now, later | no reply, or one that says nothing; a write may have taken effect |
 * | target.unauthenticated, target.forbidden | never | the key is not accepted, or not for this; whom to give access |
 * | target.not-found, target.trashed | never | the file does not exist, or lies in the trash |
 * | target.refused | never | the service cannot do what was asked, or will not |
 * | target.bad-url | never | the address of the service cannot be used |
 * | target.closed | never | the object was disposed |
 * | target.full | never | the service holds no more rows |
 * | target.too-large | never | more than can be taken in at once |
 */
export interface Target {
  /** For messages: a path, a sheet's name. */
  readonly name: string;
  /** How many changes are best given to one call of `write`, as things stand. */
  readonly batchSize: number;
  /** Requests to the target so far (for a file: times it was read or written). */
  readonly requests: number;
  /**
   * Creates the target with headings when it is missing (unless `create` is false: then it reads as empty). With a
   * `purpose` it may go on with what a call for the same one read before it failed; without, all is read anew.
   * `wasFilled`: rows of it are known, so one that is missing (`target.gone`), or has nothing in it, not even headings,
   * is refused.
   * `elsewhere`: another place is kept in step so far, so this one is no other name of it.
   * `newFields`: mapped fields that never had a column; with `create` each gets one at the end where it is missing.
   */
  open(
    options: {
      readonly create: boolean;
      readonly purpose?: string;
      readonly newFields?: readonly string[];
      readonly wasFilled?: boolean;
      readonly elsewhere?: boolean;
    },
    signal: AbortSignal,
  ): Promise<TargetSnapshot>;
  /** Which place it is at this moment; null: that cannot be told. Throws as `open` does. */
  place?(signal: AbortSignal): Promise<Place | null>;
  /**
   * Whether nothing is at a place any more that this target, or another one of its kind, was once; also when what led
   * there leads to this target's place now. False where that cannot be told. Throws as `open` does.
   */
  isLeft?(place: Pick<Place, 'id' | 'address'>, signal: AbortSignal): Promise<boolean>;
  /**
   * Another text each time that anybody has changed the target; null when there is none. Throws as `open` does. Absent:
   * only reading it tells.
   */
  version?(): Promise<string | null>;
  /**
   * A text that two states of the target share only when reading them shows and tells the same, and the `version` of that
   * state; null when there is none. Throws as `open` does. Absent: it costs as much as reading it.
   */
  digest?(signal: AbortSignal): Promise<{ readonly digest: string; readonly version: string } | null>;
  /**
   * Who changed what these cells show, as many answers as cells; null: not known, or it was this account. Throws as `open`
   * does. Absent: this kind of place never knows.
   */
  authors?(cells: readonly AskedCell[], signal: AbortSignal): Promise<readonly (Author | null)[]>;
  /** Applies the changes all at once or not at all; as many outcomes as changes, in the same order. */
  write(
    changes: readonly RowChange[],
    signal: AbortSignal,
    mark?: MarkToWrite,
  ): Promise<readonly RowOutcome[]>;
  /**
   * How many rows our writes have added since the rows were read last, when it is certain that all of them still stand as they
   * were written; else 0. Throws as `open` does. Absent: only reading them tells.
   */
  addedRows?(signal: AbortSignal): Promise<number>;
  /**
   * Whom to give access, for `leadsync check`; null when the account has no address. Absent: nobody has to. Throws when
   * there is no account to use.
   */
  address?(): Promise<string | null>;
  /**
   * For `leadsync check --fix`: makes a copy of a target (`target.copied`) a target of its own. Returns whether there was
   * anything to do. Throws as `open` does. Absent: there never is.
   */
  fix?(signal: AbortSignal): Promise<boolean>;
}
