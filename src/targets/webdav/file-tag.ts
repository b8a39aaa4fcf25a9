import { parseHttpDate } from '../../retry-after.ts';
import type { FileState } from '../file/file-place.ts';
import type { DavReply } from './webdav-http.ts';

/** The state of a file, as a reply shows it. */
export interface DavState extends FileState {
  /** For If-Match; null: the server gives none, or a weak one, which If-Match never fits. */
  readonly strongTag: string | null;
  /** The ETag without its mark of weakness; null: the server gives none. */
  readonly opaqueTag: string | null;
  /** False: a change within the same second might look the same, or Apache has no strong ETag yet. Look again. */
  readonly isSettled: boolean;
}

/** Dates in HTTP have seconds; this old (ms, by the server's own clock), no change can share the second any more. */
const settledMs = 2_000;
/** A file that is dated further into the future (ms) never settles. */
const futureMs = 5_000;

export function davState({ header }: Pick<DavReply, 'header'>): DavState {
  const tag = header('etag')?.trim() ?? '';
  const [, weak, opaque] = /^(W\/)?("[^"]*")$/i.exec(tag) ?? [];
  const modified = header('last-modified') ?? '';
  const size = Number(header('content-length') ?? Number.NaN);
  const strongTag = opaque !== undefined && weak === undefined ? opaque : null;
  const age = parseHttpDate(header('date') ?? '') - parseHttpDate(modified);
  const isSettled = Number.isNaN(age) || age < -futureMs ? strongTag !== null : age >= settledMs;
  return {
    // A weak tag becomes the same strong one after a moment.
    version: opaque === undefined ? `modified ${modified} ${size}` : `etag ${opaque}`,
    size,
    contentTag: opaque !== undefined && isSettled ? `etag ${opaque}` : null,
    strongTag,
    opaqueTag: opaque ?? null,
    isSettled,
  };
}
