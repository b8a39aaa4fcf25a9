import { z } from 'zod';
import { notFound } from './api-fault.ts';
import { batchReply, checkInputs } from './batches.ts';
import { checkInput } from './check-input.ts';
import type { ApiCall } from './operations.ts';
import type { Reply } from './send-reply.ts';

const bodySchema = z.strictObject({ inputs: z.array(z.strictObject({ id: z.string().min(1) })) });

/** `POST …/associations/…/companies/tickets/batch/read`: companies without tickets are named in `errors`. */
export function readTickets(call: ApiCall): Reply {
  const { portal } = call;
  const { inputs } = checkInput(bodySchema, call.body);
  checkInputs(inputs);
  const results: object[] = [];
  const errors: object[] = [];
  for (const { id } of inputs) {
    const count = portal.live(id) === undefined ? 0 : (portal.tickets.get(id) ?? 0);
    const to = Array.from({ length: count }, (_, nth) => ({
      toObjectId: `7${id}${nth}`,
      associationTypes: [{ category: 'HUBSPOT_DEFINED', typeId: 340, label: null }],
    }));
    if (count > 0) results.push({ from: { id }, to });
    else errors.push(notFound(`No ticket is associated with company ${id}.`).inBatch({ fromObjectId: [id] }));
  }
  return batchReply(call, 200, results, errors);
}
