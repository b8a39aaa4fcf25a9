import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { LeadsyncError } from '../errors.ts';
import { idBeginning, idKey } from '../lead/lead.ts';
import { countLeads, findLeadIds } from '../store/lead-record.ts';

/** A lead that is on record in a connection. */
export interface FoundLead {
  readonly connection: ConnectionConfig;
  readonly leadId: string;
}

/** As people copy an id: whole, or so much of its beginning. */
const shortestBeginning = 8;
const candidatesShown = 5;

/**
 * The leads of that id, or of the one id that begins so, in all connections, whatever its spelling. Throws
 * `usage.unknown-lead` and `usage.ambiguous-lead`.
 */
export async function findLead(
  pool: pg.Pool,
  connections: readonly ConnectionConfig[],
  lead: string,
): Promise<readonly FoundLead[]> {
  const found: FoundLead[] = [];
  const beginning = idBeginning(lead);
  const isIt = (id: string): boolean => idKey(id) === idKey(lead);
  for (const connection of connections) {
    const ids = await findLeadIds(pool, connection.name, beginning, candidatesShown + 1);
    const usable = ids.filter((id) => isIt(id) || beginning.length >= shortestBeginning);
    found.push(...usable.map((leadId) => ({ connection, leadId })));
  }
  const exact = found.filter(({ leadId }) => isIt(leadId));
  if (exact.length > 0) return exact;
  const ids = [...new Set(found.map(({ leadId }) => leadId))];
  if (ids.length === 1) return found;
  if (ids.length === 0) throw await unknownLead(pool, connections, lead);
  const more = ids.length > candidatesShown ? ' and others' : '';
  throw new LeadsyncError(
    'usage.ambiguous-lead',
    `several leads have an id that begins with ${short(lead)}: ${ids.slice(0, candidatesShown).join(', ')}${more}`,
    { help: 'Name more of the id.' },
  );
}

async function unknownLead(
  pool: pg.Pool,
  connections: readonly ConnectionConfig[],
  lead: string,
): Promise<LeadsyncError> {
  const known: string[] = [];
  for (const { name, target } of connections) {
    const leads = await countLeads(pool, name);
    known.push(`${leads} in ${name} (its column ${target.idColumn} holds the ids)`);
  }
  return new LeadsyncError('usage.unknown-lead', `no lead with the id ${short(lead)} is on record`, {
    help: `Leads on record: ${known.join(', ')}. Give the whole id, or at least its first ${shortestBeginning} characters. A lead that is new is known after leadsync sync.`,
  });
}

/** Characters of what was typed that a message repeats. */
const longestEcho = 60;

export function short(typed: string): string {
  return typed.length > longestEcho ? `${typed.slice(0, longestEcho)}…` : typed;
}
