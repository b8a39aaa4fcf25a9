import { addressKey, emailAddresses } from '../../core/lead/email-address.ts';
import type { Cell, Cells } from '../../core/lead/value.ts';
import type { ReminderRules } from '../../config/config.ts';
import { recipientTimeZone } from '../../config/recipients.ts';
import { dueFor, sendTime } from './send-time.ts';

/** The stage of a lead (API reference, section 2). */
export const stageField = 'stage';

type Addressing = Pick<ReminderRules, 'to' | 'routes' | 'toField'>;
type Stages = Pick<ReminderRules, 'skipStages' | 'onlyStages'>;

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

export function isStageWanted(cells: Cells, { skipStages, onlyStages }: Stages): boolean {
  const stage = cells[stageField];
  if (isOneOf(stage, skipStages)) return false;
  return onlyStages === null || isOneOf(stage, onlyStages);
}

function isOneOf(cell: Cell | undefined, values: readonly string[]): boolean {
  const text = textOf(cell);
  return text !== null && values.some((value) => folded(value) === folded(text));
}

function folded(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}

function textOf(cell: Cell | undefined): string | null {
  return typeof cell === 'string' ? cell.trim() : null;
}

export interface FollowUp {
  readonly leadId: string;
  /** Epoch ms. */
  readonly dueAt: number;
  readonly cells: Cells;
}

/** A mail owed for a follow-up. With connection, lead and due moment it is the reminder's key. */
export interface WantedReminder {
  readonly offsetText: string;
  /** Epoch ms. */
  readonly sendAt: number;
  readonly recipient: string;
}

interface Wanted {
  readonly recipients: readonly string[];
  readonly reminders: readonly WantedReminder[];
}

/**
 * The mails for a follow-up, by each recipient's own clock. Of two that the rules move to one moment, or past each other, only the one nearer
 * to the due moment stays.
 */
export function wantedReminders(followUp: FollowUp, rules: ReminderRules): Wanted {
  if (!isStageWanted(followUp.cells, rules)) return { recipients: [], reminders: [] };
  const recipients = recipientsOf(followUp.cells, rules);
  const inZones = Map.groupBy(recipients, (recipient) => recipientTimeZone(rules, recipient));
  const reminders = [...inZones].flatMap(([timeZone, people]) =>
    mailTimes(followUp.dueAt, { ...rules, timeZone }).flatMap((mail) =>
      people.map((recipient) => ({ ...mail, recipient })),
    ),
  );
  return { recipients, reminders: reminders.toSorted((a, b) => a.sendAt - b.sendAt) };
}

function mailTimes(dueAt: number, rules: ReminderRules): readonly Omit<WantedReminder, 'recipient'>[] {
  const due = dueFor(dueAt, rules);
  const times: Omit<WantedReminder, 'recipient'>[] = [];
  const fromLatest = rules.before.toSorted((a, b) => a.days - b.days || a.ms - b.ms);
  for (const offset of fromLatest) {
    const sendAt = sendTime(due.at, offset, rules);
    const nearer = times.at(-1);
    if (nearer === undefined || sendAt < nearer.sendAt) times.push({ offsetText: offset.text, sendAt });
  }
  return times.toReversed();
}
