import { dayOf } from '../../core/lead/day.ts';
import { fieldKinds } from '../../core/lead/field-kinds.ts';
import { readInstant } from '../../core/lead/instant.ts';
import { type Cell, type FieldType, isUnreadable, type Value } from '../../core/lead/value.ts';
import type { PropertyDefinition } from './hubspot-replies.ts';

export interface MappedProperty {
  readonly type: FieldType;
  readonly property: PropertyDefinition;
}

/** HubSpot's maximum per value. */
const mostCharacters = 65_536;

const mostOptions = 20;

/** HubSpot returns datetime as ISO with ms and date as YYYY-MM-DD; epoch ms is read as well. */
export function cellOf(
  text: string | null | undefined,
  { type, property }: MappedProperty,
  timeZone: string,
): Cell {
  if (!text) return null;
  const { isMoment, read } = fieldKinds[type];
  const cell = read(isMoment ? momentText(text, property.type) : text, timeZone);
  return cell === null || isUnreadable(cell) ? { ...cell, unreadable: text } : cell;
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
