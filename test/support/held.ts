import type pg from 'pg';
import type { Answer } from '../../src/core/merge/holds.ts';
import { decide } from '../../src/review/decide-held.ts';
import { type HeldItem, listHeld } from '../../src/store/held.ts';
import { connectionName } from './workspace.ts';

const holder = { name: connectionName, sync: { match: 'propose' }, fields: [] };

/** The rows and leads that may be one. */
export async function matchesIn(pool: pg.Pool) {
  const items = await listHeld(pool, [holder]);
  return items.filter((item) => item.kind === 'match');
}

/** Settles what waits under a number. */
export function answer(pool: pg.Pool, id: number | undefined, use: Answer): Promise<HeldItem> {
  return decide(pool, [holder], String(id), { use, by: 'anna' });
}
