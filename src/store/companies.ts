import type { Queryable } from './database.ts';

/** What the companies of some leads are called, as both sides last agreed on it. */
export async function companiesOf(
  db: Queryable,
  connection: string,
  leadIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (leadIds.length === 0) return new Map();
  const { rows } = await db.query<{ id: string; company: string }>(
    `select lead_id as id, base->>'companyName' as company from pairs
     where connection = $1 and lead_id = any($2) and base->>'companyName' is not null`,
    [connection, leadIds],
  );
  return new Map(rows.map(({ id, company }) => [id, company]));
}
