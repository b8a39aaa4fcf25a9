import { badValues, type PropertyFault } from './api-fault.ts';
import type { Company, Portal } from './portal.ts';
import { storedValue } from './stored-value.ts';

interface CheckOptions {
  readonly trim: boolean;
  /** Whether validation rules apply. */
  readonly rules: boolean;
  /** Unique values claimed by the batch so far, as `property=value`; this record's are added. */
  readonly claims?: Set<string>;
}

/**
 * The values as HubSpot stores them, for an existing record or (null) a new one. Throws ApiFault for refused values, and
 * then claims nothing.
 */
export function checkValues(
  portal: Portal,
  company: Company | null,
  properties: Readonly<Record<string, string>>,
  { trim, rules, claims }: CheckOptions,
): Map<string, string> {
  const faults: PropertyFault[] = [];
  const values = new Map<string, string>();
  const claimed: string[] = [];
  for (const [name, text] of Object.entries(properties)) {
    const property = portal.property(name);
    if (property === undefined) {
      faults.push({ name, code: 'PROPERTY_DOESNT_EXIST', message: `Property "${name}" does not exist` });
      continue;
    }
    if (property.readOnly) {
      const message = `"${name}" is a read only property; its value cannot be set.`;
      faults.push({ name, code: 'READ_ONLY_VALUE', message });
      continue;
    }
    const value = storedValue(property, text, trim);
    if (typeof value !== 'string') {
      faults.push(value);
      continue;
    }
    const broken = rules
      ? portal.rules.find((rule) => rule.property === name && !rule.allows(value))
      : undefined;
    if (broken !== undefined) faults.push({ name, code: 'FAILED_VALIDATION_RULE', message: broken.message });
    if (property.hasUniqueValue && value !== '') {
      const holder = portal.holder(name, value);
      const claim = `${name}=${value}`;
      if ((holder !== undefined && holder.id !== company?.id) || claims?.has(claim) === true) {
        const message = `${holder?.id ?? 'Another input'} already has the value ${value} of ${name}.`;
        faults.push({ name, code: 'CONFLICTING_UNIQUE_VALUE', message });
      }
      claimed.push(claim);
    }
    values.set(name, value);
  }
  if (faults.length > 0) throw badValues(faults);
  for (const claim of claimed) claims?.add(claim);
  return values;
}
