import { count } from '../core/lead/counted.ts';
import { type FieldMapping, headingOf } from '../core/lead/mapping.ts';
import { charactersIn, mostOfRecord } from '../core/lead/text-size.ts';
import { LeadsyncError } from '../errors.ts';

/** Throws `target.too-large` or `leads.too-large` for a record that is larger than leadsync holds of one. */
export function refuseLarge(
  side: 'leads' | 'target',
  name: string,
  values: Readonly<Record<string, unknown>>,
  fields: readonly FieldMapping[],
): void {
  const sizes = fields.map(({ field }) => ({ field, size: charactersIn(values[field]) }));
  const sum = sizes.reduce((total, { size }) => total + size, 0);
  if (sum <= mostOfRecord) return;
  const [longest] = sizes.toSorted((a, b) => b.size - a.size);
  const heading = headingOf(fields, longest?.field ?? '');
  throw new LeadsyncError(
    `${side}.too-large`,
    `${name} has ${count(sum)} characters, and leadsync takes ${count(mostOfRecord)} of one: ${count(longest?.size ?? 0)} are in "${heading}". Reading was stopped, and nothing was changed`,
    { help: 'Shorten its longest texts, or take the column out of `fields`.' },
  );
}
