import { createHash, generateKeyPairSync, randomUUID, verify } from 'node:crypto';
import { z } from 'zod';
import { ApiFault, errorInfo } from './api-fault.ts';

/** A reply of the token endpoint. */
export interface TokenReply {
  readonly status: number;
  readonly body: object;
}

const desktopApp = {
  client_id: '100000000000-standin.apps.googleusercontent.com',
  client_secret: 'GOCSPX-stand-in-secret',
};
const accountEmail = 'leadsync@stand-in.iam.gserviceaccount.com';
/** The audience in google-auth-library's assertions, whatever the key says. */
const googleTokenUrl = 'https://oauth2.googleapis.com/token';
const skewSeconds = 300;
const lifeSeconds = 3600;

const headerShape = z.object({ alg: z.literal('RS256'), kid: z.string().optional() });
const claimsShape = z.object({
  iss: z.string(),
  aud: z.string(),
  iat: z.number(),
  exp: z.number(),
  scope: z.string().optional(),
  sub: z.string().optional(),
});

const scopeUrl = 'https://www.googleapis.com/auth/';

/** Scopes of which a method needs one, as in the discovery document. */
export const scopesOf = {
  read: ['spreadsheets', 'spreadsheets.readonly', 'drive', 'drive.readonly', 'drive.file'],
  write: ['spreadsheets', 'drive', 'drive.file'],
  drive: ['drive', 'drive.readonly', 'drive.metadata', 'drive.metadata.readonly', 'drive.file'],
} as const;

// One pair per process: generating it takes longer than the rest of a test.
let keyPair: { readonly publicKey: string; readonly privateKey: string } | null = null;

/**
 * A service account with a real key pair: issues tokens for a signed JWT (RFC 7523) and checks them. Tokens expire after
 * an hour of real time, since the client dates its assertions by the machine's clock.
 */
export class ServiceAccount {
  readonly email = accountEmail;
  readonly #tokens = new Map<string, { readonly scopes: readonly string[]; readonly until: number }>();
  /** By code, what an application asked for; by refresh token, the scopes. */
  readonly #codes = new Map<string, URLSearchParams>();
  readonly #granted = new Map<string, readonly string[]>();
  readonly #tokenUrl: () => string;
  readonly #keyId = randomUUID().replaceAll('-', '');

  constructor(tokenUrl: () => string) {
    this.#tokenUrl = tokenUrl;
  }

  /** A key file, as the Cloud Console creates it. */
  keyFile(): string {
    const key = {
      type: 'service_account',
      project_id: 'stand-in',
      private_key_id: this.#keyId,
      private_key: keys().privateKey,
      client_email: this.email,
      client_id: '100000000000000000001',
      auth_uri: 'https://accounts.google.com/o/oauth2/auth',
      token_uri: this.#tokenUrl(),
      universe_domain: 'googleapis.com',
    };
    return `${JSON.stringify(key, null, 2)}\n`;
  }

  /** An OAuth client of the type "Desktop app", as the Cloud Console hands it out; its addresses are this server. */
  clientFile(): string {
    const authUri = new URL('auth', this.#tokenUrl()).href;
    const installed = { ...desktopApp, auth_uri: authUri, token_uri: this.#tokenUrl() };
    return `${JSON.stringify({ installed })}\n`;
  }

  /** A person allows what an application asks: where their browser is sent to. */
  allow(query: URLSearchParams): string {
    const code = randomUUID();
    this.#codes.set(code, query);
    const back = new URL(query.get('redirect_uri') ?? '');
    back.search = new URLSearchParams({ state: query.get('state') ?? '', code }).toString();
    return back.href;
  }

  /** Of a person: RFC 6749, 4.1.3 and 6; RFC 7636. */
  #exchangeOfUser(form: URLSearchParams): TokenReply {
    const isClient =
      form.get('client_id') === desktopApp.client_id &&
      form.get('client_secret') === desktopApp.client_secret;
    if (!isClient) return { ...refused('invalid_client', 'Unauthorized'), status: 401 };
    if (form.get('grant_type') === 'refresh_token') {
      const scopes = this.#granted.get(form.get('refresh_token') ?? '');
      if (scopes === undefined) return refused('invalid_grant', 'Token has been expired or revoked.');
      return this.#issue(scopes);
    }
    const code = form.get('code') ?? '';
    const asked = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (asked === undefined || asked.get('redirect_uri') !== form.get('redirect_uri'))
      return refused('invalid_grant', 'Malformed auth code.');
    if (asked.get('code_challenge') !== challenge) return refused('invalid_grant', 'Invalid code verifier.');
    const scopes = (asked.get('scope') ?? '').split(' ');
    const refresh = `1//stand-in-${randomUUID()}`;
    this.#granted.set(refresh, scopes);
    const { status, body } = this.#issue(scopes);
    return {
      status,
      body: { ...body, ...(asked.get('access_type') === 'offline' && { refresh_token: refresh }) },
    };
  }

  /** Replies to a form with `grant_type`, and `assertion` for the service account. */
  exchange(form: URLSearchParams): TokenReply {
    if (['authorization_code', 'refresh_token'].includes(form.get('grant_type') ?? ''))
      return this.#exchangeOfUser(form);
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') {
      return refused('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type') ?? ''}`);
    }
    const [header = '', claims = '', signature = '', ...rest] = (form.get('assertion') ?? '').split('.');
    const parsedHeader = headerShape.safeParse(decode(header));
    const parsed = claimsShape.safeParse(decode(claims));
    if (!parsedHeader.success || !parsed.success || rest.length > 0) {
      return refused('invalid_grant', 'Invalid JWT: malformed assertion.');
    }
    const { kid } = parsedHeader.data;
    const signed = verify(
      'RSA-SHA256',
      Buffer.from(`${header}.${claims}`),
      keys().publicKey,
      Buffer.from(signature, 'base64url'),
    );
    if (!signed || (kid !== undefined && kid !== this.#keyId)) {
      return refused('invalid_grant', 'Invalid JWT Signature.');
    }
    return this.#grant(parsed.data);
  }

  #grant({ iss, aud, iat, exp, scope }: z.infer<typeof claimsShape>): TokenReply {
    if (iss !== this.email) return refused('invalid_grant', 'Invalid grant: account not found');
    if (aud !== googleTokenUrl && aud !== this.#tokenUrl()) {
      return refused('invalid_grant', 'Invalid JWT: Failed audience check.');
    }
    const now = Date.now() / 1000;
    if (exp < now - skewSeconds || iat > now + skewSeconds || exp > iat + lifeSeconds || exp <= iat) {
      const text =
        'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. ' +
        'Check your iat and exp values in the JWT claim.';
      return refused('invalid_grant', text);
    }
    const scopes = (scope ?? '').split(' ').filter((one) => one !== '');
    if (scopes.length === 0 || scopes.some((one) => !one.startsWith(scopeUrl))) {
      return refused('invalid_scope', 'Invalid OAuth scope or ID token audience provided.');
    }
    return this.#issue(scopes);
  }

  #issue(scopes: readonly string[]): TokenReply {
    const token = `ya29.c.stand-in-${randomUUID()}`;
    const names = scopes.map((one) => one.slice(scopeUrl.length));
    this.#tokens.set(token, { scopes: names, until: Date.now() + lifeSeconds * 1000 });
    const body = { access_token: token, expires_in: lifeSeconds - 1, token_type: 'Bearer' };
    return { status: 200, body };
  }

  /** Throws 401 or 403 for a request without our token, or with insufficient scope. */
  check(authorization: string | undefined, needs: readonly string[]): void {
    if (authorization === undefined) {
      const text =
        "Method doesn't allow unregistered callers (callers without established identity). " +
        'Please use API Key or other form of API consumer identity to call this API.';
      throw new ApiFault(403, text);
    }
    const token = this.#tokens.get(authorization.replace(/^Bearer\s+/i, ''));
    if (token === undefined || token.until < Date.now()) throw unauthenticated();
    if (token.scopes.some((scope) => needs.includes(scope))) return;
    throw new ApiFault(403, 'Request had insufficient authentication scopes.', [
      errorInfo('ACCESS_TOKEN_SCOPE_INSUFFICIENT', { service: 'sheets.googleapis.com' }),
    ]);
  }

  /** Invalidates all tokens issued so far, and what people have granted. */
  revoke(): void {
    this.#tokens.clear();
    this.#granted.clear();
  }
}

export function unauthenticated(): ApiFault {
  const text =
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid ' +
    'authentication credential. See https://developers.google.com/identity/sign-in/web/devconsole-project.';
  return new ApiFault(401, text, [
    errorInfo('ACCESS_TOKEN_TYPE_UNSUPPORTED', { service: 'sheets.googleapis.com' }),
  ]);
}

function keys(): { readonly publicKey: string; readonly privateKey: string } {
  keyPair ??= generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return keyPair;
}

function refused(error: string, description: string): TokenReply {
  return { status: 400, body: { error, error_description: description } };
}

function decode(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString());
  } catch {
    return null;
  }
}
