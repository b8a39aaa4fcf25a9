import type pg from 'pg';
import type { ConnectionConfig } from '../config/config.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { idBeginning, idKey } from '../core/lead/lead-id.ts';
import { folded } from '../core/lead/value.ts';
import { countLeads, findLeadIds, namedLeads } from '../store/pairs.ts';
import { nameRecord, short } from './output.ts';

export interface FoundLead {
  readonly connection: ConnectionConfig;
  readonly leadId: string;
}

const shortestBeginning = 8;
const candidatesShown = 5;

/** By id or the beginning of one, in any spelling; else by company name, or part of one. Throws `usage.unknown-lead` and `usage.ambiguous-lead`. */
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
  if (ids.length === 0) return findByCompany(pool, connections, lead);
  const more = ids.length > candidatesShown ? ' and others' : '';
  throw new LeadsyncError(
    'usage.ambiguous-lead',
    `several leads have an id that begins with ${short(lead)}: ${ids.slice(0, candidatesShown).join(', ')}${more}`,
    { help: 'Type more of the id.' },
  );
}

const companiesShown = 20;

async function findByCompany(
  pool: pg.Pool,
  connections: readonly ConnectionConfig[],
  typed: string,
): Promise<readonly FoundLead[]> {
  const found: (FoundLead & { readonly company: string })[] = [];
  const wanted = folded(typed);
  for (const connection of wanted === '' ? [] : connections)
    for await (const { leadId, company } of namedLeads(pool, connection.name))
      if (folded(company).includes(wanted)) found.push({ connection, leadId, company });
  const exact = found.filter(({ company }) => folded(company) === wanted);
  // A lead may have two names while it is held.
  const named = Map.groupBy(
    exact.length > 0 ? exact : found,
    ({ connection, leadId }) => `${connection.name} ${leadId}`,
  );
  const best = [...named.values()].flatMap(([first]) => first ?? []);
  const ids = new Set(best.map(({ leadId }) => leadId));
  if (ids.size === 0) throw await unknownLead(pool, connections, typed);
  if (ids.size === 1) return best;
  const lines = best
    .toSorted((a, b) => a.company.localeCompare(b.company, 'en'))
    .slice(0, companiesShown)
    .map(({ company, connection, leadId }) => nameRecord(company, connection.name, leadId));
  const more = best.length > lines.length ? [`and ${best.length - lines.length} more`] : [];
  throw new LeadsyncError(
    'usage.ambiguous-lead',
    `${ids.size} leads have a company with ${JSON.stringify(short(typed))} in its name`,
    { help: [...lines, ...more, 'Type more of the name, or the id.'].join('\n  ') },
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
  return new LeadsyncError(
    'usage.unknown-lead',
    `no lead has the id ${short(lead)} or a company name that contains it`,
    {
      help: `Leads on record: ${known.join(', ')}. Give the whole id, or at least its first ${shortestBeginning} characters, or part of the company's name. A lead that is new is known after leadsync sync.`,
    },
  );
}
