import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseJson } from '../lib/parse-json.ts';
import { googleScopes } from '../targets/google-sheets/google-account.ts';
import { parseOAuthClient, signInAtGoogle } from '../targets/google-sheets/google-sign-in.ts';

/** Signs in with the OAuth client of a file; returns the path of the credentials, beside that file. See `signInAtGoogle`. */
export async function signInWithClient(
  clientFile: string,
  withCalendars: boolean,
  show: (address: string) => void,
  signal: AbortSignal,
): Promise<string> {
  const client = parseOAuthClient(parseJson(await readFile(clientFile, 'utf8').catch(() => '')), clientFile);
  const written = join(dirname(clientFile), 'google-credentials.json');
  await signInAtGoogle(client, written, googleScopes(withCalendars), show, signal);
  return written;
}
