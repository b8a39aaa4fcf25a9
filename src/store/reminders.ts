import type pg from 'pg';

type Queryable = pg.Pool | pg.PoolClient;

export type ReminderState = 'scheduled' | 'sending' | 'sent' | 'cancelled' | 'missed' | 'failed';

/** One mail that is owed to one recipient because a lead's follow-up is due. Times are epoch ms. */
export interface Reminder {
  readonly id: number;
  readonly connection: string;
  readonly leadId: string;
  readonly dueAt: number;
  readonly recipient: string;
  readonly state: ReminderState;
}

const columns = `id, connection, lead_id as "leadId", (extract(epoch from due_at) * 1000)::float8 as "dueAt", recipient, state`;

/**
 * Brings the reminders of a connection in line with the follow-ups that both sides agree on: schedules what is new,
 * cancels what was moved or cleared. A follow-up that lies further back than `graceMs` is noted as missed, not mailed.
 * Returns the reminders that are scheduled for the next `horizonMs`; later ones are asked for in time.
 */
export async function reconcileReminders(
  db: Queryable,
  connection: string,
  field: string,
  recipients: readonly string[],
  graceMs: number,
  horizonMs: number,
): Promise<readonly Reminder[]> {
  const wanted = `select p.lead_id, (p.base->>$2)::timestamptz as due_at, r as recipient
    from pairs p, unnest($3::text[]) r
    where p.connection = $1 and p.lead_deleted_at is null and p.base->>$2 ~ '^\\d{4}-'`;
  await db.query(
    `update reminders m set state = 'cancelled', note = 'the follow-up was moved, cleared or deleted', updated_at = now()
     where m.connection = $1 and m.state = 'scheduled' and not exists (
       select from (${wanted}) w where w.lead_id = m.lead_id and w.due_at = m.due_at and w.recipient = m.recipient)`,
    [connection, field, recipients],
  );
  await db.query(
    `insert into reminders (connection, lead_id, due_at, recipient, state)
     select $1, w.lead_id, w.due_at, w.recipient,
       case when w.due_at < now() - $4 * interval '1 ms' then 'missed' else 'scheduled' end
     from (${wanted}) w
     on conflict (connection, lead_id, due_at, recipient) do update set state = excluded.state, note = null, updated_at = now()
     where reminders.state = 'cancelled'`,
    [connection, field, recipients, graceMs],
  );
  const { rows } = await db.query<Reminder>(
    `select ${columns} from reminders where connection = $1 and state = 'scheduled'
       and due_at < now() + $2 * interval '1 ms' order by due_at, id`,
    [connection, horizonMs],
  );
  return rows;
}

export async function getReminder(db: Queryable, id: number): Promise<Reminder | null> {
  const { rows } = await db.query<Reminder>(`select ${columns} from reminders where id = $1`, [id]);
  return rows[0] ?? null;
}

export async function setReminderState(
  db: Queryable,
  id: number,
  state: ReminderState,
  note: string | null = null,
): Promise<void> {
  await db.query(`update reminders set state = $2, note = $3, updated_at = now() where id = $1`, [
    id,
    state,
    note,
  ]);
}

/** The next reminders that are scheduled, soonest first, and how many there are. */
export async function comingReminders(
  db: Queryable,
  connection: string,
  limit: number,
): Promise<{ readonly count: number; readonly next: readonly Reminder[] }> {
  const { rows } = await db.query<Reminder & { total: number }>(
    `select ${columns}, (count(*) over ())::int as total from reminders
     where connection = $1 and state = 'scheduled' order by due_at, id limit $2`,
    [connection, limit],
  );
  return { count: rows[0]?.total ?? 0, next: rows.map(({ total: _, ...reminder }) => reminder) };
}

/** How many reminders are due and not sent yet. */
export async function countDueReminders(db: Queryable, connections: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from reminders
     where connection = any($1) and state in ('scheduled', 'sending') and due_at <= now()`,
    [connections],
  );
  return rows[0]?.count ?? 0;
}
