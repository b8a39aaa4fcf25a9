import type pg from 'pg';
import type { ConnectionConfig } from '../../src/config/config.ts';
import type { Random } from '../../src/demo/random.ts';
import type { Target } from '../../src/ports/target.ts';
import type { Customs } from './customs.ts';
import type { Elsewhere } from './elsewhere.ts';
import type { Life } from './life.ts';
import type { Table } from './table.ts';

/**
 * How close to a write a person acts: `gap`, between a look and the write that was decided by it; `hasty`, before anybody
 * has seen what was written; `storing`, as a file is about to be stored, when its condition alone still keeps what somebody
 * saves; null, none of these. `isMoved`: rows or columns were moved since the write began.
 */
export interface Moment {
  readonly kind: 'gap' | 'hasty' | 'storing' | null;
  readonly isMoved: boolean;
}

/** A table that a service keeps, in which people work at any time: also between two requests of one operation. */
export interface OnlineTable extends AsyncDisposable {
  readonly table: Table;
  /** As it is set just now. */
  readonly config: ConnectionConfig['target'];
  /** Where the file lies that a server shows; absent: it is no file. */
  readonly file?: string;
  /** While a request is about to be carried out: what a person comes between. */
  readonly now: Moment | null;
  /** Unique values that were typed where they may have been written over without being seen: a limit. */
  readonly typed: ReadonlySet<string>;
  /** The target as one process has it, with quotas of its own; `pool`: of the database that all have. */
  target(
    life: Life,
    connection: Pick<ConnectionConfig, 'name' | 'fields'>,
    pool: pg.Pool,
  ): Target | Promise<Target>;
  /** Chooses what goes wrong with requests from now on; gives what is to be told of it, null: nothing goes wrong. */
  fail(random: Random): string | null;
  /** Nothing goes wrong any more. */
  recover(): void;
  /** Another one becomes the table; null: it cannot, or not now. Absent: of its kind there is but one. */
  switchAway?(random: Random): Elsewhere | null;
  /** It is away for a while; null: there is none yet. Absent: it cannot be. */
  hide?(random: Random): Elsewhere | null;
  /** What people also do there, or do not. */
  habits(customs: Customs): Customs;
  /** What somebody can do there in the tenths of a second between two requests: one thing. */
  atOnce(customs: Customs, moment: Moment): Customs;
}
