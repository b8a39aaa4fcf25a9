import type { ReminderRules } from '../../config/config.ts';
import { recipientTimeZone } from '../../config/recipients.ts';
import type { Cells } from '../../core/lead/value.ts';
import { dueFor, sendTime } from './send-time.ts';
import { isStageWanted, recipientsOf } from './recipients.ts';

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
