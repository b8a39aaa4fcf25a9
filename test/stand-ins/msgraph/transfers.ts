import type { Reply } from '../hubspot/send-reply.ts';
import { graphError, itemNotFound, unauthenticated } from './graph-error.ts';
import { commit, type GraphRequest, type GraphState, one, type UploadSession } from './graph-routes.ts';

const unit = 327_680;

/** Answers `/download/KEY`. Null: send these bytes. */
export function download(state: GraphState, { headers }: GraphRequest, key: string): Reply | Buffer {
  if (headers['authorization'] !== undefined) return unauthenticated();
  return state.downloads.get(key) ?? itemNotFound();
}

/** Answers `/upload/KEY`: parts in order, what is missing, the end of a deferred upload, and its cancelling. */
export function upload(state: GraphState, request: GraphRequest, key: string): Reply {
  const session = state.uploads.get(key);
  // As documented: a token here is an error.
  if (request.headers['authorization'] !== undefined) return unauthenticated();
  if (session === undefined)
    return graphError(404, 'itemNotFound', 'Upload session not found.', { inner: 'uploadSessionNotFound' });
  switch (request.method) {
    case 'GET':
      return missing(session, 200);
    case 'DELETE':
      state.uploads.delete(key);
      return { status: 204 };
    case 'POST':
      return session.size === bytesOf(session)
        ? end(state, session, key)
        : graphError(400, 'invalidRequest', 'Upload session incomplete.', {
            inner: 'uploadSessionIncomplete',
          });
    default:
      return takePart(state, request, session, key);
  }
}

function takePart(
  state: GraphState,
  { headers, body }: GraphRequest,
  session: UploadSession,
  key: string,
): Reply {
  const [, from, to, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(one(headers['content-range']) ?? '') ?? [];
  const isLast = Number(to) + 1 === Number(size);
  if (
    size === undefined ||
    body.length !== Number(to) - Number(from) + 1 ||
    (!isLast && body.length % unit !== 0)
  )
    return graphError(400, 'invalidRange', 'The specified byte range is invalid.');
  if (Number(from) !== bytesOf(session))
    return graphError(416, 'invalidRange', 'Uploaded fragment overlaps with existing data.', {
      inner: Number(from) < bytesOf(session) ? 'fragmentOverlap' : 'fragmentOutOfOrder',
    });
  session.parts.push(body);
  session.size = Number(size);
  return isLast && !session.defersCommit ? end(state, session, key) : missing(session, 202);
}

function end(state: GraphState, session: UploadSession, key: string): Reply {
  const reply = commit(state, session.path, Buffer.concat(session.parts), session.ifMatch);
  if (reply.status < 300) state.uploads.delete(key);
  return reply;
}

function missing(session: UploadSession, status: number): Reply {
  const at = bytesOf(session);
  const ranges = session.size !== 0 && at === session.size ? [] : [`${at}-`];
  return { status, body: { expirationDateTime: '2026-11-30T10:00:00.000Z', nextExpectedRanges: ranges } };
}

const bytesOf = ({ parts }: UploadSession): number => parts.reduce((sum, part) => sum + part.length, 0);
