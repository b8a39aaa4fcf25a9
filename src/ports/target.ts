import type { Aside } from '../core/lead/aside.ts';
import type { Author, ShownCell } from '../core/lead/author.ts';
import { type MergedPlace, type RowStanding, type TableRow } from '../core/lead/table-rows.ts';
import type { Cells, Values } from '../core/lead/value.ts';

/** A row with an id, or with data in at least one mapped column. */
export interface TargetRow extends TableRow {
  /** A row without id and without a request for a lead. None is created, but it may match one (`match`). */
  readonly other?: boolean;
  readonly standing?: RowStanding;
}

export interface MissingColumn {
  readonly field: string;
  readonly message: string;
  readonly isDoubled?: boolean;
}

export interface TargetSnapshot {
  /** Mapped fields whose column is missing or duplicated (`isDoubled`): left out of this run. */
  readonly missing: readonly MissingColumn[];
  /** The target did not exist and was created with its headings. */
  readonly created: boolean;
  /** Time zone of the target's own dates, as it names it. Absent: the configured one. */
  readonly timeZone?: string;
  /** Headings of mapped columns that are not fully writable. Absent: none known. */
  readonly closed?: readonly string[];
  /** What columns cannot hold of their fields, a sentence each, for `leadsync check`. */
  readonly unsuited?: readonly string[];
  /** What else `leadsync check`, and of a file the first sync, say of the table. */
  readonly hint?: string;
  /** Whether the account may write; null: unknown. Absent: only a write tells. */
  readonly mayWrite?: boolean | null;
  /** Rows that are gone because they were merged, by their former position. Absent: never happens. */
  readonly merged?: ReadonlyMap<number, MergedPlace>;
  /** What it shows may change though its `contentTag` does not: formulas have written some of it. */
  readonly isLive?: boolean;
  /** Our mark in the target; null: none. Absent: this kind has no place for it. */
  readonly mark?: string | null;
  /** Rows in the target's order, in batches. Throws `target.changed` (retry now) when somebody wrote meanwhile. */
  readonly rows: AsyncIterable<readonly TargetRow[]>;
}

/**
 * One change of one row. `expect` is what the plan saw: if the row shows anything else, the change is put off. Rows are
 * found by id, or without one by content; never by number.
 */
export type RowChange = { readonly key: string } & (
  | {
      readonly kind: 'append';
      readonly leadId: string;
      readonly values: Values;
      /** For the status column, if there is one. */
      readonly status?: string;
      /** The lead's former row, or the one it was merged into; absent: it never had one. */
      readonly was?: number;
      /** An earlier attempt had no known outcome: a row without id that shows exactly this gets the id. */
      readonly isRepeated?: boolean;
    }
  | {
      readonly kind: 'update';
      readonly leadId: string;
      readonly expect: Cells;
      readonly values: Values;
    }
  | {
      /**
       * Writes the id (and values) into a row without one that shows exactly `expect` in all mapped columns. A row that has
       * the id by now gets the values while it shows `expect`; showing anything else it is `row.changed`, or `done` when
       * `isRepeated`: an earlier attempt may have written it, and a person edited it since.
       */
      readonly kind: 'link';
      readonly leadId: string;
      readonly expect: Cells;
      readonly values: Values;
      readonly isRepeated?: boolean;
      /** For the status column, where it is writable. */
      readonly status?: string;
    }
  | {
      /**
       * Writes the status column, only where it differs, and nothing else. With an id: the first row that has it, or
       * with `copies` all further ones. Without: a row without id that shows exactly `expect` in all mapped columns and
       * `shown` in the status column. `done` also when there is no such row or no status column; `held` when the cell
       * is not writable.
       */
      readonly kind: 'status';
      readonly leadId: string | null;
      readonly copies?: boolean;
      readonly expect: Cells;
      readonly shown: string;
      readonly text: string;
    }
  | {
      readonly kind: 'mark';
      readonly leadId: string;
      readonly expect: Cells;
      readonly text: string;
    }
  | {
      /**
       * Removes the row. If people put content into columns of their own, only the mapped columns, the id and the
       * status are emptied; with `bare` nothing is (`row.has-own-cells`).
       */
      readonly kind: 'remove';
      readonly leadId: string;
      readonly expect: Cells;
      readonly bare?: boolean;
    }
  | {
      /**
       * Removes the id and writes the values: the row then has no lead. `again`: a lead is to be created from it, so
       * where people must request that (HubSpot), it is requested.
       */
      readonly kind: 'unlink';
      readonly again?: boolean;
      readonly leadId: string;
      readonly expect: Cells;
      readonly values: Values;
    }
);

/**
 * The result of one change. `done` also when the row already showed the new values: interrupted writes can be repeated.
 * `deferred`: the row is not what the plan saw; the next run tries again (`row.changed`, `row.paused`, `row.gone`, `row.exists`,
 * `row.duplicated`, `target.column-missing`, `target.full`: no room for a new row). `held`: the change can never be written (`target.value-not-storable`,
 * `target.no-status-column`), or not there (`target.cell-not-writable`: a formula, merged cells; `row.has-own-cells`;
 * `row.archived`: a person deleted it, and it can be restored).
 */
export type RowOutcome = { readonly key: string } & (
  | {
      readonly status: 'done';
      /** The position of a new row, if known. */
      readonly row?: number;
    }
  | {
      readonly status: 'deferred' | 'held';
      readonly code: string;
      readonly message: string;
    }
);

/** A file beside the target that looks like another version of it. */
export interface CopyBeside {
  readonly name: string;
  /** Epoch ms. */
  readonly changedAt: number;
}

/**
 * What tells a state of the content from any other. `from`: it is made of all of the content; or the server says it, at once or,
 * `late`, some minutes after a change.
 */
export interface ContentTag {
  readonly contentTag: string;
  /** As `Target.version`. Absent: no tag comes back after another. */
  readonly version?: string;
  readonly from: 'content' | 'server' | 'late';
}

/** Takes what a batch of rows shows of other rows, any number of times while they are read. */
export type OnAsides = (asides: readonly Aside[]) => void;

export interface Place {
  /** Its identity, in one spelling that cannot be typed; begins with the kind. */
  readonly id: string;
  /** Its identity while it is missing, where that differs. */
  readonly idWhileMissing?: string;
  /** Its display name; another place may have it later. */
  readonly address: string;
  /** Whether the file, tab or table exists; a missing one is known only by its address. */
  readonly isThere: boolean;
}

/**
 * Our text that travels with the content. Written only together with rows: atomically or, where that is impossible,
 * after them. A write never fails because of it; `arrived` is called when it is stored.
 */
export interface MarkToWrite {
  readonly text: string;
  readonly arrived: () => void;
}

/**
 * A spreadsheet, CRM or table. Faults are thrown as LeadsyncError:
 *
 * | code | retry | when |
 * |---|---|---|
 * | target.busy | later | a person has it open (an editor's lock file), another writer holds our lock, or a record is locked |
 * | target.changed | now | somebody wrote while we read or wrote; nothing was written |
 * | target.incomplete | later | the file ends in the middle of a row: it is still being written, or truncated |
 * | target.emptied | later | it exists, but is completely empty (`wasFilled`) |
 * | target.gone | never | it is missing, though rows of it are known (`wasFilled`) |
 * | target.tab-renamed | never | the sheet was renamed (the message names the title) |
 * | target.copied | never | a copy of a file that is already synced |
 * | target.header-missing | never | no heading of the mapping is in the first row |
 * | target.id-column-missing | never | headings are there but the id column is not, or it is duplicated |
 * | target.pause-column-missing | never | the column of `pauseColumn` is missing, or it is duplicated |
 * | target.unreadable | never | broken or foreign file: what is wrong and where |
 * | target.not-writable | never | read-only folder or file, missing folder |
 * | target.hard-linked | never | the file has another name, which would be parted from it |
 * | target.disk-full | later | no space; the old file is untouched |
 * | target.io | later | any other fault of the system |
 * | target.rate-limited | later | the service asks to wait, or would; nothing was sent or done |
 * | target.unavailable | now, later | no usable reply; a write may have taken effect |
 * | target.unauthenticated, target.forbidden | never | the key is not accepted, or not for this; whom to give access |
 * | target.not-found, target.trashed | never | the file does not exist, or lies in the trash |
 * | target.refused | never | the service cannot or will not do it |
 * | target.bad-url | never | the address of the service cannot be used |
 * | target.closed | never | the object was disposed |
 * | target.full | never | the service holds no more rows |
 * | target.too-large | never | more than fits in memory at once |
 */
export interface Target {
  /** For messages: a path, a sheet's name. */
  readonly name: string;
  /** The best number of changes per `write` now. */
  readonly batchSize: number;
  /** Requests to the target so far (for a file: reads and writes). */
  readonly requests: number;
  /**
   * Creates a missing target with headings (unless `create` is false: then it reads as empty). With a `purpose`, may
   * continue from what a failed call with the same one read; without, reads everything. `wasFilled`: rows of it are
   * known, so a missing (`target.gone`) or completely empty one is refused. `elsewhere`: another place is synced so
   * far; this is not another name of it. `newFields`: mapped fields that never had a column; with `create` each gets
   * one at the end where it is missing. `onAsides`: gets, before the rows of a batch, the ids and records that stand in
   * other cells, also of columns that are not mapped; a CRM or a database, whose rows cannot run into one another, has none.
   */
  open(
    options: {
      readonly create: boolean;
      readonly purpose?: string;
      readonly newFields?: readonly string[];
      readonly wasFilled?: boolean;
      readonly elsewhere?: boolean;
      readonly onAsides?: OnAsides;
    },
    signal: AbortSignal,
  ): Promise<TargetSnapshot>;
  /** The current place; null: unknown. Throws as `open` does. */
  place?(signal: AbortSignal): Promise<Place | null>;
  /**
   * Whether a place that a target of this kind once had no longer exists, or now leads to this target's place. False:
   * unknown. Throws as `open` does.
   */
  isLeft?(place: Pick<Place, 'id' | 'address'>, signal: AbortSignal): Promise<boolean>;
  /** What programs that sync files put beside it when two people edited it, the last changed first. Absent: never known. */
  conflictCopies?(signal: AbortSignal): Promise<readonly CopyBeside[]>;
  /** A text that differs after each change by anybody; null: none. Throws as `open` does. Absent: only reading tells. */
  version?(signal: AbortSignal): Promise<string | null>;
  /**
   * A text that two states share only when reading them gives the same; null: none. Throws as `open` does. Absent: it costs as
   * much as reading.
   */
  contentTag?(signal: AbortSignal): Promise<ContentTag | null>;
  /** Who changed what these cells show, one answer per cell; null: unknown, or this account. Throws as `open` does. Absent: never known. */
  authors?(cells: readonly ShownCell[], signal: AbortSignal): Promise<readonly (Author | null)[]>;
  /** Why its cells cannot take a text, as a sentence; null: they can. Throws as `open` does. Absent: only a write tells. */
  notStorable?(signal: AbortSignal): Promise<(text: string) => string | null>;
  /** Applies all changes or none; one outcome per change, in order. */
  write(
    changes: readonly RowChange[],
    signal: AbortSignal,
    mark?: MarkToWrite,
  ): Promise<readonly RowOutcome[]>;
  /**
   * How many changes our writes have made since the rows were last read, or `contentTag` was asked for, if nobody else has written since
   * and all of them stand as written; else 0. Those of the status alone do not count. Throws as `open` does. Absent: only reading tells.
   */
  standingWrites?(signal: AbortSignal): Promise<number>;
  /** Whom to share the target with, for `leadsync check`; null: the account has no address. Absent: not needed. Throws when there is no account. */
  address?(): Promise<string | null>;
  /**
   * For `leadsync check`, where no snapshot tells (`mayWrite`): throws when the target cannot be written, without writing it.
   * Returns what to know about how it is written, as a sentence, or an empty text.
   */
  assertWritable?(signal: AbortSignal): Promise<string>;
  /**
   * For `leadsync check --fix`: makes a copied target (`target.copied`) a target of its own. Returns whether anything
   * was done. Throws as `open` does. Absent: never needed.
   */
  fix?(signal: AbortSignal): Promise<boolean>;
}
