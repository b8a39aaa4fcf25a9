import { pino } from 'pino';
import { planReminders } from '../../src/reminders/plan/plan-reminders.ts';
import { CircuitBreakers } from '../../src/reminders/send/circuit-breakers.ts';
import type { ReminderRules } from '../../src/config/config.ts';
import { sendReminder, type ReminderContext } from '../../src/reminders/send/send-reminder.ts';
import type { Reminder, ReminderState } from '../../src/store/mails.ts';
import { connectionName, type Workspace } from './workspace.ts';

const never = new AbortController().signal;

interface Told {
  readonly level: number;
  readonly code?: string;
  readonly msg: string;
}

/** A synced connection whose reminders are sent by hand, on a clock that the test moves. */
export async function reminderScene(workspace: Workspace) {
  await using stack = new AsyncDisposableStack();
  const app = stack.use(await workspace.openApp());
  const context = app.contexts.get(connectionName);
  const templates = await app.templates.get(connectionName)?.();
  if (context === undefined || templates === undefined) throw new Error('the connection is not configured');
  const log: Told[] = [];
  const added: Reminder[] = [];
  let ahead = 0;
  /** Ms that have passed for the sending and not yet for what is noted of mails. */
  let toAge = 0;
  let sending: ReminderContext = {
    ...context,
    configured: app.config.configured.map(({ name }) => name),
    templates,
    mailer: app.mailer,
    ledger: app.ledger,
    waits: app.waits,
    breakers: new CircuitBreakers(),
    addJobs: async (reminders) => void added.push(...reminders),
    log: pino({ level: 'warn' }, { write: (line: string) => log.push(JSON.parse(line) as Told) }),
    clock: { now: () => Date.now() + ahead, random: () => 0.5 },
  };
  const { pool } = app;
  const age = async (): Promise<void> => {
    const ms = toAge;
    toAge = 0;
    await pool.query(
      `update mails set updated_at = updated_at - $1 * interval '1 ms' where state = 'sending'`,
      [ms],
    );
  };
  const owned = stack.move();
  return {
    app,
    pool,
    sending: () => sending,
    /** Other rules from now on, for the sending alone. */
    setRules: (rules: Partial<ReminderRules>) => {
      const { connection } = sending;
      if (connection.reminders === undefined) throw new Error('there are no reminders');
      const reminders = { ...connection.reminders, rules: { ...connection.reminders.rules, ...rules } };
      sending = { ...sending, connection: { ...connection, reminders } };
    },
    /** What got a job of its own. */
    added,
    /** What was logged from `warn` on. */
    log,
    /** Plans, and returns what is due within two hours, soonest first. */
    plan: () => planReminders(pool, context.connection),
    /** Sends one by its id, as its job does. */
    send: async (id: number, requestedAt = 0) => {
      await age();
      const { rows } = await pool.query<{ round: number }>(`select round from mails where id = $1`, [id]);
      return sendReminder(sending, { reminderId: id, round: rows[0]?.round ?? 0, requestedAt }, never);
    },
    /** Time passes, for the sending alone. */
    pass: (ms: number) => {
      ahead += ms;
      toAge += ms;
    },
    age,
    states: async () => {
      const { rows } = await pool.query<{ state: ReminderState; note: string | null; attempts: number }>(
        `select state, note, attempts from mails where kind <> 'digest' order by send_at, id`,
      );
      return rows;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
