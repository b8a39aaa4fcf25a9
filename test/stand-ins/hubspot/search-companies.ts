import { z } from 'zod';
import { badRequest } from './api-fault.ts';
import { checkInput } from './check-input.ts';
import type { ApiCall } from './operations.ts';
import { showCompany } from './show-company.ts';
import type { Reply } from './send-reply.ts';

const cap = 10_000;

const filterSchema = z.strictObject({
  propertyName: z.string(),
  operator: z.enum(['EQ', 'NEQ', 'GT', 'GTE', 'LT', 'LTE', 'IN', 'HAS_PROPERTY', 'NOT_HAS_PROPERTY']),
  value: z.string().optional(),
  values: z.array(z.string()).optional(),
});

const bodySchema = z.strictObject({
  filterGroups: z
    .array(z.strictObject({ filters: z.array(filterSchema).max(6) }))
    .max(5)
    .default([]),
  sorts: z
    .array(z.strictObject({ propertyName: z.string(), direction: z.enum(['ASCENDING', 'DESCENDING']) }))
    .max(1)
    .default([]),
  properties: z.array(z.string()).optional(),
  limit: z.int().min(1).max(200).default(10),
  after: z.string().regex(/^\d+$/).default('0'),
});

/** `POST …/companies/search`: reads the index, which lags behind and never has the recycle bin. */
export function searchCompanies({ portal, body: given }: ApiCall): Reply {
  const body = checkInput(bodySchema, given);
  const filters = body.filterGroups.flatMap((group) => group.filters);
  if (filters.length > 18) throw badRequest('The search has more than 18 filters.');
  const from = Number(body.after);
  if (from + body.limit > cap) throw badRequest(`A search gives at most ${cap} results.`);

  const found = portal
    .indexed()
    .filter(
      ({ values }) =>
        body.filterGroups.length === 0 ||
        body.filterGroups.some((group) =>
          group.filters.every((filter) => matches(values.get(filter.propertyName), filter)),
        ),
    );
  const [sort] = body.sorts;
  if (sort !== undefined) {
    const sign = sort.direction === 'ASCENDING' ? 1 : -1;
    const { propertyName: name } = sort;
    found.sort((one, other) => sign * compare(one.values.get(name) ?? '', other.values.get(name) ?? ''));
  }
  const page = found.slice(from, from + body.limit);
  const end = from + page.length;
  return {
    status: 200,
    body: {
      total: found.length,
      results: page.map((company) => showCompany(portal, company, body.properties)),
      ...(end < found.length && { paging: { next: { after: String(end) } } }),
    },
  };
}

function matches(value: string | undefined, filter: z.infer<typeof filterSchema>): boolean {
  const { operator, value: than = '', values = [] } = filter;
  if (operator === 'HAS_PROPERTY') return value !== undefined;
  if (operator === 'NOT_HAS_PROPERTY') return value === undefined;
  if (operator === 'NEQ') return value !== than;
  if (value === undefined) return false;
  if (operator === 'IN') return values.includes(value);
  const order = compare(value, than);
  const accepted = { EQ: order === 0, GT: order > 0, GTE: order >= 0, LT: order < 0, LTE: order <= 0 };
  return accepted[operator];
}

/** Compares numbers by size, instants by time, all else as text. */
function compare(one: string, other: string): number {
  const [first, second] = [one, other].map((text) =>
    /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : Date.parse(text),
  );
  if (first !== undefined && second !== undefined && !Number.isNaN(first - second)) return first - second;
  return one < other ? -1 : one > other ? 1 : 0;
}
