import { z } from 'zod';
import type { Secret } from './secret.ts';

export type Readable<T> = T extends Secret | string | number | boolean | undefined
  ? T | undefined
  : { readonly [K in keyof T]?: Readable<T[K]> | undefined };

/** What a schema makes of a value as far as it is right: what is of a wrong kind is left out, defaults are filled in, rules for texts and lists are passed over. */
export function readable<T>(schema: z.ZodType<T>, raw: unknown): Readable<T> | undefined {
  return read(schema, raw) as Readable<T> | undefined;
}

function read(schema: z.core.$ZodType, raw: unknown): unknown {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if ('innerType' in def) {
    const preset = 'defaultValue' in def ? def.defaultValue : undefined;
    const found = raw === undefined ? undefined : read(def.innerType, raw);
    return found === undefined && preset !== undefined ? read(def.innerType, preset) : found;
  }
  switch (def.type) {
    case 'object': {
      if (!isMapping(raw)) return undefined;
      return Object.fromEntries(
        Object.entries(def.shape).map(([key, inner]) => [key, read(inner, raw[key])]),
      );
    }
    case 'record': {
      const entries = isMapping(raw) ? Object.entries(raw) : [];
      return Object.fromEntries(entries.map(([key, value]) => [key, read(def.valueType, value)]));
    }
    case 'array':
      return Array.isArray(raw) ? raw.map((item) => read(def.element, item)) : undefined;
    case 'union': {
      const key = 'discriminator' in def ? String(def.discriminator) : undefined;
      const forms = def.options.map((option) => read(option, raw)).filter((form) => form !== undefined);
      return (
        forms.find((form) => key === undefined || (isMapping(form) && form[key] !== undefined)) ?? forms[0]
      );
    }
    case 'string':
      return typeof raw === 'string' ? raw : undefined;
    default:
      return z.safeParse(schema, raw).data;
  }
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
