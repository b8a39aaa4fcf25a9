import { showCell } from '../../core/lead/value.ts';
import { explain, withoutStop } from '../../lib/errors.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import type { Verdict } from '../shared/row-changes.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';
import { type CompanyTable, mergedProperty, isReadOnly } from './company-table.ts';
import { HubSpotFault } from './hubspot-http.ts';
import { type InputResult, type PlannedInput, batchesOf } from './batch-sender.ts';
import { optInProperty } from '../../core/lead/mapping.ts';
import type { HubSpotApi } from './hubspot-api.ts';
import type { PropertyDefinition, ShownCompany } from './hubspot-replies.ts';

/** For an input that was not sent. */
export const inRecycleBin: Verdict = {
  status: 'held',
  code: 'row.archived',
  message:
    "The company of this lead, or the one that somebody merged it into, is in HubSpot's recycle bin: restore it there, or delete it permanently. It is not created again.",
};
const notThere: Verdict = {
  status: 'deferred',
  code: 'row.gone',
  message: 'The company is no longer in HubSpot, or was merged into another. The next run tries again.',
};

function withOwnContent(what: string): Verdict {
  return {
    status: 'held',
    code: 'row.has-own-cells',
    message: `The company has content in HubSpot that leadsync did not write: ${what}. It was not changed; delete it in HubSpot if it is not needed.`,
  };
}

/** Permission to see associated records is missing. */
function notSeen(fault: HubSpotFault): Verdict {
  return {
    status: 'held',
    code: fault.code,
    message: `The company may have tickets, which the key cannot see, so it was not changed. ${explain(fault)}`,
  };
}

function notAllowed(fault: HubSpotFault, kind: PlannedInput['kind']): Verdict {
  const what = kind === 'create' ? 'No company was created' : 'The company was not changed';
  return { status: 'held', code: fault.code, message: `${what}. ${explain(fault)}` };
}

/** The outcomes by the inputs' results. A status of a company without id is always done: the next run writes it again. */
export function outcomesOf(
  changes: readonly RowChange[],
  planned: readonly RowOutcome[],
  results: ReadonlyMap<PlannedInput, InputResult | Verdict>,
  table: CompanyTable,
): readonly RowOutcome[] {
  const byLead = Map.groupBy(results.keys(), ({ leadId }) => idKey(leadId));
  return changes.map((change, index): RowOutcome => {
    const outcome = planned[index];
    if (outcome === undefined) throw new Error('a change without outcome');
    const leadId = idKey(change.leadId ?? '');
    if (outcome.status !== 'done' || leadId === '') return outcome;
    const verdicts = (byLead.get(leadId) ?? []).flatMap((input) => {
      const result = results.get(input);
      return result === undefined ? [] : (verdictOf(change, input, result, table) ?? []);
    });
    const [verdict] = verdicts;
    if (verdict !== undefined) return { key: change.key, ...verdict };
    const made = change.kind === 'append' ? madeId(byLead.get(leadId) ?? [], results) : null;
    return made === null ? outcome : { ...outcome, row: Number(made) };
  });
}

function madeId(
  inputs: readonly PlannedInput[],
  results: ReadonlyMap<PlannedInput, InputResult | Verdict>,
): string | null {
  const ids = inputs.flatMap((input) => {
    const result = results.get(input);
    return result !== undefined && 'kind' in result && result.kind === 'stored' ? (result.id ?? []) : [];
  });
  return ids[0] ?? null;
}

function verdictOf(
  change: RowChange,
  { kind }: PlannedInput,
  result: InputResult | Verdict,
  table: CompanyTable,
): Verdict | null {
  if ('status' in result) return result;
  switch (result.kind) {
    case 'stored':
      return null;
    case 'altered': {
      const concerned = [...result.shown].filter(([name]) => propertiesOf(change, table).has(name));
      if (concerned.length === 0) return null;
      const shown = concerned.map(([name, cell]) => `${name} shows ${showCell(cell)}`).join(', ');
      const after = kind === 'update' ? ' The earlier value was restored.' : '';
      return held(`HubSpot stored something other than what was written: ${shown}.${after}`);
    }
    case 'refused': {
      const words = result.words === null ? '.' : `: ${withoutStop(result.words)}.`;
      return held(
        kind === 'create'
          ? `HubSpot refused the new company${words} It was not added.`
          : `HubSpot refused the change of the company${words} It was not changed.`,
      );
    }
    case 'taken':
      return {
        status: 'held',
        code: 'row.exists',
        message: `The company ${result.id} already has the id of this lead and shows something else. It was not changed, and no other was created.`,
      };
    case 'forbidden':
      return notAllowed(result.fault, kind);
    case 'gone':
      return notThere;
    case 'missed':
      return {
        status: 'deferred',
        code: 'row.changed',
        message: 'The company does not show what was written. The next run tries again.',
      };
    default:
      return result satisfies never;
  }
}

function propertiesOf(change: RowChange, table: CompanyTable): ReadonlySet<string> {
  const fields = 'values' in change ? Object.keys(change.values) : [];
  const names = fields.flatMap((field) => table.fields.get(field)?.property.name ?? []);
  const hasId = change.kind === 'append' || change.kind === 'link' || change.kind === 'unlink';
  const hasStatus = 'text' in change || ('status' in change && change.status !== undefined);
  return new Set([
    ...names,
    ...(hasId ? [table.idProperty] : []),
    ...(hasStatus && table.statusProperty !== null ? [table.statusProperty] : []),
  ]);
}

function held(message: string): Verdict {
  return { status: 'held', code: 'target.value-not-storable', message };
}

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
): Promise<ReadonlyMap<PlannedInput, Verdict>> {
  const own = [...table.properties.values()].filter((property) => canBeOwn(property, table));
  const names = [...own.map(({ name }) => name), mergedProperty];
  const kept = new Map<PlannedInput, Verdict>();
  for (const batch of batchesOf(removed)) {
    const ids = batch.map(({ id }) => id);
    const companies = await api.batchRead(ids, names, null);
    const shown = new Map(companies.map((company) => [company.id, company]));
    for (const input of batch) {
      const company = shown.get(input.id);
      const found = company === undefined ? [] : ownContent(company, own);
      if (company === undefined) kept.set(input, notThere);
      else if (found.length > 0) kept.set(input, withOwnContent(listed(found)));
    }
    const rest = batch.filter((input) => !kept.has(input));
    for (const [input, verdict] of await withTickets(api, rest)) kept.set(input, verdict);
  }
  return kept;
}

/** HubSpot's properties count associated records, except tickets. */
async function withTickets(
  api: HubSpotApi,
  inputs: readonly PlannedInput[],
): Promise<[PlannedInput, Verdict][]> {
  if (inputs.length === 0) return [];
  try {
    const ids = inputs.map(({ id }) => id);
    const associated = await api.withAssociations('tickets', ids);
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
