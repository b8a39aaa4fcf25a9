import { pino } from 'pino';
import { planReminders } from '../../src/reminders/plan/plan-reminders.ts';
import { CircuitBreakers } from '../../src/reminders/send/circuit-breakers.ts';
import { isChannel } from '../../src/config/chat-webhook.ts';
import type { ReminderRules } from '../../src/config/config.ts';
import type { ReminderContext } from '../../src/reminders/send/send-reminder.ts';
import { getMails, type ReminderState } from '../../src/store/mails.ts';
import { sendTaken } from '../../src/worker/send-mails.ts';
import { dueReminders } from './due-mails.ts';
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
    /** Sends the mails of another connection from now on. */
    use: async (name: string) => {
      const other = app.contexts.get(name);
      const its = await app.templates.get(name)?.();
      if (other === undefined || its === undefined) throw new Error(`${name} is not configured`);
      const { log: told, clock } = sending;
      sending = { ...sending, ...other, log: told, clock, templates: its };
    },
    /** What was logged from `warn` on. */
    log,
    /** What is due within two hours, soonest first. */
    due: () => dueReminders(pool, [connectionName]),
    /** Plans, and returns what is due within two hours, soonest first. */
    plan: async () => {
      await planReminders(pool, context.connection);
      return dueReminders(pool, [connectionName]);
    },
    /** Takes one up by its id and sends it; `waits`: nobody may take it up now. `takenAt`: when it was for the first time. */
    send: async (id: number, takenAt = 0, configured = app.config.configured) => {
      await age();
      const [before] = await getMails(pool, [id]);
      if (before === undefined) throw new Error('there is no such mail');
      const { connection, recipient, sendAt } = before;
      // By the clock of the test it may be due before it is by the database's.
      const set = (sendTime: number, others: string) =>
        pool.query(
          `update mails set try_at = case when id <> $1 then $3::timestamptz end,
             send_at = case when id = $1 then $2 else send_at end`,
          [id, new Date(sendTime), others],
        );
      await set(sendAt <= sending.clock.now() ? Math.min(sendAt, Date.now() - 1) : sendAt, 'infinity');
      const work = { connection, isChat: isChannel(recipient) };
      const [taken] = (await sending.ledger.take(work, sending.waits, 1)) ?? [];
      await set(sendAt, '-infinity');
      if (taken === undefined) {
        const { state } = before;
        return state === 'scheduled' || state === 'sending' ? 'waits' : { state };
      }
      const { background } = taken;
      const mail = { ...taken.mail, sendAt, takenAt };
      const outcome = await sendTaken(sending, { ...app.config, configured }, { mail, background }, never);
      if (!('againAfterMs' in outcome)) return { state: outcome.state };
      const { againAfterMs, isOfServer, isOfSender } = outcome;
      return { againAfterMs, ...(isOfServer && { isOfServer }), ...(isOfSender && { isOfSender }) };
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
