import { type Headings, optInProperty, type Words } from '../../core/lead/mapping.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import { contentKey, type PresentRow } from '../shared/row-changes.ts';
import type { RowChange, TargetRow, TargetSnapshot } from '../../ports/target.ts';
import type { HubSpotOptions } from './hubspot-http.ts';
import type { PropertyDefinition, ShownCompany } from './hubspot-replies.ts';
import { dayOf, readInstant } from '../../core/lead/instant.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { type Cell, type FieldType, isUnreadable, type Value } from '../../core/lead/value.ts';
import { pauses } from '../../core/lead/table-rows.ts';
import { rowWord } from '../../core/lead/words.ts';

export const mergedProperty = 'hs_merged_object_ids';
export const nameProperty = 'name';

export interface CompanyTable {
  /** Unarchived ones, by name. */
  readonly properties: ReadonlyMap<string, PropertyDefinition>;
  /** By lead field; only existing properties. */
  readonly fields: ReadonlyMap<string, MappedProperty>;
  readonly headings: Headings;
  readonly idProperty: string;
  /** Null: missing, or not a text property. */
  readonly statusProperty: string | null;
  /** Null: not configured, or missing. */
  readonly pauseProperty: string | null;
  /** Names of the properties read of each company; all exist. */
  readonly wanted: readonly string[];
  readonly missing: TargetSnapshot['missing'];
  /** Names read in lists: also who the company is, and what was merged into it. */
  readonly listed: readonly string[];
  /** Mapped properties that only HubSpot fills. */
  readonly closed: readonly string[];
  readonly timeZone: string;
  readonly showsOthers: boolean;
}

/** A company that is a row, or that may request a lead. */
export interface CompanyRow extends PresentRow<ShownCompany> {
  /** Nobody requested a lead for it. */
  readonly isOther: boolean;
}

/** Null: no id property, so no target yet. Throws `target.id-column-missing` when two companies could have one id, or it is not writable. */
export function locateProperties(
  found: readonly PropertyDefinition[],
  options: HubSpotOptions,
): CompanyTable | null {
  const properties = new Map(found.map((property) => [property.name, property]));
  const id = properties.get(options.idColumn);
  if (id === undefined) return null;
  if (id.hasUniqueValue !== true || isReadOnly(id)) throw noIdProperty(options.idColumn, isReadOnly(id));
  const fields = new Map<string, MappedProperty>();
  const missing: { field: string; message: string }[] = [];
  for (const { field, column, type, words } of options.fields) {
    const property = properties.get(column);
    if (property !== undefined) fields.set(field, { type, property, words });
    else missing.push({ field, message: missingMessage(column) });
  }
  const status = options.statusColumn === undefined ? undefined : properties.get(options.statusColumn);
  const statusProperty = status?.type === 'string' && !isReadOnly(status) ? status.name : null;
  const mapped = [...fields.values()].map(({ property }) => property);
  const optIn = properties.has(optInProperty) ? [optInProperty] : [];
  if (optIn.length === 0) missing.push({ field: optInProperty, message: missingMessage(optInProperty) });
  const pauseProperty = properties.get(options.pauseColumn ?? '')?.name ?? null;
  const names = [id.name, ...mapped.map(({ name }) => name), ...optIn];
  const wanted = new Set([...names, statusProperty ?? [], pauseProperty ?? []].flat());
  return {
    properties,
    fields,
    headings: options.fields,
    idProperty: id.name,
    statusProperty,
    pauseProperty,
    wanted: [...wanted],
    listed: [...new Set([...wanted, nameProperty, mergedProperty])],
    missing,
    closed: mapped.filter(isReadOnly).map(({ name }) => name),
    timeZone: options.timeZone,
    showsOthers: options.showsOthers ?? false,
  };
}

/** Null: without an id, and not requesting a lead (unless all are shown) or without any content for one. */
export function companyRow(company: ShownCompany, table: CompanyTable): CompanyRow | null {
  const leadId = leadIdOf(company, table);
  const isOther = leadId === null && company.properties[optInProperty] !== 'true';
  if (isOther && !table.showsOthers) return null;
  const cells = [...table.fields].map(
    ([field, mapped]) =>
      [field, cellOf(company.properties[mapped.property.name], mapped, table.timeZone)] as const,
  );
  if (leadId === null && cells.every(([, cell]) => cell === null)) return null;
  const status = table.statusProperty === null ? null : (company.properties[table.statusProperty] ?? null);
  const isPaused = table.pauseProperty !== null && pauses(company.properties[table.pauseProperty] ?? '');
  return {
    leadId,
    cells: Object.fromEntries(cells),
    status,
    place: company,
    isOther,
    ...(isPaused && { paused: true }),
  };
}

/** Record ids from the last full read, of rows that HubSpot does not find by lead id. */
export interface KnownIds {
  readonly asking: readonly string[];
  readonly others: ReadonlyMap<string, readonly string[]>;
  /** Companies whose lead id has another spelling, by its key. */
  readonly untidy: ReadonlyMap<string, readonly string[]>;
}

export function knownIds(rows: readonly CompanyRow[], { fields, idProperty }: CompanyTable): KnownIds {
  const others = rows.filter(({ isOther }) => isOther);
  const untidy = rows.filter(
    ({ leadId, place }) => leadId !== null && place.properties[idProperty] !== idKey(leadId),
  );
  return {
    asking: askingOf(rows),
    others: idsBy(others, ({ cells }) => contentKey(cells, fields.keys())),
    untidy: idsBy(untidy, ({ leadId }) => idKey(leadId ?? '')),
  };
}

export function askingOf(rows: readonly CompanyRow[]): readonly string[] {
  return rows.flatMap(({ leadId, isOther, place }) => (leadId === null && !isOther ? place.id : []));
}

function idsBy(rows: readonly CompanyRow[], key: (row: CompanyRow) => string) {
  const grouped = Map.groupBy(rows, key);
  return new Map([...grouped].map(([text, group]) => [text, group.map(({ place }) => place.id)]));
}

export function othersToLink(
  changes: readonly RowChange[],
  others: ReadonlyMap<string, readonly string[]>,
  { fields }: CompanyTable,
): readonly string[] {
  return changes.flatMap((change) =>
    change.kind === 'link' ? (others.get(contentKey(change.expect, fields.keys())) ?? []) : [],
  );
}

export function leadIdOf({ properties }: ShownCompany, { idProperty }: CompanyTable): string | null {
  const leadId = (properties[idProperty] ?? '').trim();
  return leadId === '' ? null : leadId;
}

/** Whether a reply has every requested property: HubSpot omits those that no longer exist. */
export function isWhole(company: ShownCompany, names: readonly string[]): boolean {
  return names.every((name) => company.properties[name] !== undefined);
}

/** Oldest first: record ids only grow. */
export function inOrder(companies: Iterable<ShownCompany>): ShownCompany[] {
  return [...companies].toSorted((a, b) => Number(a.id) - Number(b.id));
}

export function changed(what: string): LeadsyncError {
  return new LeadsyncError('target.changed', `${what} leadsync reads the properties again.`, {
    retry: 'now',
  });
}

/** Without it companies that are to be left alone would be written. */
export function assertPause({ pauseProperty }: CompanyTable, { pauseColumn }: HubSpotOptions): void {
  if (pauseColumn === undefined || pauseProperty !== null) return;
  const message = `HubSpot's companies have no property ${JSON.stringify(pauseColumn)}, which says what companies are paused. Nothing was changed.`;
  throw new LeadsyncError('target.pause-column-missing', message, {
    help: 'Restore it in HubSpot, set pauseColumn to another property, or run leadsync check --fix, which makes a new one.',
  });
}

/** A property was removed while leadsync read or wrote. */
export function propertyGone(): LeadsyncError {
  return changed('HubSpot no longer has a mapped property.');
}

function missingMessage(column: string): string {
  return `HubSpot's companies have no property ${JSON.stringify(column)}; the field is left out. leadsync check --fix creates it.`;
}

/** Without ids, no company can be assigned to its lead. */
export function idArchived(name: string): LeadsyncError {
  const message = `The property ${JSON.stringify(name)}, which holds the lead ids, is archived in HubSpot. Nothing was changed.`;
  return new LeadsyncError('target.id-column-missing', message, {
    help: 'Restore it in HubSpot (Settings, Properties, Archived properties), or run leadsync check --fix.',
  });
}

function noIdProperty(name: string, isClosed: boolean): LeadsyncError {
  const message = isClosed
    ? `HubSpot fills the property ${JSON.stringify(name)} itself, so it cannot hold lead ids. Nothing was changed.`
    : `HubSpot does not require unique values of the property ${JSON.stringify(name)}, so two companies could have one id. Nothing was changed.`;
  return new LeadsyncError('target.id-column-missing', message, {
    help: 'Set idColumn to a property with "Require unique values", or to a new name (leadsync check --fix creates it).',
  });
}

export function targetRow({ status, place, isOther, ...row }: CompanyRow, table: CompanyTable): TargetRow {
  const shown = table.statusProperty === null || isOther ? null : (status ?? '');
  return { ...row, row: Number(place.id), status: shown, ...(isOther && { other: true }) };
}

export interface MappedProperty {
  readonly type: FieldType;
  readonly property: PropertyDefinition;
  readonly words?: Words | undefined;
}

/** HubSpot's maximum per value. */
const mostCharacters = 65_536;

const mostOptions = 20;

/** HubSpot returns datetime as ISO with ms and date as YYYY-MM-DD; epoch ms is read as well. */
export function cellOf(
  text: string | null | undefined,
  { type, property, words }: MappedProperty,
  timeZone: string,
): Cell {
  if (!text) return null;
  const { isMoment, read } = fieldKinds[type];
  const cell = read(isMoment ? momentText(text, property.type) : text, timeZone);
  return cell === null || isUnreadable(cell) ? { ...cell, unreadable: text } : rowWord(cell, words);
}

function momentText(text: string, type: string): string {
  const hasEpoch = type === 'date' || type === 'datetime';
  const moment = new Date(hasEpoch && /^-?\d{1,16}$/.test(text) ? Number(text) : NaN);
  const iso = Number.isNaN(moment.getTime()) ? text : moment.toISOString();
  // A date property stores the day: it travels as midnight UTC.
  return type === 'date' ? iso.replace(/T00:00:00(\.000)?Z$/, '') : iso;
}

/** The text to send: empty for none. Only for values that pass `notStorable`. */
export function storedText(value: Value, mapped: MappedProperty, timeZone: string): string {
  if (!value || mapped.property.type === 'datetime') return value ?? '';
  return fieldKinds[mapped.type].write(value, timeZone);
}

/** Why a property cannot hold a value, as a sentence; null: no known reason. */
export function notStorable(value: string, mapped: MappedProperty, timeZone: string): string | null {
  const { property } = mapped;
  if (isReadOnly(property)) return `HubSpot fills the property ${property.name} itself; it is not writable.`;
  if (!value.isWellFormed()) return 'The text has half a character, which cannot be sent.';
  if (value.length > mostCharacters)
    return `HubSpot keeps at most ${mostCharacters} characters in a property, this text has ${value.length}.`;
  switch (property.type) {
    case 'enumeration':
      return notAnOption(value, property);
    case 'date':
      return notADay(value, mapped, timeZone);
    case 'datetime':
      return readInstant(value, 'UTC') === value ? null : holdsOnly(property, 'a date and a time');
    case 'number': {
      const isNumber = Number.isFinite(Number(value)) && String(Number(value)) === value;
      return isNumber ? null : holdsOnly(property, 'a number, and would show another text');
    }
    case 'bool':
      return value === 'true' || value === 'false' ? null : holdsOnly(property, 'true or false');
    default:
      return null;
  }
}

function holdsOnly({ name }: PropertyDefinition, what: string): string {
  return `The property ${name} holds ${what}. Map a text property.`;
}

export function isReadOnly({ calculated, modificationMetadata }: PropertyDefinition): boolean {
  return calculated === true || modificationMetadata?.readOnlyValue === true;
}

/** Options are compared by value, case-sensitive; checkbox lists are joined by semicolons. */
function notAnOption(value: string, { name, fieldType, options }: PropertyDefinition): string | null {
  const allowed = new Set((options ?? []).map((option) => option.value));
  // Properties whose options live elsewhere, such as users, list none.
  if (allowed.size === 0) return null;
  const chosen = fieldType === 'checkbox' ? value.split(';') : [value];
  if (chosen.every((each) => allowed.has(each))) return null;
  const listed = [...allowed].slice(0, mostOptions).map((each) => JSON.stringify(each));
  const more = allowed.size > mostOptions ? `, and ${allowed.size - mostOptions} more` : '';
  return `${JSON.stringify(value)} is none of the options of the property ${name} (case matters): ${listed.join(', ')}${more}. Add it in HubSpot, or to \`values\` of the field and run leadsync check --fix.`;
}

function notADay(value: string, { type, property }: MappedProperty, timeZone: string): string | null {
  if (fieldKinds[type].isMoment)
    return dayOf(Date.parse(value), timeZone) === null
      ? `The property ${property.name} holds no time. Map a datetime property.`
      : null;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value) && readInstant(value, 'UTC') === `${value}T00:00:00.000Z`;
  return isDay ? null : holdsOnly(property, 'a date as YYYY-MM-DD');
}
