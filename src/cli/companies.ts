import type pg from 'pg';
import { companiesOf } from '../store/pairs.ts';
import type { Companies } from './names.ts';

/** In a file of its own: `--help` loads `names.ts`, and no Postgres client. */
export function companiesIn(
  pool: pg.Pool,
  connection: string,
  items: readonly { readonly leadId?: string | null }[],
): Promise<Companies> {
  return companiesOf(pool, connection, [...new Set(items.flatMap(({ leadId }) => leadId ?? []))]);
}
