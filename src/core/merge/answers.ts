/** The answers that a person gives to what waits, each with what it says. */
export const answers = {
  lead: "the lead's value is right (of a record: a row is made of it)",
  row: "the row's value is right (of a record: a lead is made of it)",
  requested: 'a requested edit is carried out (lead: it is given up)',
  link: 'the row and the lead are one',
  apart: 'they are two',
  restore: 'the entries that have gone from a calendar are written again',
  deleted: 'they were deleted on purpose',
} as const;

export type Answer = keyof typeof answers;
