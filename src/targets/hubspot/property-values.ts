import { dayOf, instantText } from '../../core/lead/day.ts';
import { readInstant } from '../../core/lead/instant.ts';
import type { Cell, FieldType, Value } from '../../core/lead/value.ts';
import type { PropertyDefinition } from './hubspot-replies.ts';

export interface MappedProperty {
  readonly type: FieldType;
  readonly property: PropertyDefinition;
}

/** HubSpot's maximum per value. */
const mostCharacters = 65_536;

const mostOptions = 20;

/** HubSpot returns datetime as ISO with ms and date as YYYY-MM-DD; epoch ms is read as well. */
export function cellOf(text: string | null | undefined, mapped: MappedProperty, timeZone: string): Cell {
  if (text === null || text === undefined || text === '') return null;
  if (mapped.type === 'text') return text;
  return readMoment(text, mapped.property.type, timeZone) ?? { unreadable: text };
}

function readMoment(text: string, type: string, timeZone: string): string | null {
  const hasEpoch = type === 'date' || type === 'datetime';
  const moment = hasEpoch && /^-?\d{1,16}$/.test(text) ? new Date(Number(text)) : null;
  if (moment !== null && Number.isNaN(moment.getTime())) return null;
  if (type !== 'date') return moment?.toISOString() ?? readInstant(text, timeZone);
  // A date property stores the day: it travels as midnight UTC.
  const day = (moment?.toISOString() ?? text).replace(/T00:00:00(\.000)?Z$/, '');
  return readInstant(day, timeZone);
}

/** The text to send: empty for none. Only for values that pass `notStorable`. */
export function storedText(value: Value, mapped: MappedProperty, timeZone: string): string {
  if (value === null || value === '') return '';
  const holdsMoments = mapped.type === 'text' || mapped.property.type === 'datetime';
  return holdsMoments ? value : instantText(value, timeZone);
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
  if (type === 'instant')
    return dayOf(Date.parse(value), timeZone) === null
      ? `The property ${property.name} holds no time. Map a datetime property.`
      : null;
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(value) && readInstant(value, 'UTC') === `${value}T00:00:00.000Z`;
  return isDay ? null : holdsOnly(property, 'a date as YYYY-MM-DD');
}
