import type { Values } from '../core/lead/value.ts';
import { mapOf, type Queryable } from './database.ts';

/** The rows that were begun by runs that never heard what became of them: what each was to show, by lead. */
export function begunRows(db: Queryable, connection: string): Promise<ReadonlyMap<string, Values>> {
  return mapOf(
    db,
    `select a.lead_id, (select coalesce(json_object_agg(c.key, c.value->'to'), '{}') from json_each(a.changes::json) c)
     from (select id, run_id, lead_id, changes from actions where state = 'planned' and kind = 'create-row' and attempts > 0
       union all
       select id, run_id, lead_id, changes from new_row_lines where state = 'planned' and attempts > 0) a
     join runs r on r.id = a.run_id and r.connection = $1 order by a.id`,
    [connection],
  );
}
