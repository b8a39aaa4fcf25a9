import { optInProperty } from '../../core/lead/mapping.ts';
import type { Verdict } from '../shared/row-changes.ts';
import { batchesOf, type PlannedInput } from './batch-sender.ts';
import { type CompanyTable, mergedProperty } from './company-table.ts';
import type { HubSpotApi } from './hubspot-api.ts';
import { HubSpotFault } from './hubspot-http.ts';
import type { PropertyDefinition, ShownCompany } from './hubspot-replies.ts';
import { isReadOnly } from './property-values.ts';
import { notSeen, notThere, withOwnContent } from './write-outcomes.ts';

/** Writable properties that HubSpot fills itself in any company. */
const filledByHubSpot: ReadonlySet<string> = new Set([
  'hs_avatar_filemanager_key',
  'hs_logo_url',
  'hs_pipeline',
]);

/** A portal's defaults for new companies. */
const firstStages: ReadonlySet<string> = new Set(['lead', 'subscriber']);

const mostNames = 5;

/** Why companies must not be removed: people added content of their own. */
export async function keptCompanies(
  api: HubSpotApi,
  removed: readonly PlannedInput[],
  table: CompanyTable,
  signal: AbortSignal,
): Promise<ReadonlyMap<PlannedInput, Verdict>> {
  const own = [...table.properties.values()].filter((property) => canBeOwn(property, table));
  const names = [...own.map(({ name }) => name), mergedProperty];
  const kept = new Map<PlannedInput, Verdict>();
  for (const batch of batchesOf(removed)) {
    const ids = batch.map(({ id }) => id);
    const companies = await api.batchRead(ids, names, null, signal);
    const shown = new Map(companies.map((company) => [company.id, company]));
    for (const input of batch) {
      const company = shown.get(input.id);
      const found = company === undefined ? [] : ownContent(company, own);
      if (company === undefined) kept.set(input, notThere);
      else if (found.length > 0) kept.set(input, withOwnContent(listed(found)));
    }
    const rest = batch.filter((input) => !kept.has(input));
    for (const [input, verdict] of await withTickets(api, rest, signal)) kept.set(input, verdict);
  }
  return kept;
}

/** HubSpot's properties count associated records, except tickets. */
async function withTickets(
  api: HubSpotApi,
  inputs: readonly PlannedInput[],
  signal: AbortSignal,
): Promise<[PlannedInput, Verdict][]> {
  if (inputs.length === 0) return [];
  try {
    const ids = inputs.map(({ id }) => id);
    const associated = await api.withAssociations('tickets', ids, signal);
    return inputs.flatMap((input) => (associated.has(input.id) ? [[input, withOwnContent('tickets')]] : []));
  } catch (error) {
    const isSeenNever = error instanceof HubSpotFault && error.status !== null && error.retry === 'never';
    if (!isSeenNever || error.code === 'target.unauthenticated') throw error;
    return inputs.map((input) => [input, notSeen(error)]);
  }
}

/** Content that may come from people: writable properties that are not ours, and HubSpot's counts of associated records. */
function canBeOwn(property: PropertyDefinition, { wanted }: CompanyTable): boolean {
  const { name } = property;
  if (wanted.includes(name) || name === optInProperty || filledByHubSpot.has(name)) return false;
  return isReadOnly(property) ? isCount(property) : true;
}

const isCount = ({ name, type }: PropertyDefinition): boolean =>
  type === 'number' && /^(?:hs_)?num_/.test(name);

function ownContent({ properties }: ShownCompany, own: readonly PropertyDefinition[]): string[] {
  const filled = own.filter((property) => {
    const text = properties[property.name] ?? '';
    if (text === '' || (property.type === 'bool' && text === 'false')) return false;
    if (property.name === 'lifecyclestage') return !firstStages.has(text);
    return !isReadOnly(property) || Number(text) > 0;
  });
  const merged = (properties[mergedProperty] ?? '') === '' ? [] : [mergedProperty];
  return [...filled.map(({ name }) => name), ...merged];
}

function listed(names: readonly string[]): string {
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  return names.slice(0, mostNames).join(', ') + more;
}
