import type { ConfidentialClientApplication, INetworkModule, NetworkRequestOptions } from '@azure/msal-node';
import { z } from 'zod';
import { HttpFault } from '../../http/exchange.ts';
import { parseJson } from '../../lib/parse-json.ts';
import type { Clock } from '../../ports/clock.ts';
import { retryAfterMs } from '../../lib/retry-after.ts';
import { untilAborted } from '../../lib/until-aborted.ts';
import { visibleText } from '../../lib/visible-text.ts';
import { callOnce } from '../../http/connection.ts';
import { type GraphApp, type GraphCredentials, readGraphCredentials } from './graph-credentials.ts';
import { tokenFault, type TokenRefusal } from './token-fault.ts';

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
  const scope = `${isStandIn ? publicGraph : url}/.default`;
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
      const { status, receivedAt } = reply;
      if (status >= 300) {
        const { data } = errorReply.safeParse(json);
        const waitMs = retryAfterMs(reply.headers['retry-after'], reply.headers['date'], receivedAt);
        this.refusal = { status, codes: data?.error_codes ?? [], waitMs };
      }
      return { status, headers: {}, body: json as never };
    } catch (error) {
      if (error instanceof HttpFault) this.reason = visibleText(error.message, 100);
      throw error;
    }
  }
}
