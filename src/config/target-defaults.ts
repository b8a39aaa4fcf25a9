import { defaultFields, type FieldMapping } from '../core/lead/mapping.ts';

/** Columns of the default mapping in targets whose columns are not headings for people, by lead field. */
const columnNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // A company has a name, a city and a state already; the others are made.
  hubspot: {
    companyName: 'name',
    segment: 'lead_segment',
    city: 'city',
    region: 'state',
    stage: 'lead_stage',
    nextFollowUpAt: 'lead_next_follow_up',
  },
  'postgres-table': {
    companyName: 'company_name',
    segment: 'segment',
    city: 'city',
    region: 'region',
    stage: 'stage',
    nextFollowUpAt: 'next_follow_up_at',
  },
};

/** The mapping of a connection without `fields`, for its type of target. */
export function defaultFieldsOf(targetType: string | undefined): readonly FieldMapping[] {
  const names = columnNames[targetType ?? ''];
  return defaultFields.map((mapping) => ({ ...mapping, column: names?.[mapping.field] ?? mapping.column }));
}

/** Where the ids stand when `idColumn` names nothing else. */
export function defaultIdColumn(targetType: string | undefined): string {
  return (targetType ?? '') in columnNames ? 'lead_id' : 'Lead ID';
}

/** What rows and leads are matched by when nobody says otherwise, as far as it is mapped. */
export const usualMatchBy: readonly string[] = ['companyName', 'city'];
