import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { type HeldItem, listHeld } from '../store/held.ts';
import { nameRecord, rowName } from './names.ts';

export interface Named {
  readonly item: HeldItem;
  readonly connection: ConnectionConfig;
}

/** All that waits, or what has the number `id`. */
export async function namedHeld(
  pool: pg.Pool,
  connections: readonly ConnectionConfig[],
  id: number | null = null,
): Promise<readonly Named[]> {
  const items = await listHeld(pool, connections, id === null ? {} : { id });
  return connections.flatMap((connection) =>
    items.flatMap((item) => (item.connection === connection.name ? [{ item, connection }] : [])),
  );
}

/** The record that it is about, as a line names it; `place`: more to name, as its connection. */
export function recordOf({ item }: Named, place: string | null = null): string {
  if (item.kind === 'calendar') return nameRecord(item.company, 'calendar', place);
  return nameRecord(item.company, rowName(item.row), place, item.company === null ? item.leadId : null);
}
