import { isExactNumber, writtenNumber } from '../core/lead/number.ts';
import { parseJson } from '../parse-json.ts';

/** Cheap, and never wrong in saying no: digits that may be too many for a number, or an exponent. */
const mayBeInexact = /\d[\d.]{15}|\d[eE][+-]?\d/;

/** A number that none of JavaScript holds (1e400, an id of 20 digits) is a `writtenNumber`, which `JSON.stringify` gives back. Undefined: not JSON. */
export function parseLeadJson(text: string): unknown {
  if (!mayBeInexact.test(text)) return parseJson(text);
  try {
    return JSON.parse(text, (_key, value: unknown, { source }: { readonly source?: string } = {}) =>
      source !== undefined && typeof value === 'number' && !isExactNumber(source)
        ? writtenNumber(source)
        : value,
    ) as unknown;
  } catch {
    // Not JSON, or nested too deeply for the function above.
    return parseJson(text);
  }
}
