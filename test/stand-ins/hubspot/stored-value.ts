import { Temporal } from 'temporal-polyfill';
import type { PropertyFault } from './api-fault.ts';
import type { Property } from './property.ts';

const mostCharacters = 65_536;
const dayMs = 86_400_000;
const isNumber = /^-?\d+$/;
const isoInstant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;

/**
 * The value as HubSpot stores it ('': empty), or why it is refused (facts: section 5). Datetimes keep milliseconds.
 * `trim`: strings lose white space at their ends.
 */
export function storedValue(property: Property, text: string, trim: boolean): string | PropertyFault {
  if (text === '') return '';
  const refuse = (code: string, message: string): PropertyFault => ({ name: property.name, code, message });
  switch (property.type) {
    case 'string':
    case 'phone_number': {
      if (text.length <= mostCharacters) return trim ? text.trim() : text;
      return refuse('VALUE_TOO_LONG', `The value is longer than ${mostCharacters} characters.`);
    }
    case 'number':
      return /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)
        ? text
        : refuse('INVALID_NUMBER', `${text} was not a valid number.`);
    case 'bool':
    case 'enumeration': {
      const known = property.options.map(({ value }) => value);
      const values = property.fieldType === 'checkbox' ? text.split(';') : [text];
      const unknown = known.length === 0 ? undefined : values.find((value) => !known.includes(value));
      if (unknown === undefined) return text;
      return refuse('INVALID_OPTION', `${unknown} was not one of the allowed options: [${known.join(', ')}]`);
    }
    case 'datetime':
      return (
        toIso(isNumber.test(text) ? Number(text) : instantOf(text)) ??
        refuse('INVALID_LONG', `${text} was not a valid long.`)
      );
    case 'date': {
      const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
      const epochMs = isDay ? Date.parse(text) : isNumber.test(text) ? Number(text) : Number.NaN;
      const day = epochMs % dayMs === 0 ? toIso(epochMs)?.slice(0, 10) : undefined;
      // Date.parse shifts or rejects a day that the month does not have.
      if (day !== undefined && (!isDay || day === text)) return day;
      return refuse('INVALID_DATE', `${text} is not midnight UTC, which a date property needs.`);
    }
  }
}

function toIso(epochMs: number): string | undefined {
  const date = new Date(epochMs);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** Epoch ms; NaN for no instant, such as 30 February. */
function instantOf(text: string): number {
  if (!isoInstant.test(text)) return Number.NaN;
  try {
    return Temporal.Instant.from(text).epochMilliseconds;
  } catch {
    return Number.NaN;
  }
}
