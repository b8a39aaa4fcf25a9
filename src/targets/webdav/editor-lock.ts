import { type Editor, editorLocks } from '../file/editor-locks.ts';
import type { WebDavHttp } from './webdav-http.ts';

/** Who has the file open in a spreadsheet program, which then has a lock file beside it; null: nobody. */
export async function editorOf(http: WebDavHttp, signal: AbortSignal): Promise<Editor | null> {
  const name = decodeURIComponent(http.path.split('/').at(-1) ?? '');
  for (const { nameFor, userOf } of editorLocks) {
    const lockFile = nameFor(name);
    const chunks: Buffer[] = [];
    const into = async (chunk: Buffer): Promise<void> => void chunks.push(chunk);
    const { status } = await http.ask(
      {
        method: 'GET',
        path: http.beside(lockFile),
        into,
        // Some servers refuse such names.
        answers: [301, 302, 307, 308, 400, 403, 404, 405, 410],
      },
      signal,
    );
    if (status < 300) return { lockFile, user: userOf(Buffer.concat(chunks).subarray(0, 1024)) };
  }
  return null;
}
