import { setTimeout } from 'node:timers/promises';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { type FieldMapping, optInProperty } from '../../core/lead/mapping.ts';
import { markText, readMark } from '../../core/lead/table-mark.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import type { MarkToWrite } from '../../ports/target.ts';
import type { HubSpotApi, NewProperty } from './hubspot-api.ts';
import { HubSpotFault, type HubSpotOptions } from './hubspot-http.ts';
import type { PropertyDefinition } from './hubspot-replies.ts';
import type { CompanyTable } from './company-table.ts';

const groupName = 'leadsync';

/** Delays between checks for new properties, which usually appear after 250 to 700 ms. */
const waitsMs = [0, 250, 500, 1_000, 2_000, 4_000, 8_000];

/** In creation order. The id comes last: until it exists nothing counts as created, so an interrupted setup continues. */
function wantedProperties({ idColumn, fields, statusColumn, pauseColumn }: HubSpotOptions): NewProperty[] {
  const text = fieldKinds.text.hubspot;
  const status = statusColumn === undefined ? [] : [{ ...named(statusColumn), ...text }];
  const checkbox = {
    type: 'bool',
    fieldType: 'booleancheckbox',
    options: [option('true', 'Yes', 0), option('false', 'No', 1)],
  };
  const pause = pauseColumn === undefined ? [] : [{ ...named(pauseColumn), ...checkbox }];
  const wanted = [
    { ...named(optInProperty), ...checkbox },
    ...status,
    ...pause,
    ...fields.map((mapping) => ({ ...named(mapping.column), ...kindOf(mapping) })),
    { ...named(idColumn), ...text, hasUniqueValue: true },
  ];
  return [...new Map(wanted.map((property) => [property.name, property])).values()];
}

/** Returns them when HubSpot shows them; concurrent creation is fine. `only`: by name. Throws `target.unavailable` (later) if that takes long. */
export async function createMissing(
  api: HubSpotApi,
  options: HubSpotOptions,
  found: readonly PropertyDefinition[],
  only?: ReadonlySet<string>,
): Promise<readonly PropertyDefinition[]> {
  const there = new Set(found.map(({ name }) => name));
  const missing = wantedProperties(options).filter(
    ({ name }) => !there.has(name) && (only?.has(name) ?? true),
  );
  if (missing.length === 0) return [];
  if (!(await api.groups()).includes(groupName))
    await unlessThere(() => api.createGroup(groupName, 'leadsync'));
  for (const property of missing) await unlessThere(() => api.createProperty(property));
  return untilShown(api, new Set(missing.map(({ name }) => name)));
}

/** A new property is unusable until HubSpot's list shows it. */
async function untilShown(
  api: HubSpotApi,
  names: ReadonlySet<string>,
): Promise<readonly PropertyDefinition[]> {
  for (const waitMs of waitsMs) {
    await setTimeout(waitMs, undefined, { signal: api.signal });
    const shown = (await api.properties()).filter(({ name }) => names.has(name));
    if (shown.length === names.size) return shown;
  }
  throw notShown([...names]);
}

/** HubSpot replaces the whole list, so it is read again right before. Returns whether any option was added. */
export async function addMissingOptions(
  api: HubSpotApi,
  { fields }: HubSpotOptions,
  found: readonly PropertyDefinition[],
): Promise<boolean> {
  let added = false;
  for (const { column, values = [] } of fields) {
    const property = found.find(({ name, type }) => name === column && type === 'enumeration');
    if (property === undefined || optionsLacking(property, values).length === 0) continue;
    const live = await api.property(column);
    const lacking = optionsLacking(live, values);
    if (live.type !== 'enumeration' || lacking.length === 0) continue;
    const options = live.options ?? [];
    const more = lacking.map((value, index) => option(value, value, options.length + index));
    const changed = await api.changeProperty(column, { options: [...options, ...more] });
    if (optionsLacking(changed, lacking).length > 0) throw notAdded(column);
    added = true;
  }
  return added;
}

function optionsLacking({ options }: PropertyDefinition, values: readonly string[]): string[] {
  const live = new Set((options ?? []).map(({ value }) => value));
  return values.filter((value) => !live.has(value));
}

function kindOf({ type, values = [] }: FieldMapping): Pick<NewProperty, 'type' | 'fieldType' | 'options'> {
  if (values.length === 0) return fieldKinds[type].hubspot;
  const options = values.map((value, index) => option(value, value, index));
  return { type: 'enumeration', fieldType: 'select', options };
}

function named(name: string): Pick<NewProperty, 'name' | 'label' | 'groupName'> {
  const words = name.replaceAll('_', ' ');
  return { name, label: words.slice(0, 1).toUpperCase() + words.slice(1), groupName };
}

function option(value: string, label: string, displayOrder: number) {
  return { value, label, displayOrder, hidden: false };
}

async function unlessThere(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    // OBJECT_ALREADY_EXISTS comes with 409.
    if (!(error instanceof HubSpotFault) || error.status !== 409) throw error;
  }
}

function notShown(names: readonly string[]): LeadsyncError {
  const message = `HubSpot does not show its new properties yet (${names.join(', ')}). No company was written.`;
  return new LeadsyncError('target.unavailable', message, { retry: 'later', retryAfterMs: 60_000 });
}

function notAdded(name: string): LeadsyncError {
  return new LeadsyncError('target.refused', `HubSpot did not add the options to the property ${name}.`, {
    help: 'Add them in HubSpot: Settings, Properties.',
  });
}

/** Within a description that people may have written. */
const marks = /\{"v":1,[^{}]*\}/g;

export function markOf(property: PropertyDefinition | undefined): string | null {
  return (property?.description ?? '').match(marks)?.findLast((text) => readMark(text) !== null) ?? null;
}

/** Into the id property's description. Contains no time, so it is written once; not at all when the key may not. */
export class PropertyMarker {
  /** The last mark tried, written or not. */
  #tried: string | null = null;

  async write(table: CompanyTable, mark: MarkToWrite, api: HubSpotApi): Promise<void> {
    const { keeper, connection, place } = readMark(mark.text) ?? {};
    if (keeper === undefined || connection === undefined || this.#tried === mark.text) return;
    this.#tried = mark.text;
    const text = markText({ keeper, connection, place });
    const name = table.idProperty;
    if (markOf(table.properties.get(name)) === text) return mark.arrived();
    try {
      const { description } = await api.property(name);
      const others = (description ?? '').replaceAll(marks, '').trim();
      const change = { description: `${others} ${text}`.trim() };
      if (markOf(await api.changeProperty(name, change)) === text) mark.arrived();
    } catch (error) {
      // The rows are written: their outcomes must not be lost over a mark.
      if (!(error instanceof LeadsyncError)) throw error;
    }
  }
}
