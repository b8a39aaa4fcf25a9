/** What there is to say about a row that the run has done with. */
export interface RowFacts {
  /** An earlier row has its id. */
  readonly isCopy: boolean;
  /** What is held; an empty field: the whole record. */
  readonly held: readonly HeldFact[];
  /** The code of what was left to the next run. */
  readonly waiting: string | null;
  /** Whether the service listed its lead. */
  readonly isListed: boolean;
  /** The day on which the deletion of its lead was carried out. */
  readonly deletedOn: string | null;
  /** What its status cell shows. */
  readonly shown: string;
}

export interface HeldFact {
  readonly field: string;
  readonly code: string;
}

export const inStep = 'in step';

/** What the status column says of a deleted lead; `day` as 2026-11-21 (UTC). */
export function deletedText(day: string): string {
  return `deleted ${day}`;
}

/**
 * How a row stands, for the people who work in it; null when it is to be left as it is. The same facts make the same
 * text: it names no time and nothing that moves by itself. `headings`: those of the mapped fields, in their order.
 */
export function rowStatus(facts: RowFacts, headings: ReadonlyMap<string, string>): string | null {
  if (facts.isCopy) return heldText([{ field: '', code: 'row.duplicate-id' }], headings);
  if (facts.held.length > 0) return heldText(facts.held, headings);
  if (facts.waiting !== null)
    return `waiting: ${waitingReasons[facts.waiting] ?? 'the next sync tries again'}`;
  if (facts.deletedOn !== null) {
    // Where an undo or a person has taken the mark out, it is not written again.
    return facts.shown === '' ? null : deletedText(facts.deletedOn);
  }
  return facts.isListed ? inStep : `waiting: ${notListed}`;
}

/** What is held: of the whole record first, else the first field in the order of the mapping and how many more. */
function heldText(held: readonly HeldFact[], headings: ReadonlyMap<string, string>): string {
  const order = [...headings.keys()];
  const [first] = held.toSorted((a, b) => order.indexOf(a.field) - order.indexOf(b.field));
  if (first === undefined) return inStep;
  const ofRecord = recordReasons[first.code];
  if (ofRecord !== undefined) return `held: ${ofRecord}`;
  // A new row is held as a whole for want of a name.
  const field = first.code === 'row.company-name-empty' ? 'companyName' : first.field;
  const heading = (headings.get(field) ?? field).replaceAll(/\s+/g, ' ').trim();
  const reason = fieldReasons[first.code]?.(heading) ?? 'a person has to look at it (leadsync conflicts)';
  return `held: ${reason}${held.length > 1 ? ` (and ${held.length - 1} more)` : ''}`;
}

const fieldReasons: Readonly<Record<string, (heading: string) => string>> = {
  'conflict.both-edited': (heading) => `${heading} was changed here and in the service`,
  'conflict.first-sight': (heading) => `${heading} is another one in the service`,
  'row.unreadable': (heading) => `${heading} cannot be understood`,
  'lead.unreadable': (heading) => `${heading} cannot be understood as it is in the service`,
  'row.company-name-empty': (heading) => `${heading} is empty`,
  'lead.field-refused': (heading) => `the service does not take this ${heading}`,
  'row.put-back': (heading) => `${heading} shows an earlier value again`,
  'lead.put-back': (heading) => `${heading} shows an earlier value again in the service`,
};

const recordReasons: Readonly<Record<string, string>> = {
  'conflict.edit-meets-delete': 'the lead was deleted, but this row was changed',
  'row.orphan': 'no lead has this id',
  'row.duplicate-id': 'this id stands in an earlier row',
  'row.id-lost': 'its id is gone; it may be the row of a lead',
  'match.proposed': 'it may be a lead that is there already (leadsync match)',
  'match.ambiguous': 'it may be one of several leads (leadsync match)',
  'row.id-moved': 'it shows what another lead shows',
  'row.id-closed': 'no id can be written into this row',
  'row.id-unreadable': 'its id cannot be read',
  'row.without-id': 'new rows do not become leads here',
  'lead.create-refused': 'the service does not take this row as a lead',
  'row.undone': 'an undo took the lead of this row away',
  'create.in-doubt': 'could not tell which lead was created from this row',
  'leads.forbidden': 'leadsync is not allowed to change this in the service',
  'target.value-not-storable': 'a value of the lead does not fit into this table',
  'target.cell-not-writable': 'a cell of this row cannot be written to',
};

const notListed = 'the service does not list this lead';
const changedMeanwhile = 'it was changed during the sync';
const noAnswer = 'the service did not answer';

const waitingReasons: Readonly<Record<string, string>> = {
  'create.in-doubt': 'a lead is being made of this row',
  'lead.changed': 'the lead was changed during the sync',
  'lead.gone': notListed,
  'lead.still-there': notListed,
  'leads.rejected': 'the service did not take the change',
  'leads.too-large': noAnswer,
  'leads.unavailable': noAnswer,
  'leads.unreachable': noAnswer,
  'leads.not-json': noAnswer,
  'row.changed': changedMeanwhile,
  'row.gone': changedMeanwhile,
  'row.exists': changedMeanwhile,
  'row.duplicated': changedMeanwhile,
  'target.column-missing': 'a column is missing or there twice',
};
