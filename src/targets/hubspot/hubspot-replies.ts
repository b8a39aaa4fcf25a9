import { z } from 'zod';

/** HubSpot's CRM API, version 2026-09: only what is used; optional where documentation and recordings disagree. */

const scalar = z.union([z.string(), z.number(), z.boolean()]).transform(String).nullish();
const number = z.union([z.string(), z.number()]).transform(String);
const id = z.union([z.string().regex(/^\d+$/), z.number()]).transform(String);
const cursor = z.union([z.string().min(1), z.number()]).transform(String);
const word = z.string().nullable().catch(null);

const company = z
  .object({ id, properties: z.record(z.string(), scalar), objectWriteTraceId: z.string().nullish() })
  .transform(({ objectWriteTraceId, ...shown }) => ({ ...shown, traceId: objectWriteTraceId || null }));

/** A company in a reply, with the requested properties; null: empty. */
export type ShownCompany = z.infer<typeof company>;

/** `after`: cursor of the next page; null: last page. An object without results is no page: it would end a list early. */
export const companyPage = z
  .object({
    results: z.array(company),
    paging: z.object({ next: z.object({ after: cursor }).nullish() }).nullish(),
  })
  .transform(({ results, paging }) => ({ companies: results, after: paging?.next?.after ?? null }))
  .describe('a page of companies');

export const changedProperty = 'hs_lastmodifieddate';

export const lastChangeReply = z
  .object({
    total: z.int(),
    results: z.array(z.object({ id, properties: z.object({ [changedProperty]: z.iso.datetime() }) })),
  })
  .transform(({ total, results: [last] }) =>
    last === undefined
      ? null
      : { total, id: last.id, changedAt: Date.parse(last.properties[changedProperty]) },
  )
  .describe('the results of a search');

export interface SaidFault {
  readonly category: string | null;
  readonly code: string | null;
  readonly message: string | null;
  /** By name, such as `objectWriteTraceId`, `ids`, `id`; always lists. */
  readonly context: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly SaidFault[];
  /** These two only of a whole reply. */
  readonly correlationId: string | null;
  readonly policyName: string | null;
}

const texts = z.unknown().transform((found) =>
  [found]
    .flat()
    .filter((each) => typeof each === 'string' || typeof each === 'number')
    .map(String),
);
const fault: z.ZodType<SaidFault> = z.object({
  category: word,
  code: word,
  message: word,
  context: z.record(z.string(), texts).catch({}),
  get errors() {
    return z.array(fault).catch([]);
  },
  correlationId: word,
  policyName: word,
});
const faults = z
  .array(fault)
  .nullish()
  .transform((found) => found ?? []);

/** Of any body, JSON or not. */
export function readError(json: unknown): SaidFault {
  return fault.safeParse(json).data ?? fault.parse({});
}

export const batchReply = z
  .object({ results: z.array(company).nullish(), errors: z.array(fault).nullish() })
  .refine(({ results, errors }) => (results ?? errors ?? null) !== null)
  .transform(({ results, errors }) => ({ results: results ?? [], errors: errors ?? [] }))
  .describe('the results of a batch');

export type BatchReply = z.infer<typeof batchReply>;

/** Empty when everything is archived. */
export const archiveReply = z
  .union([z.null().transform(() => ({ results: [], errors: [] })), batchReply])
  .describe('nothing');

const version = z.object({
  value: scalar,
  timestamp: z.string(),
  sourceType: z.string().nullish(),
  sourceId: number.nullish(),
  updatedByUserId: number.nullish(),
});

export type PropertyVersion = z.infer<typeof version>;

export const historiesReply = z
  .object({
    results: z.array(
      z.object({ id, propertiesWithHistory: z.record(z.string(), z.array(version)).nullish() }),
    ),
  })
  .transform(
    ({ results }) =>
      new Map(results.map(({ id, propertiesWithHistory }) => [id, propertiesWithHistory ?? {}])),
  )
  .describe('the history of companies');

/** An owner's name, else e-mail address, or empty. */
export const ownerReply = z
  .object({ firstName: z.string().nullish(), lastName: z.string().nullish(), email: z.string().nullish() })
  .transform(
    ({ firstName, lastName, email }) => [firstName, lastName].filter(Boolean).join(' ') || email || '',
  )
  .describe('an owner');

/** Ids of the companies with any association, and the errors of others. */
export const associationsReply = z
  .object({
    results: z.array(z.object({ from: z.object({ id }), to: z.array(z.unknown()) })),
    errors: faults,
  })
  .transform(({ results, errors }) => {
    const associated = results.flatMap(({ from, to }) => (to.length > 0 ? from.id : []));
    return { associated: new Set(associated), errors };
  })
  .describe('a list of associations');

export const propertyReply = z
  .object({
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
  })
  .describe('a property');

export type PropertyDefinition = z.infer<typeof propertyReply>;

export const propertiesReply = z
  .object({ results: z.array(propertyReply) })
  .transform(({ results }) => results.filter(({ archived }) => archived !== true))
  .describe('a list of properties');

export const namesReply = z
  .object({ results: z.array(z.object({ name: z.string() })) })
  .transform(({ results }) => results.map(({ name }) => name))
  .describe('a list of names');

export const accountReply = z
  .object({ portalId: z.int().transform(String), timeZone: z.string().min(1) })
  .describe('an account');

export const groupReply = z.looseObject({}).describe('a group');
