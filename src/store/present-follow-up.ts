import type { Value, Values } from '../core/lead/value.ts';
import { firstOf, isoMs, type Queryable } from './database.ts';

/** A lead's follow-up as far as leadsync knows it, without a request to the service. */
export interface PresentFollowUp {
  /** What both sides last agreed on; null: they never did. */
  readonly base: Values | null;
  /** Canonical instant; null: none. */
  readonly due: Value;
}

/**
 * The follow-up of a lead: as a requested edit left or met it since the last sync began, else as a mail met it, else as both
 * sides last agreed on it. Null: the lead is not known, or gone.
 */
export function presentFollowUp(
  db: Queryable,
  connection: string,
  leadId: string,
  field: string,
): Promise<PresentFollowUp | null> {
  return firstOf(
    db,
    `select p.base, case when e.id is not null then e.value when f.is_read then ${isoMs('f.due_at')} else p.base->>$3 end as due
     from pairs p left join follow_ups f on f.connection = p.connection and f.lead_id = p.lead_id
     left join lateral (
       select id, case when state in ('applied', 'unchanged') then to_value else shown #>> '{}' end as value
       from requested_edits where connection = p.connection and lead_id = p.lead_id and field = $3
         and (state in ('applied', 'unchanged') or code = 'edit.conflict' or code = 'edit.failed' and jsonb_typeof(shown) = 'string')
         and settled_at > coalesce((select max(created_at) from runs where connection = $1 and mode = 'sync'
           and status in ('succeeded', 'partial')), '-infinity')
       order by settled_at desc limit 1) e on true
     where p.connection = $1 and p.lead_id = $2 and p.lead_deleted_at is null`,
    [connection, leadId, field],
  );
}
