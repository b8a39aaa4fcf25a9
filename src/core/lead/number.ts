/**
 * Whether a number of JavaScript holds what a text such as `17.5` or `1e3` says: within its range, and of a whole number
 * each digit. Digits after the point may be more than it keeps: programs write 0.1 as 0.10000000000000001.
 */
export function isExactNumber(text: string): boolean {
  const number = Number(text);
  const written = decimal(text);
  if (!isInRange(text) || written === null) return false;
  return written.exponent < 0 || decimal(String(number))?.key === written.key;
}

/** Whether a text says a number that is neither too large for one of JavaScript nor too near to zero. */
export function isInRange(text: string): boolean {
  const number = Number(text);
  return Number.isFinite(number) && (number !== 0 || decimal(text)?.key === '0');
}

/** Of ECMAScript's "JSON.parse source text access", which TypeScript does not know yet. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON(this: void, text: string): { readonly rawJSON: string };
  isRawJSON(this: void, value: unknown): boolean;
};

/** A number in JSON as it was written; `JSON.stringify` gives it back. */
export const writtenNumber = rawJSON;

/** What `writtenNumber` was made of; null: it is something else. */
export function writtenAs(json: unknown): string | null {
  return isRawJSON(json) ? (json as ReturnType<typeof rawJSON>).rawJSON : null;
}

/** The digits of a number without zeros at either end, and the power of ten of the last one. */
function decimal(text: string): { readonly key: string; readonly exponent: number } | null {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^\s*([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?\s*$/.exec(text) ?? [];
  const digits = `${whole}${fraction}`;
  if (digits === '') return null;
  const kept = digits.replace(/0+$/, '');
  const exponent = Number(power) - fraction.length + digits.length - kept.length;
  const significant = kept.replace(/^0+/, '');
  if (significant === '') return { key: '0', exponent: 0 };
  return { key: `${sign === '-' ? '-' : ''}${significant}e${exponent}`, exponent };
}
