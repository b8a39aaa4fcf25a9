import type { Reply } from '../hubspot/send-reply.ts';

/** An error body as Microsoft documents it ("Microsoft Graph error responses and resource types"). */
export function graphError(
  status: number,
  code: string,
  message: string,
  { inner, retryAfter }: { readonly inner?: string; readonly retryAfter?: string } = {},
): Reply {
  const ids = { date: '2026-11-23T10:00:00', 'request-id': '00000000-0000-0000-0000-000000000001' };
  return {
    status,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
    body: {
      error: { code, message, innerError: { ...(inner !== undefined && { code: inner }), ...ids } },
    },
  };
}

export const itemNotFound = (): Reply => graphError(404, 'itemNotFound', 'The resource could not be found.');
export const accessDenied = (): Reply => graphError(403, 'accessDenied', 'Access denied');
export const invalidRequest = (message: string): Reply => graphError(400, 'invalidRequest', message);
export const unauthenticated = (): Reply =>
  graphError(401, 'InvalidAuthenticationToken', 'Access token has expired or is not yet valid.');
/** As reported: microsoft-graph-explorer-v4 #3435. */
export const resourceLocked = (): Reply =>
  graphError(423, 'notAllowed', 'The resource you are attempting to access is locked', {
    inner: 'resourceLocked',
  });
/** As reported: abraunegg/onedrive #24. */
export const preconditionFailed = (): Reply =>
  graphError(412, 'notAllowed', "ETag does not match current item's value", {
    inner: 'entityTagDoesNotMatch',
  });
/** As reported for SharePoint: onedrive-api-docs #1143. */
export const resourceModified = (): Reply =>
  graphError(409, 'resourceModified', "ETag does not match current item's value");
export const nameAlreadyExists = (): Reply =>
  graphError(409, 'nameAlreadyExists', 'The specified item name already exists.');
export const insufficientStorage = (): Reply =>
  graphError(507, 'quotaLimitReached', 'The user has reached their quota limit.');
