import type { BaseExternalAccountClient, JWT } from 'google-auth-library';
import { accountAddress, type GoogleCredentials, readGoogleCredentials } from './google-credentials.ts';
import { GoogleFault, googleFault } from './google-fault.ts';
import { readGoogleReply } from './google-reply.ts';

type SigningClient = JWT | BaseExternalAccountClient;

/** The leave to ask: a client that signs requests, and the token it signs with, which must be shown nowhere. */
export interface Authorized {
  readonly client: SigningClient;
  readonly token: string;
}

/**
 * A service account or a workload identity. Its file is read when it is needed, and again after Google refused it;
 * Google's library is loaded then and not before, so that other targets do not pay for it.
 */
export interface GoogleAccount {
  /** Tells accounts apart within this process. */
  readonly id: string;
  /**
   * Gets a token, or takes the one that is still good. Throws `target.credentials-missing` and
   * `target.credentials-invalid` (never), the faults of a `token` request at `googleFault`, and the signal's reason.
   */
  authorize(signal: AbortSignal): Promise<Authorized>;
  /** The token was refused: what is known of the account is forgotten. */
  forget(): void;
  /** The address to share with; null when the file names none. Throws `target.credentials-…` as above. */
  address(): Promise<string | null>;
}

/** Tabs and their content; and whether the file lies in the trash, which Drive alone tells. */
const scopes = [
  'https://www.googleapis.com/auth/spreadsheets',
  'https://www.googleapis.com/auth/drive.metadata.readonly',
];

/** Google's library asks here for a token, whatever address a key names. */
const builtInTokenUrl = 'https://oauth2.googleapis.com/token';

const tokenTimeoutMs = 30_000;

/** `credentialsPath`: what GOOGLE_APPLICATION_CREDENTIALS names; undefined when it is not set. */
export function openGoogleAccount(credentialsPath: string | undefined): GoogleAccount {
  let client: SigningClient | null = null;
  return {
    id: credentialsPath ?? '',
    forget() {
      client = null;
    },
    async address() {
      return accountAddress(await readGoogleCredentials(credentialsPath));
    },
    async authorize(signal) {
      const signing = (client ??= await createClient(await readGoogleCredentials(credentialsPath)));
      const token = await unlessAborted(getToken(signing), signal);
      return { client: signing, token };
    },
  };
}

async function getToken(client: SigningClient): Promise<string> {
  let failed: unknown = null;
  try {
    const { token } = await client.getAccessToken();
    if (typeof token === 'string' && token !== '') return token;
  } catch (error) {
    failed = error;
  }
  const reply = readGoogleReply(failed, [], Date.now());
  if (reply !== null) throw googleFault(reply, 'token', null);
  // No request failed. Of a workload identity, what vouches for it (a file, a program) may not be as described.
  if (failed !== null && 'audience' in client) {
    throw new GoogleFault('target.unauthenticated', 'no token could be asked for; nothing was done', {
      help: 'Check credential_source in the file that GOOGLE_APPLICATION_CREDENTIALS names.',
    });
  }
  throw new GoogleFault(
    'target.unavailable',
    'Google answered the account without a token; nothing was done',
    {
      retry: 'later',
    },
  );
}

async function createClient(credentials: GoogleCredentials): Promise<SigningClient> {
  const google = await import('google-auth-library');
  const transporter = new google.gaxios.Gaxios({
    timeout: tokenTimeoutMs,
    noProxy: ['localhost', '127.0.0.1', '[::1]'],
  });
  const tokenUrl = credentials.type === 'service_account' ? credentials.token_uri : undefined;
  transporter.interceptors.request.add({
    resolved: (config) => {
      // The library tries token requests again by itself, within two seconds; there is one retry layer, and it is ours.
      config.retry = false;
      delete config.retryConfig;
      // What is signed, and the token, are for this address alone.
      config.redirect = 'manual';
      if (tokenUrl !== undefined && config.url.href === builtInTokenUrl) config.url = new URL(tokenUrl);
      return Promise.resolve(config);
    },
  });
  // Without its own interceptors the library cannot log headers, whatever its environment variables say.
  const common = { scopes, transporter, useAuthRequestParameters: false };
  if (credentials.type === 'service_account') {
    const { client_email: email, private_key: key } = credentials;
    // Who checks the assertion expects to be named by the address that was asked.
    const additionalClaims = tokenUrl === undefined ? {} : { aud: tokenUrl };
    return new google.JWT({ ...common, email, key, additionalClaims });
  }
  const { credential_source: source, ...rest } = credentials;
  const options = { ...rest, ...common };
  if ('environment_id' in source) return new google.AwsClient({ ...options, credential_source: source });
  if ('executable' in source)
    return new google.PluggableAuthClient({ ...options, credential_source: source });
  return new google.IdentityPoolClient({ ...options, credential_source: source });
}

/** What the promise gives; throws the signal's reason as soon as it is aborted. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw signal.reason;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
