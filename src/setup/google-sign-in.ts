import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readFault } from '../config/environment.ts';
import { LeadsyncError } from '../lib/errors.ts';
import { parseJson } from '../lib/foreign-text.ts';
import { googleScopes } from '../targets/google-sheets/google-account.ts';
import { parseOAuthClient, signInAtGoogle } from '../targets/google-sheets/google-sign-in.ts';

/** Signs in with the OAuth client of a file; returns the path of the credentials, beside that file. See `signInAtGoogle`. */
export async function signInWithClient(
  clientFile: string,
  withCalendars: boolean,
  show: (address: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const text = await readFile(clientFile, 'utf8').catch((cause: unknown) => {
    throw new LeadsyncError('usage.oauth-client', `${clientFile} cannot be read: ${readFault(cause)}`, {
      cause,
    });
  });
  const client = parseOAuthClient(parseJson(text), clientFile);
  const written = join(dirname(clientFile), 'google-credentials.json');
  await signInAtGoogle(client, written, googleScopes(withCalendars), show, signal);
  return written;
}
