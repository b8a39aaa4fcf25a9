import { createPrivateKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { LeadsyncError } from '../../lib/errors.ts';
import { parseJson } from '../../lib/foreign-text.ts';
import { docsPath } from '../../lib/version.ts';
import type {
  BaseExternalAccountClient,
  ExternalAccountClientOptions,
  JWT,
  OAuth2Client,
} from 'google-auth-library';
import { proofsIn } from '../../http/credentials.ts';
import { Redactor } from '../../lib/redact.ts';
import { untilAborted } from '../../lib/waiting.ts';
import { GoogleFault, googleFault, readGoogleReply } from './google-fault.ts';

/** A service account key, as the Google Cloud console creates it. */
const serviceAccountSchema = z.object({
  type: z.literal('service_account'),
  client_email: z.email(),
  private_key: z.string().refine(isPrivateKey, 'is not a private key in PEM form'),
  token_uri: z.url({ protocol: /^https?$/ }).exactOptional(),
});

/** A workload identity: a cloud or identity provider vouches for this process; there is no key. */
const externalAccountSchema = z.object({
  type: z.literal('external_account'),
  audience: z.string(),
  subject_token_type: z.string(),
  token_url: z.url({ protocol: /^https?$/ }),
  service_account_impersonation_url: z.url({ protocol: /^https?$/ }).exactOptional(),
  service_account_impersonation: z
    .object({ token_lifetime_seconds: z.number().exactOptional() })
    .exactOptional(),
  client_id: z.string().exactOptional(),
  client_secret: z.string().exactOptional(),
  workforce_pool_user_project: z.string().exactOptional(),
  /** Where it gets its tokens; Google's library knows the kinds. */
  credential_source: z.looseObject({}),
});

/** A person who has signed in (`leadsync check --google-sign-in`), or as gcloud writes it. */
const userSchema = z.object({
  type: z.literal('authorized_user'),
  client_id: z.string(),
  client_secret: z.string(),
  refresh_token: z.string(),
  token_uri: z.url({ protocol: /^https?$/ }).exactOptional(),
});

export type GoogleUser = z.infer<typeof userSchema>;

const credentialsSchema = z.discriminatedUnion('type', [
  serviceAccountSchema,
  externalAccountSchema,
  userSchema,
]);

type GoogleCredentials = z.infer<typeof credentialsSchema>;

const where = 'GOOGLE_APPLICATION_CREDENTIALS';
const howToGetOne = `Create a key for a service account in the Google Cloud console, put the file on this machine and its path into ${where}. Where the organization forbids keys (iam.disableServiceAccountKeyCreation): leadsync check --google-sign-in CLIENT.json, see ${docsPath('google-sheets.md')}.`;

/** Throws `target.credentials-missing`, or `-invalid` when leadsync cannot use it (never). Messages name fields, never their content. */
async function readGoogleCredentials(path: string | undefined): Promise<GoogleCredentials> {
  if (path === undefined) {
    throw new LeadsyncError(
      'target.credentials-missing',
      `Google Sheets needs an account: ${where} is not set`,
      {
        help: howToGetOne,
      },
    );
  }
  const json = parseJson(await readText(path));
  if (json === undefined) throw invalid(path, 'is not JSON');
  const parsed = credentialsSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join('.') ?? '';
  const what = field === '' ? 'is not an account' : `is not a usable account: "${field}" ${mistake(issue)}`;
  throw invalid(path, what);
}

/** The address to share a spreadsheet with; null for a workload identity without an account, and for a person, who has their own. */
function accountAddress(credentials: GoogleCredentials): string | null {
  if (credentials.type === 'service_account') return credentials.client_email;
  if (credentials.type === 'authorized_user') return null;
  const url = credentials.service_account_impersonation_url;
  const email = url === undefined ? null : /\/serviceAccounts\/([^/:]+)/.exec(new URL(url).pathname)?.[1];
  return email === null || email === undefined ? null : decodeURIComponent(email);
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      throw new LeadsyncError(
        'target.credentials-missing',
        `${where} names ${path}, but the file does not exist`,
        {
          help: howToGetOne,
        },
      );
    }
    throw invalid(path, `cannot be read (${code})`);
  }
}

function invalid(path: string, what: string): LeadsyncError {
  return new LeadsyncError('target.credentials-invalid', `${path} (${where}) ${what}`, {
    help: `It must be the key file of a service account, or the file of a workload identity or a person. ${howToGetOne}`,
  });
}

function mistake(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'custom') return issue.message;
  return issue?.code === 'invalid_union' ? 'is of an unknown kind' : 'is missing or wrong';
}

function isPrivateKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}

function systemCode(error: unknown): string {
  return z.object({ code: z.string() }).safeParse(error).data?.code ?? 'unknown';
}

type SigningClient = JWT | BaseExternalAccountClient | OAuth2Client;

/** A client that signs requests, and its token, which must never be shown. */
interface Authorized {
  readonly client: SigningClient;
  readonly token: string;
}

/** Loads its file and Google's library only when needed: other targets do not pay for them. A changed file counts at once. */
export interface GoogleAccount {
  readonly id: string;
  /** Reuses a valid token. Throws `target.credentials-missing`, `-invalid` (never), faults of a `token` request, and the signal's reason. */
  authorize(signal: AbortSignal): Promise<Authorized>;
  /** Drops the cached account after its token was refused. */
  forget(): void;
  /** The address to share with; null: the file names none. Throws `target.credentials-…` as above. */
  address(): Promise<string | null>;
}

/** Tabs and their content; and whether the file is in the trash, which only Drive tells. */
const tableScopes = [
  'https://www.googleapis.com/auth/spreadsheets',
  'https://www.googleapis.com/auth/drive.metadata.readonly',
];

/** What an account is asked for; calendars over CalDAV know no narrower scope. */
export const googleScopes = (withCalendars: boolean): readonly string[] =>
  withCalendars ? [...tableScopes, 'https://www.googleapis.com/auth/calendar'] : tableScopes;

/** Google's library requests tokens here, whatever address a key names. */
const builtInTokenUrl = 'https://oauth2.googleapis.com/token';

const tokenTimeoutMs = 30_000;

/** `credentialsPath`: the value of GOOGLE_APPLICATION_CREDENTIALS, if set. */
export function openGoogleAccount(credentialsPath: string | undefined, withCalendars = false): GoogleAccount {
  let client: SigningClient | null = null;
  let madeOf = '';
  return {
    id: credentialsPath ?? '',
    forget() {
      client = null;
    },
    async address() {
      return accountAddress(await readGoogleCredentials(credentialsPath));
    },
    async authorize(signal) {
      const reading = readGoogleCredentials(credentialsPath);
      // Half written, for example: the key of before may do.
      const credentials = client === null ? await reading : await reading.catch(() => null);
      const now = JSON.stringify(credentials);
      if (credentials !== null && (client === null || now !== madeOf))
        [client, madeOf] = [await createClient(credentials, googleScopes(withCalendars)), now];
      const signing = client;
      if (signing === null) throw new Error('there is no client');
      return { client: signing, token: await untilAborted(getToken(signing), signal) };
    },
  };
}

/** Of gaxios' error: the form that was sent. */
const sentSchema = z.object({ config: z.object({ data: z.unknown() }) });

async function getToken(client: SigningClient): Promise<string> {
  let failed: unknown = null;
  try {
    const { token } = await client.getAccessToken();
    if (typeof token === 'string' && token !== '') return token;
  } catch (error) {
    failed = error;
  }
  throw tokenFault(failed, 'audience' in client);
}

/** What a request for tokens is answered with. Throws faults of a `token` request. */
export async function readToken<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw tokenFault(error, false);
  }
}

function tokenFault(failed: unknown, isExternal: boolean): GoogleFault {
  const sent = sentSchema.safeParse(failed).data?.config.data;
  const reply = readGoogleReply(
    failed,
    new Redactor(
      proofsIn(typeof sent === 'string' || sent instanceof URLSearchParams ? sent.toString() : ''),
    ),
    Date.now(),
  );
  if (reply !== null) return googleFault(reply, 'token', null);
  // No request failed: a workload identity's source (a file, a program) may not be as described.
  if (failed !== null && isExternal) {
    return new GoogleFault('target.unauthenticated', 'no token could be requested; nothing was done', {
      help: 'Check credential_source in the file that GOOGLE_APPLICATION_CREDENTIALS names.',
    });
  }
  return new GoogleFault('target.unavailable', 'the token reply of Google has no token; nothing was done', {
    retry: 'later',
  });
}

/** `tokenUrl`: where tokens are requested instead of Google. */
async function openLibrary(tokenUrl: string | undefined) {
  const google = await import('google-auth-library');
  const transporter = new google.gaxios.Gaxios({
    timeout: tokenTimeoutMs,
    noProxy: ['localhost', '127.0.0.1', '[::1]'],
  });
  transporter.interceptors.request.add({
    resolved: (config) => {
      // One retry layer, ours: the library would retry token requests within two seconds.
      config.retry = false;
      delete config.retryConfig;
      // What is signed, and the token, must reach this address only.
      config.redirect = 'manual';
      if (tokenUrl !== undefined && config.url.href === builtInTokenUrl) config.url = new URL(tokenUrl);
      return Promise.resolve(config);
    },
  });
  // Without its own interceptors the library cannot log headers, whatever its environment variables say.
  return { google, common: { transporter, useAuthRequestParameters: false } };
}

/** Of a person; `redirectUri`: where the browser comes back to. */
export async function oauthClient(
  client: Pick<GoogleUser, 'client_id' | 'client_secret' | 'token_uri'>,
  redirectUri?: string,
): Promise<OAuth2Client> {
  const { google, common } = await openLibrary(client.token_uri);
  const { client_id: clientId, client_secret: clientSecret } = client;
  return new google.OAuth2Client({ ...common, clientId, clientSecret, ...(redirectUri && { redirectUri }) });
}

async function createClient(
  credentials: GoogleCredentials,
  scopes: readonly string[],
): Promise<SigningClient> {
  if (credentials.type === 'authorized_user') {
    const client = await oauthClient(credentials);
    client.setCredentials({ refresh_token: credentials.refresh_token });
    return client;
  }
  const tokenUrl = credentials.type === 'service_account' ? credentials.token_uri : undefined;
  const { google, common: bare } = await openLibrary(tokenUrl);
  const common = { ...bare, scopes: [...scopes] };
  if (credentials.type === 'service_account') {
    const { client_email: email, private_key: key } = credentials;
    // The assertion's audience must be the requested address.
    const additionalClaims = tokenUrl === undefined ? {} : { aud: tokenUrl };
    return new google.JWT({ ...common, email, key, additionalClaims });
  }
  const options = { ...credentials, ...common } as unknown as ExternalAccountClientOptions;
  const client = google.ExternalAccountClient.fromJSON(options);
  if (client === null) throw new Error('Google knows no such account');
  return client;
}
