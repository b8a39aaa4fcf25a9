import { optInProperty } from '../../core/lead/mapping.ts';
import { sameCell } from '../../core/lead/value.ts';
import { RowChanges, type RowDecisions, type RowWrite } from '../shared/row-changes.ts';
import type { RowChange } from '../../ports/target.ts';
import {
  type CompanyRow,
  type CompanyTable,
  leadIdOf,
  isReadOnly,
  notStorable,
  storedText,
} from './company-table.ts';
import type { ShownCompany } from './hubspot-replies.ts';
import { type InputResult, type PlannedInput, shownCell } from './batch-sender.ts';

export function decideChanges(
  changes: readonly RowChange[],
  rows: Iterable<CompanyRow>,
  table: CompanyTable,
): RowDecisions<ShownCompany> {
  const { fields, timeZone } = table;
  const plan = new RowChanges<ShownCompany>(changes, {
    fields,
    headings: table.headings,
    hasStatus: table.statusProperty !== null,
    words: { row: 'company', column: 'property' },
    // Checked later, only for removals.
    hasOwnCells: () => false,
    notStorable: (value, field) => {
      const mapped = fields.get(field);
      return mapped === undefined ? null : notStorable(value, mapped, timeZone);
    },
    notWritable: ({ values }) => {
      const closed = Object.keys(values)
        .flatMap((field) => fields.get(field)?.property ?? [])
        .find(isReadOnly);
      return closed === undefined ? null : `HubSpot fills the property ${closed.name} itself.`;
    },
  });
  for (const row of rows) plan.see(row);
  return plan.decide();
}

/** The inputs for the decisions, without those that change nothing. */
export function inputsOf(decisions: RowDecisions<ShownCompany>, table: CompanyTable): PlannedInput[] {
  const written = decisions.writes.flatMap((write): PlannedInput[] => {
    const leadId = write.leadId ?? leadIdOf(write.place, table) ?? '';
    const { id } = write.place;
    if (write.remove) return [{ kind: 'archive', id, leadId, properties: {} }];
    const properties = changedProperties(write, table);
    if (Object.keys(properties).length === 0) return [];
    const before = Object.keys(properties).map((name) => [name, write.place.properties[name] ?? ''] as const);
    return [{ kind: 'update', id, leadId, properties, before: Object.fromEntries(before) }];
  });
  const added = decisions.appends.map(({ leadId: given, values, status }): PlannedInput => {
    const leadId = given.trim();
    const filled = Object.entries(propertiesOf(values, table)).filter(([, text]) => text !== '');
    const properties: Record<string, string> = { [table.idProperty]: leadId, ...Object.fromEntries(filled) };
    if (status !== null && status !== '' && table.statusProperty !== null)
      properties[table.statusProperty] = status;
    return { kind: 'create', id: leadId, leadId, properties };
  });
  return [...written, ...added];
}

export function putBack(
  results: ReadonlyMap<PlannedInput, InputResult>,
  table: CompanyTable,
): PlannedInput[] {
  return [...results].flatMap(([{ before, ...input }, result]): PlannedInput[] => {
    if (before === undefined || result.kind !== 'altered') return [];
    const properties = [...result.shown].flatMap(([name, shown]) => {
      const text = before[name] ?? '';
      return sameCell(shown, shownCell(text, name, table)) ? [] : [[name, text] as const];
    });
    return properties.length === 0 ? [] : [{ ...input, properties: Object.fromEntries(properties) }];
  });
}

function changedProperties(write: RowWrite<ShownCompany>, table: CompanyTable): Record<string, string> {
  return {
    ...propertiesOf(write.values, table),
    ...(write.leadId !== null && { [table.idProperty]: write.leadId }),
    ...(write.unlink !== null && { [table.idProperty]: '' }),
    ...(write.unlink === 'again' && table.properties.has(optInProperty) && { [optInProperty]: 'true' }),
    ...(write.status !== null && table.statusProperty !== null && { [table.statusProperty]: write.status }),
  };
}

function propertiesOf(values: RowWrite<ShownCompany>['values'], { fields, timeZone }: CompanyTable) {
  const entries = Object.entries(values).flatMap(([field, value]) => {
    const mapped = fields.get(field);
    return mapped === undefined ? [] : [[mapped.property.name, storedText(value, mapped, timeZone)] as const];
  });
  return Object.fromEntries(entries);
}
