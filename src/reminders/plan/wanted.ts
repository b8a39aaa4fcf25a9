import type { ReminderRules } from '../../config/config.ts';
import type { Cells } from '../../core/lead/value.ts';
import { isStageWanted, recipientsOf } from './recipients.ts';
import { sendTime } from './send-time.ts';

/** A lead's follow-up by its baseline. */
export interface FollowUp {
  readonly leadId: string;
  /** Epoch ms. */
  readonly dueAt: number;
  /** The mapped fields' baselines. */
  readonly cells: Cells;
}

/** A mail owed for a follow-up. With connection, lead and due moment it is the reminder's key. */
export interface WantedReminder {
  readonly offsetText: string;
  /** Epoch ms. */
  readonly sendAt: number;
  readonly recipient: string;
}

/** The recipients of a follow-up (also for the digest), and the single mails. */
interface Wanted {
  readonly recipients: readonly string[];
  readonly reminders: readonly WantedReminder[];
}

/**
 * The mails for a follow-up; none for unwanted stages. Of two mails that the rules move to one moment, such as the end of
 * the quiet hours, only the one nearer to the due moment stays: both would say the same.
 */
export function wantedReminders(followUp: FollowUp, rules: ReminderRules): Wanted {
  if (!isStageWanted(followUp.cells, rules)) return { recipients: [], reminders: [] };
  const recipients = recipientsOf(followUp.cells, rules);
  const times = new Map<number, string>();
  const fromLatest = rules.before.toSorted((a, b) => a.days - b.days || a.ms - b.ms);
  for (const offset of fromLatest) {
    const sendAt = sendTime(followUp.dueAt, offset, rules);
    if (!times.has(sendAt)) times.set(sendAt, offset.text);
  }
  const mails = [...times].toSorted(([a], [b]) => a - b);
  return {
    recipients,
    reminders: mails.flatMap(([sendAt, offsetText]) =>
      recipients.map((recipient) => ({ offsetText, sendAt, recipient })),
    ),
  };
}
