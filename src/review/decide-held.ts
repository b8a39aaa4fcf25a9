import type pg from 'pg';
import { LeadsyncError } from '../lib/errors.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import { type Answer, deleteQuestions } from '../core/merge/holds.ts';
import { isUnreadable } from '../core/lead/value.ts';
import { answerEmptied } from '../store/calendar-entries.ts';
import { decideConflict, type Decision as Recorded } from '../store/conflicts.ts';
import { transaction } from '../store/database.ts';
import { acceptedBeside, decideMatch, type HeldItem, type Holder, listHeld } from '../store/held.ts';
import { decideEdit } from '../store/requested-edits.ts';

const sidesByCode: Readonly<Record<string, readonly ('lead' | 'row')[]>> = {
  'conflict.both-edited': ['lead', 'row'],
  'conflict.first-sight': ['lead', 'row'],
  'row.put-back': ['lead', 'row'],
  'lead.put-back': ['lead', 'row'],
  'row.garbled': ['lead', 'row'],
  'row.unreadable': ['lead'],
  'row.unmapped': ['lead'],
  'row.company-name-empty': ['lead'],
  'lead.field-refused': ['lead'],
  'lead.unreadable': ['row'],
  'lead.unmapped': ['row'],
  'row.undone': ['row'],
  'row.twin': ['row'],
  'lead.create-refused': ['row'],
  'lead.exists': ['row'],
  'lead.undone': ['lead'],
};

/** The answers that a person may give; none: the row or the lead has to be corrected. */
export function answersTo(item: HeldItem, fields: readonly FieldMapping[]): readonly Answer[] {
  if (item.kind === 'match') return ['link', 'apart'];
  if (item.kind === 'calendar') return ['restore', 'deleted'];
  if (item.kind === 'delete') {
    // Nothing is made again on a side to which nothing travels.
    const never = item.code === deleteQuestions.lead ? 'to-target' : 'to-leads';
    const isOneWay = fields.length > 0 && fields.every(({ direction }) => direction === never);
    return isOneWay ? ['deleted'] : ['restore', 'deleted'];
  }
  const isToTarget =
    fields.find(({ field }) => field === item.field)?.direction === 'to-target' && item.leadId !== '';
  // What cannot be read cannot be compared: nothing is written over it.
  if (item.kind === 'edit') return isToTarget || isUnreadable(item.lead) ? ['lead'] : ['lead', 'requested'];
  const sides = sidesByCode[item.code] ?? [];
  // A new row has no lead yet whose value could be taken.
  if (item.leadId === '') return sides.filter((side) => side === 'row' && item.field === '');
  return isToTarget ? sides.filter((side) => side === 'lead') : sides;
}

/** What was answered; null: nothing so far. */
export function answerOf(item: HeldItem): Answer | null {
  if (item.kind !== 'match') return item.resolution === 'target' ? 'row' : item.resolution;
  return item.state === 'accepted' ? 'link' : item.state === 'rejected' ? 'apart' : null;
}

/** What an answer makes of a record that is held as a whole. */
export function whatIsMade(use: Answer | null, code: string) {
  const [what, of] = use === 'lead' ? ['row', 'lead'] : [code === 'row.twin' ? 'second lead' : 'lead', 'row'];
  return { order: `Make a ${what} of the ${of}`, result: `a ${what} is made of the ${of}` };
}

/** What a person decided on a record as a whole, or on an edit. */
export const choiceWords: Readonly<Record<Recorded['choice'], string>> = {
  lead: 'a row is made of the lead',
  target: 'a lead is made of the row',
  accepted: 'lead and row are one',
  rejected: 'lead and row are two',
  requested: 'the edit is carried out',
  'given-up': 'the edit is given up',
  restore: 'what was deleted is written again',
  deleted: 'the other side is deleted as well',
};

interface Decision {
  readonly use: Answer;
  readonly by: string;
}

/**
 * Stores a person's answer to the item with this number: the next sync carries it out, and the worker that to a requested edit
 * or a calendar. `isSeen`: whether the person saw what is there now. Throws `usage.unknown-conflict`, `usage.not-decidable`,
 * `usage.conflict-changed` and `usage.match-taken`, and then changes nothing.
 */
export async function decide(
  pool: pg.Pool,
  holders: readonly (Holder & { readonly fields: readonly FieldMapping[] })[],
  id: string,
  { use, by }: Decision,
  isSeen: (item: HeldItem) => boolean = () => true,
): Promise<HeldItem> {
  const [item] = /^\d{1,15}$/.test(id) ? await listHeld(pool, holders, { id: Number(id) }) : [];
  const fields = holders.find(({ name }) => name === item?.connection)?.fields;
  if (item === undefined || fields === undefined)
    throw unknownItem(`nothing with the number ${id} waits for an answer`);
  const possible = answersTo(item, fields);
  // Of an edit the requested value stands in the place of the row's.
  const answer = use === 'row' && item.kind === 'edit' ? 'requested' : use;
  if (!possible.includes(answer)) throw wrongAnswer(item, use, possible);
  if (!isSeen(item) || !(await store(pool, item, answer, by)))
    throw new LeadsyncError(
      'usage.conflict-changed',
      `what waits under the number ${id} has changed meanwhile`,
      {
        help: 'Nothing was changed. Look at it again (leadsync conflicts), then decide.',
      },
    );
  return item;
}

export function unknownItem(message: string): LeadsyncError {
  return new LeadsyncError('usage.unknown-conflict', message, {
    help: 'Nothing was changed. leadsync conflicts lists all that waits.',
  });
}

function wrongAnswer(item: HeldItem, use: Answer, possible: readonly Answer[]): LeadsyncError {
  const why =
    item.kind === 'match'
      ? `row ${item.row ?? '?'} may be a lead: ${item.why}`
      : `${item.message} [${item.code}]`;
  return new LeadsyncError('usage.not-decidable', `${use} cannot be chosen for ${item.id}: ${why}`, {
    help:
      possible.length > 0
        ? `Nothing was changed. It takes --use ${possible.join(' or ')}.`
        : 'Nothing was changed. Change the row or the lead as the sentence says, then run leadsync sync.',
  });
}

/** False: it is over, or shows something else. */
function store(pool: pg.Pool, item: HeldItem, use: Answer, by: string): Promise<boolean> {
  switch (item.kind) {
    case 'calendar':
      return answerEmptied(pool, item.id, use === 'restore' ? 'restore' : 'deleted');
    case 'match':
      return transaction(pool, async (db) => {
        const other = use === 'link' ? await acceptedBeside(db, item.id) : null;
        if (other !== null) throw taken(item.id, other);
        return decideMatch(db, item, use === 'link' ? 'accepted' : 'rejected', by);
      });
    case 'edit':
      return decideEdit(pool, item, use === 'lead' ? 'lead' : 'target', by);
    case 'delete':
      return decideConflict(pool, item, use === 'restore' ? 'restore' : 'deleted', by);
    default:
      return decideConflict(pool, item, use === 'lead' ? 'lead' : 'target', by);
  }
}

function taken(id: number, other: number): LeadsyncError {
  const message = `${id} cannot be linked: its lead or its row is in ${other}, which is to be linked`;
  return new LeadsyncError('usage.match-taken', message, {
    help: `Nothing was changed. leadsync resolve ${other} --use apart takes that back.`,
  });
}
