import { z } from 'zod';

export const propertyTypes = [
  'bool',
  'date',
  'datetime',
  'enumeration',
  'number',
  'phone_number',
  'string',
] as const;
export type PropertyType = (typeof propertyTypes)[number];

export const optionSchema = z.strictObject({
  label: z.string().min(1),
  value: z.string().min(1),
  displayOrder: z.int().optional(),
  hidden: z.boolean().optional(),
  description: z.string().optional(),
});
export type PropertyOption = z.infer<typeof optionSchema>;

/** A definition of a company property. */
export interface Property {
  readonly name: string;
  readonly label: string;
  readonly type: PropertyType;
  readonly fieldType: string;
  readonly groupName: string;
  readonly description: string;
  readonly options: readonly PropertyOption[];
  readonly displayOrder: number;
  readonly hidden: boolean;
  readonly formField: boolean;
  readonly hasUniqueValue: boolean;
  readonly hubspotDefined: boolean;
  readonly calculated: boolean;
  /** Not writable. */
  readonly readOnly: boolean;
  readonly archived: boolean;
  /** Epoch ms. */
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A property, with defaults for what is not given. */
export function defineProperty(
  given: Pick<Property, 'name' | 'type' | 'fieldType' | 'createdAt'> & Partial<Property>,
): Property {
  return {
    label: given.name,
    groupName: 'companyinformation',
    description: '',
    options: [],
    displayOrder: -1,
    hidden: false,
    formField: false,
    hasUniqueValue: false,
    hubspotDefined: false,
    calculated: false,
    readOnly: false,
    archived: false,
    updatedAt: given.createdAt,
    ...given,
  };
}

/** A property as the API shows it. */
export function showProperty(property: Property): object {
  const { readOnly, createdAt, updatedAt, options, hubspotDefined, ...shown } = property;
  return {
    ...shown,
    hubspotDefined,
    externalOptions: false,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    options: options.map((option, index) => ({ displayOrder: index, hidden: false, ...option })),
    modificationMetadata: {
      archivable: !hubspotDefined,
      readOnlyDefinition: hubspotDefined,
      readOnlyValue: readOnly,
      ...(property.type === 'enumeration' && { readOnlyOptions: hubspotDefined }),
    },
  };
}

/** Options labelled by their values. */
export function plainOptions(values: readonly string[]): PropertyOption[] {
  return values.map((value) => ({ label: value, value }));
}

/** The pipeline that HubSpot gives every company. */
export const companyPipeline = 'companies-lifecycle-pipeline';

/** Some of the properties that every portal has. */
export function usualProperties(createdAt: number): Property[] {
  const text = [
    'name',
    'domain',
    'website',
    'city',
    'state',
    'zip',
    'country',
    'address',
    'phone',
    'description',
  ];
  const readOnly = { hubspotDefined: true, readOnly: true };
  const stages = [
    'subscriber',
    'lead',
    'marketingqualifiedlead',
    'salesqualifiedlead',
    'opportunity',
    'customer',
  ];
  const statuses = ['NEW', 'OPEN', 'IN_PROGRESS', 'OPEN_DEAL', 'UNQUALIFIED', 'CONNECTED', 'BAD_TIMING'];
  const counts = [
    'num_associated_contacts',
    'num_associated_deals',
    'hs_num_open_deals',
    'hs_num_child_companies',
    'num_contacted_notes',
    'num_notes',
  ];
  const select = { type: 'enumeration', fieldType: 'select', hubspotDefined: true } as const;
  return [
    ...text.map((name) => ({ name, type: 'string', fieldType: 'text', hubspotDefined: true }) as const),
    { name: 'numberofemployees', type: 'number', fieldType: 'number', hubspotDefined: true } as const,
    {
      name: 'lifecyclestage',
      type: 'enumeration',
      fieldType: 'radio',
      hubspotDefined: true,
      options: plainOptions([...stages, 'evangelist', 'other']),
    } as const,
    { ...select, name: 'hs_lead_status', options: plainOptions(statuses) } as const,
    // Its options are the portal's users; HubSpot does not list them in the property.
    { ...select, name: 'hubspot_owner_id' } as const,
    { ...select, name: 'hs_pipeline', options: plainOptions([companyPipeline]) } as const,
    { name: 'createdate', type: 'datetime', fieldType: 'date', ...readOnly } as const,
    { name: 'hs_lastmodifieddate', type: 'datetime', fieldType: 'date', ...readOnly } as const,
    { name: 'hs_object_id', type: 'number', fieldType: 'number', ...readOnly } as const,
    { name: 'hs_object_source', type: 'string', fieldType: 'text', ...readOnly } as const,
    { name: 'hs_merged_object_ids', type: 'string', fieldType: 'text', ...readOnly } as const,
    ...counts.map(
      (name) => ({ name, type: 'number', fieldType: 'number', calculated: true, ...readOnly }) as const,
    ),
  ].map((given) => defineProperty({ createdAt, ...given }));
}
