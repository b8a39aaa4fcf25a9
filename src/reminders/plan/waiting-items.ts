import type { ConnectionConfig } from '../../config/config.ts';
import type { Queryable } from '../../store/database.ts';
import { type HeldItem, listHeld } from '../../store/held.ts';
import { basesOf } from '../../store/pairs.ts';
import { recipientsOf } from './recipients.ts';

export type WaitingHolder = Pick<ConnectionConfig, 'name' | 'reminders'> & {
  readonly sync: Pick<ConnectionConfig['sync'], 'match'>;
};

/** The oldest are told of: a list that nobody can work through says no more. */
const most = 1_000;

/**
 * What waits for a decision, by the recipient (lower case, or a chat) whose lead it is: of the connections with a digest. A row
 * without a lead is everybody's who gets the mails of leads without a route.
 */
export async function waitingItems(
  db: Queryable,
  configured: readonly WaitingHolder[],
): Promise<ReadonlyMap<string, readonly HeldItem[]>> {
  const rules = new Map(
    configured.flatMap(({ name, reminders }) =>
      (reminders?.rules.digestAt ?? null) === null || reminders === undefined
        ? []
        : [[name, reminders.rules] as const],
    ),
  );
  const held = await listHeld(
    db,
    configured.filter(({ name }) => rules.has(name)),
    { limit: most },
  );
  const waiting = new Map<string, HeldItem[]>();
  for (const [connection, items] of Map.groupBy(held.filter(isOpen), (item) => item.connection)) {
    const of = rules.get(connection);
    if (of === undefined) continue;
    const ids = items.flatMap((item) => (item.kind === 'calendar' ? [] : [item.leadId]));
    const bases = await basesOf(db, connection, [...new Set(ids)]);
    for (const item of items)
      for (const recipient of item.kind === 'calendar'
        ? [item.recipient]
        : recipientsOf(bases.get(item.leadId) ?? (item.kind === 'match' ? item.lead : {}), of))
        waiting.set(recipient, [...(waiting.get(recipient) ?? []), item]);
  }
  return waiting;
}

function isOpen(item: HeldItem): boolean {
  return item.kind === 'match' ? item.decided === null : item.resolution === null;
}
