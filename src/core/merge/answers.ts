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
