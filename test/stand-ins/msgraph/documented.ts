import { z } from 'zod';
import type { Reply } from '../hubspot/send-reply.ts';

/*
 * What Microsoft documents of the replies that the stand-in gives: names and types of properties, statuses, codes. Facts from
 * microsoft-graph-docs-contrib, of the pages that each part names. A property that the page does not have is a mistake here.
 */

const text = z.string().exactOptional();

/** resources/identityset.md, resources/identity.md; `email` as resources/publicationfacet.md shows it. */
const identity = z.strictObject({ id: text, displayName: text, email: text });
const identitySet = z.strictObject({ application: identity.exactOptional(), user: identity.exactOptional() });

/**
 * resources/driveitem.md, of which only what the stand-in gives; resources/itemreference.md, file.md, folder.md. Not looked up:
 * `driveType`, which the version of itemreference.md that was at hand does not have.
 */
const driveItem = z.strictObject({
  '@odata.context': text,
  id: z.string(),
  name: text,
  size: z.int().exactOptional(),
  eTag: z
    .string()
    .regex(/^".*"$/)
    .exactOptional(),
  cTag: z
    .string()
    .regex(/^".*"$/)
    .exactOptional(),
  createdDateTime: z.iso.datetime().exactOptional(),
  lastModifiedDateTime: z.iso.datetime().exactOptional(),
  lastModifiedBy: identitySet.exactOptional(),
  parentReference: z.strictObject({ driveId: text, driveType: text, id: text, path: text }).exactOptional(),
  file: z.strictObject({ mimeType: text }).exactOptional(),
  folder: z.strictObject({ childCount: z.int() }).exactOptional(),
  webUrl: z.url().exactOptional(),
  // resources/publicationfacet.md
  publication: z
    .strictObject({
      level: z.enum(['published', 'checkout']),
      versionId: text,
      checkedOutBy: identitySet.exactOptional(),
    })
    .exactOptional(),
});

/** resources/uploadsession.md, as api/driveitem-createuploadsession.md shows it. */
const session = z.strictObject({ uploadUrl: z.url(), expirationDateTime: z.iso.datetime() }).or(
  z.strictObject({
    uploadUrl: z.url(),
    expirationDateTime: z.iso.datetime(),
    nextExpectedRanges: z.array(z.string()),
  }),
);
const progress = z.strictObject({
  expirationDateTime: z.iso.datetime(),
  nextExpectedRanges: z.array(z.string().regex(/^\d+-\d*$/)),
});

const oneOf = (words: readonly string[]) => z.string().refine((word) => words.includes(word));

/** concepts/errors.md: statuses, codes, and the more detailed codes. */
const errorStatuses = new Set([
  400, 401, 402, 403, 404, 405, 406, 409, 410, 411, 412, 413, 415, 416, 422, 423, 429, 500, 501, 503, 504,
  507, 509,
]);
const codes = oneOf([
  'accessDenied',
  'activityLimitReached',
  'generalException',
  'invalidRange',
  'invalidRequest',
  'itemNotFound',
  'nameAlreadyExists',
  'notAllowed',
  'notSupported',
  'resourceModified',
  'serviceNotAvailable',
  'quotaLimitReached',
  'unauthenticated',
  // Not on that page: people report it.
  'InvalidAuthenticationToken',
]);
const detailedCodes = oneOf([
  'entityTagDoesNotMatch',
  'fragmentOutOfOrder',
  'fragmentOverlap',
  'uploadSessionIncomplete',
  'uploadSessionNotFound',
  // Not on that page: people report it.
  'resourceLocked',
]);
const errorBody = z.strictObject({
  error: z.strictObject({
    code: codes,
    message: z.string().min(1),
    innerError: z.strictObject({
      code: detailedCodes.exactOptional(),
      date: z.string(),
      'request-id': z.string(),
    }),
  }),
});

const nothing = z.undefined();

/** What follows a request that is granted: by its method, where `*` stands for what is between, and its status. */
const successes: readonly (readonly [request: RegExp, byStatus: Readonly<Record<number, z.ZodType>>])[] = [
  // api/driveitem-get-content.md: the address is in Location.
  [/^GET \/v1\.0\/.*\/content$/, { 302: nothing }],
  // api/driveitem-put-content.md
  [/^PUT \/v1\.0\/.*\/content$/, { 200: driveItem, 201: driveItem }],
  // api/driveitem-createuploadsession.md, here and below
  [/^POST \/v1\.0\/.*\/createUploadSession$/, { 200: session }],
  [/^PUT \/upload\//, { 200: driveItem, 201: driveItem, 202: progress }],
  [/^POST \/upload\//, { 200: driveItem, 201: driveItem }],
  [/^GET \/upload\//, { 200: progress }],
  [/^DELETE \/upload\//, { 204: nothing }],
  // resources/driveitem.md; the status was not looked up.
  [/^GET \/v1\.0\//, { 200: driveItem }],
  // api/driveitem-delete.md
  [/^DELETE \/v1\.0\//, { 204: nothing }],
];

/** What of a reply Microsoft does not document; null: nothing. `request`: such as `GET /v1.0/drives/…`. */
export function undocumented(request: string, { status, body, headers = {} }: Reply): string | null {
  const isError = status >= 400;
  const [, byStatus] = successes.find(([wanted]) => wanted.test(request)) ?? [];
  const known = isError && errorStatuses.has(status) ? errorBody : byStatus?.[status];
  if (known === undefined) return `${request}: status ${status}`;
  if (status === 302 && URL.parse(String(headers['location'])) === null) return `${request}: no location`;
  const { error } = known.safeParse(body);
  return error === undefined ? null : `${request} ${status}: ${z.prettifyError(error)}`;
}
