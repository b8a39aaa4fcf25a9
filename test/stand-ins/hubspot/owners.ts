import { z } from 'zod';
import { notFound } from './api-fault.ts';
import { checkInput } from './check-input.ts';
import type { ApiCall } from './operations.ts';
import type { Reply } from './send-reply.ts';

/** `GET /crm/owners/…/{userId}?idProperty=userId`. */
export function getOwner({ portal, query, name }: ApiCall): Reply {
  checkInput(z.strictObject({ idProperty: z.literal('userId') }), query);
  const owner = portal.owners.find(({ userId }) => String(userId) === name);
  if (owner === undefined) throw notFound(`Owner not found: ${name}`);
  const at = new Date(portal.now()).toISOString();
  const body = {
    id: String(owner.userId + 1_000),
    type: 'PERSON',
    ...owner,
    userIdIncludingInactive: owner.userId,
    createdAt: at,
    updatedAt: at,
    archived: false,
  };
  return { status: 200, body };
}
