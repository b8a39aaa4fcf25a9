import type { WebDavHttp } from './webdav-http.ts';

/** How long a lock lasts when its process dies (s). */
const lockSeconds = 60;
const unlockMs = 10_000;
/** By which people and other processes recognize our locks. */
export const lockOwner = 'leadsync';

export interface DavLock extends AsyncDisposable {
  /** As an If header names it. */
  readonly token: string;
}

/** Until disposal (RFC 4918, section 9.10); null: the server has no locks. Throws `target.busy` when somebody else has locked it. */
export async function lockFile(http: WebDavHttp, signal: AbortSignal): Promise<DavLock | null> {
  const { status, header } = await http.ask(
    {
      method: 'LOCK',
      headers: {
        depth: '0',
        timeout: `Second-${lockSeconds}`,
        'content-type': 'application/xml; charset=utf-8',
      },
      body: `<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>${lockOwner}</D:owner></D:lockinfo>`,
      answers: [400, 403, 404, 405, 412, 501],
    },
    signal,
  );
  const token = header('lock-token');
  if (status >= 300 || token === null) return null;
  return {
    token,
    async [Symbol.asyncDispose]() {
      // The lock ended with the file that a rename replaced, or it expires.
      const unlock = {
        method: 'UNLOCK',
        headers: { 'lock-token': token },
        answers: [400, 404, 409, 412],
      } as const;
      await http.ask(unlock, AbortSignal.timeout(unlockMs)).catch(() => {});
    },
  };
}
