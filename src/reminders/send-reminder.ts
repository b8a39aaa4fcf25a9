import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { LeadsyncError } from '../errors.ts';
import { leadCells } from '../lead/lead.ts';
import { getReminder, type ReminderState, setReminderState } from '../store/reminders.ts';
import type { LeadsPort } from '../sync/leads-port.ts';
import { composeReminder } from './compose-reminder.ts';
import type { Mailer } from './mail.ts';
import { followUpField } from './plan-reminders.ts';
import type { Templates } from './templates.ts';

export interface ReminderContext {
  readonly connection: ConnectionConfig;
  readonly pool: pg.Pool;
  readonly leads: LeadsPort;
  readonly mailer: Mailer;
  readonly templates: Templates;
}

/**
 * Sends one reminder that is due. The lead is read again first: when its follow-up moved, was cleared, or the lead is
 * gone, the reminder is cancelled. `sending` is committed before the mail leaves; a mail whose fate is unknown is sent
 * again with the same Message-ID. Faults of the service or of the mail server are thrown.
 */
export async function sendReminder(
  context: ReminderContext,
  id: number,
  signal: AbortSignal,
): Promise<ReminderState> {
  const { pool, connection } = context;
  const reminder = await getReminder(pool, id);
  const settings = connection.reminders;
  if (reminder === null || settings === undefined) return 'cancelled';
  if (reminder.state !== 'scheduled' && reminder.state !== 'sending') return reminder.state;

  const lead = await context.leads.get(reminder.leadId, signal);
  const due = lead && leadCells(lead, connection.fields)[followUpField];
  if (lead === null || due !== new Date(reminder.dueAt).toISOString()) {
    await setReminderState(pool, id, 'cancelled', 'the follow-up was moved, cleared or deleted');
    return 'cancelled';
  }
  await setReminderState(pool, id, 'sending');
  const cells = leadCells(lead, connection.fields);
  const composed = composeReminder({
    lead: { id: lead.id, cells },
    fields: connection.fields,
    dueAt: reminder.dueAt,
    offsetText: reminder.offsetText,
    timeZone: settings.rules.timeZone,
    now: Date.now(),
    changes: [],
    row: { target: connection.target.path, row: null },
    leadUrl: settings.leadUrl,
    note: null,
    templates: context.templates,
  });
  const key = [reminder.connection, reminder.leadId, reminder.dueAt, reminder.recipient].join('|');
  try {
    const note = await context.mailer.send({
      key,
      from: settings.from,
      to: reminder.recipient,
      ...composed,
      thread: [reminder.connection, reminder.leadId].join('|'),
      date: reminder.dueAt,
    });
    await setReminderState(pool, id, 'sent', note);
    return 'sent';
  } catch (error) {
    if (error instanceof LeadsyncError && error.code === 'mail.refused') {
      await setReminderState(pool, id, 'failed', error.message);
      return 'failed';
    }
    throw error;
  }
}
