import { LeadsApiError } from '../../../src/leads-api/leads-api-error.ts';
import type { LeadsPort } from '../../../src/ports/leads-service.ts';
import { never, thrown } from './leads-api-server.ts';

export const firstPage = { cursor: null, limit: null };
/** A page without leads, as bytes. */
export const okPage = 'HTTP/1.1 200 OK\r\ncontent-length: 31\r\n\r\n{"items":[], "nextCursor":null}';

type CallOperation = (leads: LeadsPort, signal?: AbortSignal) => Promise<unknown>;
export const operations: Record<string, CallOperation> = {
  list: (leads, signal = never) => leads.list(firstPage, signal),
  get: (leads, signal = never) => leads.get('a', signal),
  create: (leads, signal = never) => leads.create({ companyName: 'A' }, signal),
  update: (leads, signal = never) => leads.update('a', { companyName: 'A' }, signal),
  delete: (leads, signal = never) => leads.delete('a', signal),
};
/** The five calls by name, for tests that hold for all of them. */
export const each = Object.entries(operations);

/** The error that a call throws, which is one of the client's own. */
export async function apiError(call: Promise<unknown>): Promise<LeadsApiError> {
  const error = await thrown(call);
  if (error instanceof LeadsApiError) return error;
  throw new Error('The error is not one of the client.', { cause: error });
}
