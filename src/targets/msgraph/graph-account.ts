import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Secret } from '../../config/secret.ts';
import { LeadsyncError, type LeadsyncErrorOptions } from '../../lib/errors.ts';
import { docsPath } from '../../lib/version.ts';
import type { ConfidentialClientApplication, INetworkModule, NetworkRequestOptions } from '@azure/msal-node';
import { z } from 'zod';
import { HttpFault } from '../../http/exchange.ts';
import { parseJson, visibleText } from '../../lib/foreign-text.ts';
import type { Clock } from '../../ports/clock.ts';
import { untilAborted } from '../../lib/waiting.ts';
import { callOnce } from '../../http/connection.ts';

/** The app that leadsync signs in as at Microsoft Entra: the values of MSGRAPH_TENANT and the others that begin so. */
export interface GraphApp {
  readonly tenant?: string | undefined;
  readonly clientId?: string | undefined;
  /** Its value, or a private key and its certificate, both as PEM. */
  readonly clientSecret?: Secret | undefined;
}

/** The app's proof of identity. Secret, except the thumbprint. */
type GraphProof =
  | { readonly clientSecret: string }
  | { readonly clientCertificate: { readonly thumbprintSha256: string; readonly privateKey: string } };

interface GraphCredentials {
  readonly tenant: string;
  readonly clientId: string;
  readonly proof: GraphProof;
}

const howTo = (): string => `${docsPath('microsoft-365.md')} shows how to register an app in five minutes.`;

/** Throws `target.credentials-missing` and `-invalid` (never); messages name the setting, never its value. */
function readGraphCredentials(app: GraphApp): GraphCredentials {
  const { tenant, clientId } = app;
  const secret = app.clientSecret?.reveal();
  if (tenant === undefined) throw missing('MSGRAPH_TENANT is not set');
  if (clientId === undefined) throw missing('MSGRAPH_CLIENT_ID is not set');
  if (secret === undefined) throw missing('MSGRAPH_CLIENT_SECRET is not set');
  if (!secret.includes('-----BEGIN ')) return { tenant, clientId, proof: { clientSecret: secret } };
  return { tenant, clientId, proof: { clientCertificate: readCertificate(secret) } };
}

const wanted =
  'It must hold a private key (RSA, without a passphrase) and its certificate, both as PEM. MSGRAPH_CLIENT_SECRET_FILE names a file with both.';

function readCertificate(pem: string): { thumbprintSha256: string; privateKey: string } {
  const certificate = unlessThrown(() => new X509Certificate(pem));
  const privateKey = /-----BEGIN ([A-Z ]*)PRIVATE KEY-----[^-]+-----END \1PRIVATE KEY-----/.exec(pem)?.[0];
  const key = privateKey === undefined ? null : unlessThrown(() => createPrivateKey(privateKey));
  if (certificate === null) throw invalid('MSGRAPH_CLIENT_SECRET holds no certificate', wanted);
  if (key === null || privateKey === undefined || key.asymmetricKeyType !== 'rsa')
    throw invalid('MSGRAPH_CLIENT_SECRET holds no private key that leadsync can use', wanted);
  if (!certificate.checkPrivateKey(key))
    throw invalid('The private key in MSGRAPH_CLIENT_SECRET does not belong to its certificate', wanted);
  if (certificate.validToDate.getTime() < Date.now())
    throw invalid(
      `The certificate in MSGRAPH_CLIENT_SECRET expired on ${certificate.validToDate.toISOString().slice(0, 10)}`,
      'Make a new one and upload it in Entra: App registrations, your app, Certificates & secrets.',
    );
  return { thumbprintSha256: certificate.fingerprint256.replaceAll(':', ''), privateKey };
}

function unlessThrown<T>(make: () => T): T | null {
  try {
    return make();
  } catch {
    return null;
  }
}

function missing(what: string): LeadsyncError {
  const message = `Microsoft 365 needs an app to sign in as: ${what}. Nothing was read or written.`;
  return new LeadsyncError('target.credentials-missing', message, { help: howTo() });
}

function invalid(message: string, help: string): LeadsyncError {
  return new LeadsyncError('target.credentials-invalid', message, { help: `${help} ${howTo()}` });
}

/** Microsoft Entra's answer to a request for a token that brought none; null: there was no complete answer. */
interface TokenRefusal {
  readonly status: number;
  /** Numbers of its errors (AADSTS…). */
  readonly codes: readonly number[];
  /** What it asks to wait (ms); null: nothing. */
  readonly waitMs: number | null;
}

const page = 'in Entra: App registrations, your app';
const noSuchTenant =
  'Set it to the Directory (tenant) ID that the overview of your app shows in Entra, or to its domain.';
const newSecret = `Make a new one ${page}, Certificates & secrets, and set it to the value, not to the id.`;
const upload = `Upload the certificate ${page}, Certificates & secrets, Certificates.`;

/** What is wrong, and what helps, by Entra's own number of the error. */
const meanings: Readonly<Record<number, readonly [what: string, help: string]>> = {
  90002: ['MSGRAPH_TENANT names no directory', noSuchTenant],
  900021: ['MSGRAPH_TENANT names no directory', noSuchTenant],
  900023: ['MSGRAPH_TENANT names no directory', noSuchTenant],
  700016: [
    'the directory has no app with this MSGRAPH_CLIENT_ID',
    `Set it to the Application (client) ID ${page}, and check MSGRAPH_TENANT.`,
  ],
  700038: ['MSGRAPH_CLIENT_ID is not the id of an app', `Set it to the Application (client) ID ${page}.`],
  7000215: ['MSGRAPH_CLIENT_SECRET is wrong', newSecret],
  7000222: ['MSGRAPH_CLIENT_SECRET has expired', newSecret],
  700027: ['the app does not have the certificate in MSGRAPH_CLIENT_SECRET', upload],
  7000274: ['the app does not have the certificate in MSGRAPH_CLIENT_SECRET', upload],
  1000502: ['the certificate in MSGRAPH_CLIENT_SECRET is not valid today', `Make a new one. ${upload}`],
  7000214: ['the certificate in MSGRAPH_CLIENT_SECRET was revoked', `Make a new one. ${upload}`],
  700024: [
    'the clock of this machine is wrong',
    'Set the clock; a signature with the certificate holds for minutes.',
  ],
  7000229: ['the app is not installed in this directory', `Grant admin consent ${page}, API permissions.`],
  7000112: [
    'the app is disabled in this directory',
    'Enable it in Entra: Enterprise applications, your app, Properties.',
  ],
  53003: [
    'a Conditional Access policy keeps the app out',
    'Ask the administrator to exclude the app, or this machine, from that policy.',
  ],
};

/** `target.unauthenticated` (never) for a wrong setting, else `target.unavailable` (later). Entra's text is left out: it may repeat what was sent. */
function tokenFault(refusal: TokenRefusal | null, reason: string): LeadsyncError {
  const nothing = 'Nothing was read or written.';
  if (refusal === null || refusal.status >= 500 || refusal.status === 429) {
    const how = refusal === null ? `cannot be reached (${reason})` : `gives no token now (${refusal.status})`;
    const options: LeadsyncErrorOptions = {
      retry: 'later',
      help: 'Check the network. A worker tries again by itself.',
      ...(typeof refusal?.waitMs === 'number' && { retryAfterMs: refusal.waitMs }),
    };
    return new LeadsyncError('target.unavailable', `Microsoft Entra ${how}. ${nothing}`, options);
  }
  const code = refusal.codes.find((one) => meanings[one] !== undefined) ?? refusal.codes[0];
  const [what, help] = meanings[code ?? 0] ?? [
    'the settings of the app',
    'https://login.microsoftonline.com/error explains the number.',
  ];
  const number = code === undefined ? String(refusal.status) : `AADSTS${code}`;
  const message = `Microsoft Entra refused the app: ${what} (${number}). ${nothing}`;
  return new LeadsyncError('target.unauthenticated', message, { help });
}

/** The app's account. Loads Microsoft's library when the first token is needed: other targets do not pay for it. */
export interface GraphAccount {
  /** From the cache unless `fresh`. Throws `target.credentials-missing`, `-invalid` (never), as `tokenFault`, and the signal's reason. */
  token(signal: AbortSignal, fresh?: boolean): Promise<string>;
}

/** For the addresses and keys that are documented; https alone is accepted by Microsoft's library. */
const publicCloud = 'https://login.microsoftonline.com';

/** Root of Graph, without the version. */
export const publicGraph = 'https://graph.microsoft.com';

/** Where tokens are requested, by the root of Graph ("National cloud deployments" in Microsoft's documentation). */
const logins: Readonly<Record<string, string>> = {
  'https://graph.microsoft.us': 'https://login.microsoftonline.us',
  'https://dod-graph.microsoft.us': 'https://login.microsoftonline.us',
  'https://microsoftgraph.chinacloudapi.cn': 'https://login.chinacloudapi.cn',
};

const bounds = { headersMs: 30_000, totalMs: 30_000, bodyBytes: 256 * 1024 };
const errorReply = z.object({ error_codes: z.array(z.coerce.number()).catch([]).default([]) });

export function openGraphAccount(app: GraphApp, url: string, clock: Clock): GraphAccount {
  const isStandIn = url.startsWith('http:');
  // A proxy has no rights of its own to ask for.
  const scope = `${logins[url] === undefined ? publicGraph : url}/.default`;
  const loginUrl = isStandIn ? url : (logins[url] ?? publicCloud);
  const requests = new TokenRequests(loginUrl, clock);
  let client: ConfidentialClientApplication | null = null;
  let madeOf = '';
  return {
    async token(signal, fresh = false) {
      const credentials = readGraphCredentials(app);
      const now = JSON.stringify(credentials);
      if (now !== madeOf) client = null;
      madeOf = now;
      client ??= await createClient(credentials, loginUrl, requests);
      try {
        const wait = client.acquireTokenByClientCredential({ scopes: [scope], skipCache: fresh });
        const token = (await untilAborted(wait, signal))?.accessToken;
        if (token !== undefined && token !== '') return token;
      } catch {
        // What was answered tells more, and repeats nothing that was sent.
        signal.throwIfAborted();
      }
      // After a refusal the library would refuse further requests itself for some time.
      client = null;
      throw tokenFault(requests.refusal, requests.reason);
    },
  };
}

async function createClient(
  { tenant, clientId, proof }: GraphCredentials,
  loginUrl: string,
  network: INetworkModule,
): Promise<ConfidentialClientApplication> {
  const msal = await import('@azure/msal-node');
  const host = loginUrl.startsWith('https:') ? loginUrl : publicCloud;
  return new msal.ConfidentialClientApplication({
    auth: { clientId, authority: `${host}/${tenant}`, knownAuthorities: [new URL(host).host], ...proof },
    // One retry layer, ours.
    system: { networkClient: network, disableInternalRetries: true },
  });
}

/** Sends what Microsoft's library asks for, over our own HTTP layer, and remembers a refusal. */
class TokenRequests implements INetworkModule {
  refusal: TokenRefusal | null = null;
  reason = '';
  readonly #loginUrl: string;
  readonly #clock: Clock;

  constructor(loginUrl: string, clock: Clock) {
    this.#loginUrl = loginUrl;
    this.#clock = clock;
  }

  readonly sendGetRequestAsync: INetworkModule['sendGetRequestAsync'] = (url, options) =>
    this.#send('GET', url, options);

  readonly sendPostRequestAsync: INetworkModule['sendPostRequestAsync'] = (url, options) =>
    this.#send('POST', url, options);

  async #send(method: 'GET' | 'POST', url: string, { headers = {}, body }: NetworkRequestOptions = {}) {
    [this.refusal, this.reason] = [null, ''];
    // The stand-in has no TLS; the signed assertion still names Microsoft's address.
    const address = url.startsWith(publicCloud) ? this.#loginUrl + url.slice(publicCloud.length) : url;
    try {
      const request = { method, headers, body: body === undefined ? 'none' : { text: body } } as const;
      const signal = AbortSignal.timeout(bounds.totalMs);
      const reply = await callOnce(address, request, { bounds, signal, clock: this.#clock });
      const json: unknown = parseJson(reply.body) ?? {};
      const { status, waitMs } = reply;
      if (status >= 300) {
        const { data } = errorReply.safeParse(json);
        this.refusal = { status, codes: data?.error_codes ?? [], waitMs };
      }
      return { status, headers: {}, body: json as never };
    } catch (error) {
      if (error instanceof HttpFault) this.reason = visibleText(error.message, 100);
      throw error;
    }
  }
}
