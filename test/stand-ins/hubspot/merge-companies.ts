import { z } from 'zod';
import { badRequest, notFound } from './api-fault.ts';
import { checkInput } from './check-input.ts';
import type { ApiCall } from './operations.ts';
import { showCompany } from './show-company.ts';
import type { Reply } from './send-reply.ts';

const bodySchema = z.strictObject({ primaryObjectId: z.string(), objectIdToMerge: z.string() });

/** `POST …/companies/merge`. */
export function mergeCompanies({ portal, behaviour, body }: ApiCall): Reply {
  const { primaryObjectId, objectIdToMerge } = checkInput(bodySchema, body);
  const [winner, loser] = [portal.live(primaryObjectId), portal.live(objectIdToMerge)];
  if (winner === undefined || loser === undefined) {
    throw notFound('Could not find the companies to merge.', [primaryObjectId, objectIdToMerge]);
  }
  if (winner === loser) throw badRequest('A company cannot be merged with itself.');
  const { merge, mergedInBin } = behaviour;
  const merged = portal.merge(winner, loser, { keepWinner: merge === 'primary', intoBin: mergedInBin });
  return { status: 200, body: showCompany(portal, merged) };
}
