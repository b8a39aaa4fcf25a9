import type { Field } from './tokens.ts';
import type { Side } from './words.ts';

/** What somebody typed into one field. */
export interface Edit {
  readonly night: number;
  readonly side: Side;
  readonly entity: string;
  readonly field: Field;
  /** As it was typed. */
  readonly value: string;
  /** While no process lived. */
  readonly byDay: boolean;
  /** Between a look and its write, where it may be written over; or into a row of which nobody can tell whose it is. */
  readonly inGap: boolean;
}
