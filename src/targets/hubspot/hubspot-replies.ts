import { z } from 'zod';

/**
 * Bodies of HubSpot's CRM API, version 2026-09, parsed leniently: only what is used, unknown fields ignored, everything
 * optional on which documentation and recordings disagree.
 */

const value = z.union([z.string(), z.number(), z.boolean()]).transform(String).nullish();
const id = z.union([z.string().regex(/^\d+$/), z.number()]).transform(String);
const cursor = z.union([z.string().min(1), z.number()]).transform(String);

const company = z.object({
  id,
  properties: z.record(z.string(), value),
  archived: z.boolean().nullish(),
  objectWriteTraceId: z.string().nullish(),
});
const page = z.object({
  results: z.array(company),
  paging: z.object({ next: z.object({ after: cursor }).nullish() }).nullish(),
});

const version = z.object({
  value,
  timestamp: z.string(),
  sourceType: z.string().nullish(),
  sourceId: z.union([z.string(), z.number()]).transform(String).nullish(),
  updatedByUserId: z.union([z.string(), z.number()]).transform(String).nullish(),
});
const histories = z.object({
  results: z.array(z.object({ id, propertiesWithHistory: z.record(z.string(), z.array(version)).nullish() })),
});
const owner = z.object({
  firstName: z.string().nullish(),
  lastName: z.string().nullish(),
  email: z.string().nullish(),
});

const texts = z.union([z.array(z.unknown()), z.unknown()]).transform((found) => {
  const list = Array.isArray(found) ? found : [found];
  return list
    .filter((each): each is string | number => ['string', 'number'].includes(typeof each))
    .map(String);
});
const detail = z.object({
  category: z.string().nullish().catch(null),
  code: z.string().nullish().catch(null),
  message: z.string().nullish().catch(null),
  context: z.record(z.string(), texts).nullish().catch(null),
});
const fault = detail.extend({ errors: z.array(detail).nullish().catch(null) });
const batch = z.object({
  results: z.array(company).nullish(),
  errors: z.array(fault).nullish(),
});
const associations = z.object({
  results: z.array(z.object({ from: z.object({ id }), to: z.array(z.unknown()) })),
  errors: z.array(fault).nullish(),
});
const errorBody = fault.extend({
  correlationId: z.string().nullish().catch(null),
  policyName: z.string().nullish().catch(null),
});

const property = z.object({
  name: z.string().min(1),
  type: z.string(),
  description: z.string().nullish(),
  fieldType: z.string().nullish(),
  hasUniqueValue: z.boolean().nullish(),
  calculated: z.boolean().nullish(),
  archived: z.boolean().nullish(),
  modificationMetadata: z.looseObject({ readOnlyValue: z.boolean().nullish() }).nullish(),
  /** Loose: they are sent back when one is added. */
  options: z.array(z.looseObject({ value: z.string() })).nullish(),
});
const named = z.object({ results: z.array(z.object({ name: z.string() })) });

/** A company in a reply, with the requested properties; null: empty. */
export interface ShownCompany {
  readonly id: string;
  readonly properties: Readonly<Record<string, string | null | undefined>>;
  readonly traceId: string | null;
}

export interface CompanyPage {
  readonly companies: readonly ShownCompany[];
  /** Cursor of the next page; null: last page. */
  readonly after: string | null;
}

/** An error in a reply, about one input or all. */
export interface SaidFault {
  readonly category: string | null;
  readonly code: string | null;
  readonly message: string | null;
  /** By name, such as `objectWriteTraceId`, `ids`, `id`; always lists. */
  readonly context: Readonly<Record<string, readonly string[]>>;
  /** One per property concerned. */
  readonly details: readonly SaidFault[];
}

export interface BatchReply {
  readonly results: readonly ShownCompany[];
  readonly errors: readonly SaidFault[];
}

export interface ErrorReply extends SaidFault {
  readonly correlationId: string | null;
  readonly policyName: string | null;
}

/** A past value of a property, and who set it. */
export type PropertyVersion = z.infer<typeof version>;

export type PropertyDefinition = z.infer<typeof property>;

/** Null: no page. An object without a list of results never ends a list. */
export function readPage(json: unknown): CompanyPage | null {
  const found = page.safeParse(json);
  if (!found.success) return null;
  return { companies: found.data.results.map(shown), after: found.data.paging?.next?.after ?? null };
}

/** Null: neither results nor errors. */
export function readBatch(json: unknown): BatchReply | null {
  const found = batch.safeParse(json);
  if (!found.success || (found.data.results ?? found.data.errors ?? null) === null) return null;
  return { results: (found.data.results ?? []).map(shown), errors: (found.data.errors ?? []).map(said) };
}

/** Property values by company, in reply order; null: not such a list. */
export function readHistories(
  json: unknown,
): ReadonlyMap<string, Readonly<Record<string, readonly PropertyVersion[]>>> | null {
  const found = histories.safeParse(json);
  if (!found.success) return null;
  return new Map(
    found.data.results.map(({ id, propertiesWithHistory }) => [id, propertiesWithHistory ?? {}]),
  );
}

/** An owner's name, else e-mail address, or empty; null: not an owner. */
export function readOwner(json: unknown): string | null {
  const found = owner.safeParse(json);
  if (!found.success) return null;
  const { firstName, lastName, email } = found.data;
  return [firstName, lastName].filter(Boolean).join(' ') || (email ?? '');
}

/** Ids of the companies with any association, and the errors of others; null: not such a list. */
export function readAssociations(
  json: unknown,
): { readonly associated: ReadonlySet<string>; readonly errors: readonly SaidFault[] } | null {
  const found = associations.safeParse(json);
  if (!found.success) return null;
  const { results, errors } = found.data;
  const associated = results.flatMap(({ from, to }) => (to.length > 0 ? from.id : []));
  return { associated: new Set(associated), errors: (errors ?? []).map(said) };
}

/** Of any body, JSON or not. */
export function readError(json: unknown): ErrorReply {
  const { data = {} } = errorBody.safeParse(json);
  return {
    ...said(data),
    correlationId: data.correlationId ?? null,
    policyName: data.policyName ?? null,
  };
}

/** Unarchived properties; null: not such a list. */
export function readProperties(json: unknown): readonly PropertyDefinition[] | null {
  const found = z.object({ results: z.array(property) }).safeParse(json);
  return found.success ? found.data.results.filter(({ archived }) => archived !== true) : null;
}

export function readProperty(json: unknown): PropertyDefinition | null {
  return property.safeParse(json).data ?? null;
}

/** Null: not an account. */
export function readAccount(json: unknown): { readonly portalId: string; readonly timeZone: string } | null {
  const { data } = z
    .object({ portalId: z.int().transform(String), timeZone: z.string().min(1) })
    .safeParse(json);
  return data ?? null;
}

/** Null: not a list of names. */
export function readNames(json: unknown): readonly string[] | null {
  return named.safeParse(json).data?.results.map(({ name }) => name) ?? null;
}

function shown({ id, properties, objectWriteTraceId }: z.infer<typeof company>): ShownCompany {
  return { id, properties, traceId: objectWriteTraceId || null };
}

function said({ category, code, message, context, errors }: Partial<z.infer<typeof fault>>): SaidFault {
  return {
    category: category ?? null,
    code: code ?? null,
    message: message ?? null,
    context: context ?? {},
    details: (errors ?? []).map(said),
  };
}
