import { type Queryable, timestamp } from './database.ts';

interface Day {
  /** In the zone of the recipient, `2026-11-21`. */
  readonly localDate: string;
  /** Epoch ms. */
  readonly sendAt: number;
}

/** The digests of a recipient around now. */
interface PlannedDigests {
  /** In lower case. */
  readonly recipient: string;
  /** The connection that they are sent by. */
  readonly home: string;
  readonly last: Day;
  readonly next: Day;
  /** Whether that of `last` may still be sent by its day; `graceMs` after its moment it is missed in any case. */
  readonly isToday: boolean;
  readonly graceMs: number;
}

/** `$1`: as `plannedJson` makes it. */
const planned = `json_to_recordset($1::json) as n (recipient text, home text, "lastDate" date, "lastAt" timestamptz,
  "nextDate" date, "nextAt" timestamptz, "isToday" boolean, "graceMs" bigint)`;

/** Whether something due at a moment is not too late. */
const isInTime = (at: string): string => `${at} >= now() - n."graceMs" * interval '1 ms'`;

const tooLate = 'it could not be sent on its day';

/**
 * Reschedules the digests of all recipients by the current plan: one per recipient and day, across connections. The days of
 * `last` and `next` get their connection and time, other days to come are dropped, and earlier ones are missed: that of
 * `last` catches up on them. A digest that is due is never postponed, and one moved into the past is late from now on. Sent,
 * skipped and failed ones stay. Recipients without a plan have no digest, and the `configured` connections schedule none
 * for them.
 */
export async function replaceDigests(
  db: Queryable,
  configured: readonly string[],
  plans: readonly PlannedDigests[],
): Promise<void> {
  const json = plannedJson(plans);
  const write = (statement: string, ...more: unknown[]) => db.query(statement, [json, ...more]);
  await write(
    `with over as (
       update mails set state = 'skipped', updated_at = now(), note = 'nothing was due'
       where kind = 'digest' and state = 'scheduled' and connection = any($2) and send_at <= now()
         and recipient not in (select recipient from ${planned}))
     delete from mails where kind = 'digest' and state = 'scheduled' and connection = any($2) and send_at > now()
       and recipient not in (select recipient from ${planned})`,
    configured,
  );
  await write(
    `delete from mails d using ${planned} where d.kind = 'digest' and d.state = 'scheduled'
       and d.recipient = n.recipient and d.local_date > n."lastDate" and d.local_date <> n."nextDate"`,
  );
  await write(
    `update mails d set connection = n.home, send_at = n.at, updated_at = now()
     from (select recipient, home, "lastDate" as day, "lastAt" as at from ${planned}
         union all select recipient, home, "nextDate", "nextAt" from ${planned}) p
       join mails o on o.kind = 'digest' and o.recipient = p.recipient and o.local_date = p.day
       cross join lateral (select o.id, p.home, case when o.send_at <= now()
         then least(o.send_at, p.at) else greatest(p.at, date_trunc('milliseconds', now())) end as at) n
     where d.id = n.id and d.state = 'scheduled' and (d.connection, d.send_at) is distinct from (n.home, n.at)`,
  );
  // Its queue is worked by nobody any more: the new home finds out whether it was sent.
  await write(
    `update mails d set connection = n.home from ${planned}
     where d.kind = 'digest' and d.state = 'sending' and d.recipient = n.recipient and d.connection <> all($2)`,
    configured,
  );
  await write(
    `with missed as (
       update mails d set state = 'missed', updated_at = now(), note = '${tooLate}' from ${planned}
       where d.kind = 'digest' and d.state = 'scheduled' and d.recipient = n.recipient
         and (d.local_date < n."lastDate" or d.local_date = n."lastDate" and not (n."isToday" and ${isInTime('d.send_at')}))
       returning d.recipient)
     insert into mails (connection, kind, recipient, local_date, send_at)
     select home, 'digest', recipient, "lastDate", "lastAt" from ${planned}
     where "isToday" and ${isInTime('"lastAt"')} and recipient in (select recipient from missed)
     union all select home, 'digest', recipient, "nextDate", "nextAt" from ${planned}
     on conflict do nothing`,
  );
}

function plannedJson(plans: readonly PlannedDigests[]): string {
  return JSON.stringify(
    plans.map(({ last, next, ...plan }) => ({
      ...plan,
      lastDate: last.localDate,
      lastAt: timestamp(last.sendAt),
      nextDate: next.localDate,
      nextAt: timestamp(next.sendAt),
    })),
  );
}
