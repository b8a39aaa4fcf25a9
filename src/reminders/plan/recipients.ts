import { addressKey, emailAddresses } from '../../core/lead/email-address.ts';
import { type Cell, type Cells, isUnreadable } from '../../core/lead/value.ts';
import type { ReminderRules } from '../../config/config.ts';

/** The stage of a lead (API reference, section 2). */
export const stageField = 'stage';

type Addressing = Pick<ReminderRules, 'to' | 'routes' | 'toField'>;

/** Its own address column, else the first matching route, else `to`; and the chat channel. Lower case, without duplicates: one person has one key. */
export function recipientsOf(
  cells: Cells,
  rules: Addressing & Pick<ReminderRules, 'channel'>,
): readonly string[] {
  const people = new Set(addressesFor(cells, rules).map(addressKey));
  return [...people, ...(rules.channel === null ? [] : [rules.channel])];
}

/** A recipient's address (in lower case) as it is spelled for the lead or in the settings: a mail server may tell the case. */
export function spelledAddress(recipient: string, cells: Cells, rules: Addressing): string {
  const all = [...addressesFor(cells, rules), ...rules.routes.flatMap(({ to }) => to), ...rules.to];
  return all.find((address) => addressKey(address) === recipient) ?? recipient;
}

function addressesFor(cells: Cells, { to, routes, toField }: Addressing): readonly string[] {
  const own = toField === null ? [] : emailAddresses(textOf(cells[toField]) ?? '');
  if (own.length > 0) return own;
  const route = routes.find(({ when }) =>
    Object.entries(when).every(([field, values]) => isOneOf(cells[field], values)),
  );
  return route?.to ?? to;
}

export function isStageWanted(cells: Cells, { skipStages }: Pick<ReminderRules, 'skipStages'>): boolean {
  return !isOneOf(cells[stageField], skipStages);
}

function isOneOf(cell: Cell | undefined, values: readonly string[]): boolean {
  const text = textOf(cell);
  return text !== null && values.some((value) => folded(value) === folded(text));
}

function folded(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

function textOf(cell: Cell | undefined): string | null {
  // A word that the table lacks is what the service says all the same.
  const said = isUnreadable(cell) && cell.why === 'unmapped' ? cell.unreadable : cell;
  return typeof said === 'string' ? said.trim() : null;
}
