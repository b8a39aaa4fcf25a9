import { fieldKinds } from '../lead/field-kinds.ts';
import { type FieldMapping, headingOf } from '../lead/mapping.ts';
import { followUpYears, isImplausible } from '../lead/follow-up.ts';
import { type Cell, type Cells, isUnreadable, plainCell, showCell, type Values } from '../lead/value.ts';
import { nearestWord } from '../lead/words.ts';
import type { HoldCode } from './merge-field.ts';
import type { PlannedAction } from './action.ts';

/** Why an undone lead or row is not created again. */
export const undoneMessages = {
  'row.undone':
    'an undo deleted the lead created from this row, so no lead is created again. Change the row, or decide for it: leadsync conflicts shows the number for leadsync resolve NUMBER --use row',
  'lead.undone':
    'an undo removed the row of this lead, so no row is written again. Change the lead, or decide for it: leadsync conflicts shows the number for leadsync resolve NUMBER --use lead',
} as const;

/** Why a field is held, as a sentence. */
export function holdMessage(
  code: HoldCode,
  mapping: Pick<FieldMapping, 'field' | 'column' | 'type' | 'words'>,
  lead: Cell,
  row: Cell,
): string {
  const heading = headingOf([mapping], mapping.field);
  const both = `the lead has ${showCell(lead)}, the row has ${showCell(row)}`;
  switch (code) {
    case 'conflict.both-edited':
      return `${heading} was edited on both sides: ${both}. Both were kept`;
    case 'conflict.first-sight':
      return `${heading} differs at the first comparison: ${both}. Both were kept`;
    case 'row.unreadable':
      return `${heading} cannot be read in the row: ${unreadableAdvice(row, mapping)}; the lead keeps ${showCell(lead)}`;
    case 'lead.unreadable':
      return `${heading} cannot be read in the lead: ${showCell(lead)}. The row keeps ${showCell(row)}`;
    case 'row.unmapped':
      return `${heading}: ${unreadableAdvice(row, mapping)}; the lead keeps ${showCell(lead)}`;
    case 'lead.unmapped':
      return `${heading}: ${unmapped('lead', lead, mapping)}. The row keeps ${showCell(row)}`;
    case 'row.company-name-empty':
      return `${heading} was emptied in the row; leads without a name are not sent. The lead keeps ${showCell(lead)}`;
    case 'row.garbled':
      return `${heading} shows the same in another encoding: ${both}. The file was probably opened or saved in the wrong one: save it as UTF-8, with the letters as they were. Both were kept`;
    case 'lead.field-refused':
      return `the service refused this value of ${heading}: ${both}. It is not sent again until it changes`;
    case 'row.put-back':
      return `${heading} shows an earlier value in the row: ${both}. Was it put back on purpose, or is the table an older copy? Both were kept`;
    case 'lead.put-back':
      return `${heading} shows an earlier value in the lead: ${both}. Was it put back on purpose, or was the service restored to an earlier state? Both were kept`;
  }
}

/** Why a cell of a row cannot be read, and what helps; without a full stop. */
export function unreadableAdvice(row: Cell, mapping: Pick<FieldMapping, 'field' | 'type' | 'words'>): string {
  if (isImplausible(row, mapping))
    return `${showCell(row)} is not in the years ${followUpYears.first} to ${followUpYears.last}. Type the date with its year, such as 2026-11-21`;
  switch (isUnreadable(row) ? row.why : undefined) {
    case 'formula':
      return `${showCell(row)} is a formula, and formulas are not synced. Type the value instead`;
    case 'error':
      return `the cell shows the error ${showCell(row)}. Fix it, or type the value instead`;
    case 'merged':
      return `the cell is covered by merged cells (${showCell(row)}). Unmerge them`;
    case 'shifted':
      return `the row has ${showCell(row)}, so a value may be in the wrong column. Quote values that contain the separator, or give the extra column a heading`;
    case 'skipped':
      return `${showCell(row)} does not exist: the clocks are put forward over it. Type a time before or after`;
    case 'large':
      return `the row has ${showCell(row)}. Shorten its texts`;
    case 'unmapped':
      return unmapped('row', row, mapping);
    case undefined:
      return showCell(row) + fieldKinds[mapping.type].advice(plainCell(row) ?? '');
  }
}

/** That a word has no partner, and what helps. */
function unmapped(
  side: 'lead' | 'row',
  cell: Cell,
  { field, words = [] }: Pick<FieldMapping, 'field' | 'words'>,
): string {
  const nearest = nearestWord(plainCell(cell) ?? '', words, side);
  const add = `add the word to values of ${field} in leadsync.yaml`;
  return side === 'row'
    ? `${showCell(cell)} stands for no value of the service${nearest}. Correct the cell, or ${add}`
    : `the service has ${showCell(cell)}, for which the table has no word${nearest}. Correct the lead, or ${add}`;
}

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

export function isDeleteAnswer(answer: string | null): answer is DeleteAnswer {
  return answer === 'restore' || answer === 'deleted';
}

export function isDeleteQuestion(code: string): boolean {
  return Object.values<string>(deleteQuestions).includes(code);
}
