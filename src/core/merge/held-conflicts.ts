import type { Cell, Cells, Values } from '../lead/value.ts';
import type { PlannedAction } from './action.ts';
import { deleteQuestions, isDeleteQuestion } from './answers.ts';
import type { HeldRecords } from './difference.ts';

/** What stays as it is on both sides until a person decides or the sides change. */
export interface NewConflict {
  readonly leadId: string | null;
  /** Of a row without id. */
  readonly contentHash?: string;
  /** What a row without id shows. */
  readonly cells?: Cells;
  /** Absent: the whole record, as are the values. */
  readonly field?: string;
  readonly row: number | null;
  readonly code: string;
  readonly message: string;
  readonly base?: Cell | undefined;
  /** Of a delete. */
  readonly records?: HeldRecords;
  readonly lead?: Cell;
  readonly rowValue?: Cell;
}

/** What the holds of one plan keep for people. */
export class HeldConflicts {
  /** How many rows without id have a key so far. */
  readonly #alike = new Map<string, number>();

  /**
   * Of the next hold each field, or the whole record. `names`: how its company may be called besides, the likeliest first; `was`:
   * what both sides agreed on.
   */
  of(
    hold: PlannedAction,
    names: readonly (Cell | undefined)[] = [],
    was: Values | null = null,
  ): readonly NewConflict[] {
    const { leadId, row, reason, changes, expect } = hold;
    const companyName = [expect['companyName'], ...names].find((name) => typeof name === 'string') ?? null;
    const held = { leadId, row, code: reason, message: hold.message ?? reason, cells: { companyName } };
    const fields = Object.entries(changes);
    if (isDeleteQuestion(reason)) {
      const isRow = reason === deleteQuestions.row;
      return [{ ...held, records: { lead: isRow ? expect : was, row: isRow ? was : expect } }];
    }
    if (fields.length === 0) return [{ ...held, contentHash: this.#keyOf(hold, '') }];
    return fields.map(([field, { base, from, to }]) => {
      return { ...held, contentHash: this.#keyOf(hold, field), field, base, lead: from, rowValue: to };
    });
  }

  /** Rows without id that are alike share a key: the further ones get a number, so that each is listed. */
  #keyOf({ leadId, contentHash }: PlannedAction, field: string): string {
    if (leadId !== null) return contentHash;
    const key = JSON.stringify([contentHash, field]);
    const nth = (this.#alike.get(key) ?? 0) + 1;
    this.#alike.set(key, nth);
    return nth === 1 ? contentHash : `${contentHash}#${nth}`;
  }
}
