import { showCell } from '../../core/lead/value.ts';
import { explain, withoutStop } from '../../lib/errors.ts';
import { idKey } from '../../core/lead/lead.ts';
import type { Verdict } from '../shared/row-changes.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';
import type { CompanyTable } from './company-table.ts';
import type { HubSpotFault } from './hubspot-http.ts';
import type { InputResult, PlannedInput } from './batch-sender.ts';

/** For an input that was not sent. */
export const inRecycleBin: Verdict = {
  status: 'held',
  code: 'row.archived',
  message:
    "The company of this lead, or the one that somebody merged it into, is in HubSpot's recycle bin: restore it there, or delete it permanently. It is not created again.",
};
export const notThere: Verdict = {
  status: 'deferred',
  code: 'row.gone',
  message: 'The company is no longer in HubSpot, or was merged into another. The next run tries again.',
};

export function withOwnContent(what: string): Verdict {
  return {
    status: 'held',
    code: 'row.has-own-cells',
    message: `The company has content in HubSpot that leadsync did not write: ${what}. It was not changed; delete it in HubSpot if it is not needed.`,
  };
}

/** Permission to see associated records is missing. */
export function notSeen(fault: HubSpotFault): Verdict {
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
