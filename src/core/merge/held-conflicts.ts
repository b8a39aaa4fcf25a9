import type { Cell, Cells, Values } from '../lead/value.ts';
import type { ActionKind, PlannedAction } from './action.ts';

export interface HeldRecords {
  readonly lead: Cells | null;
  readonly row: Cells | null;
}

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

/** The answers that a person gives to what waits, each with what it says. */
export const answers = {
  lead: "the lead's value is right (of a record: a row is made of it)",
  row: "the row's value is right (of a record: a lead is made of it)",
  requested: 'a requested edit is carried out (lead: it is given up)',
  link: 'the row and the lead are one',
  apart: 'they are two',
  restore: 'what has gone is written again: a row, a lead, the entries of a calendar',
  deleted: 'it was deleted on purpose (of a row or a lead: the other side is deleted too)',
} as const;

export type Answer = keyof typeof answers;

/** Why a delete waits for a person, by the side that lacks the record. */
export const deleteQuestions = { row: 'row.deleted', lead: 'lead.deleted' } as const;

/** The answers to such a question. */
export type DeleteAnswer = 'restore' | 'deleted';

/** What carries them out. */
export const kindsOfAnswer: Readonly<Record<DeleteAnswer, readonly ActionKind[]>> = {
  restore: ['create-row', 'unlink'],
  deleted: ['delete-lead', 'remove-row', 'forget'],
};

export function isDeleteAnswer(answer: string | null): answer is DeleteAnswer {
  return answer === 'restore' || answer === 'deleted';
}

export function isDeleteQuestion(code: string): boolean {
  return Object.values<string>(deleteQuestions).includes(code);
}
