import { z } from 'zod';
import { badRequest } from './api-fault.ts';
import { checkInput } from './check-input.ts';
import type { ApiCall } from './operations.ts';
import { showCompany } from './show-company.ts';
import type { Reply } from './send-reply.ts';

const querySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(10),
  after: z.string().optional(),
  properties: z.string().optional(),
  archived: z.enum(['true', 'false']).default('false'),
});

/** `GET …/companies`: by record id, in pages; with `archived=true` the recycle bin. */
export function listCompanies({ portal, query }: ApiCall): Reply {
  const { limit, after, properties, archived } = checkInput(querySchema, query);
  const last = after === undefined ? 0 : readCursor(after);
  const wanted = archived === 'true';
  const rest = [...portal.companies.values()].filter(
    ({ id, archivedAt }) => Number(id) > last && (archivedAt !== null) === wanted,
  );
  const page = rest.slice(0, limit);
  const next = page.at(-1);
  return {
    status: 200,
    body: {
      results: page.map((company) =>
        showCompany(
          portal,
          company,
          properties?.split(',').map((name) => name.trim()),
        ),
      ),
      ...(rest.length > limit && next !== undefined && { paging: { next: { after: writeCursor(next.id) } } }),
    },
  };
}

function writeCursor(id: string): string {
  return Buffer.from(`after ${id}`).toString('base64url');
}

function readCursor(cursor: string): number {
  const place = /^after (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1];
  if (place === undefined) throw badRequest('The cursor in "after" is not valid.');
  return Number(place);
}
