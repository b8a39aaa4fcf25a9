import { createHash, randomBytes, verify, X509Certificate } from 'node:crypto';
import { parseJson } from '../../../src/lib/foreign-text.ts';
import type { Reply } from '../hubspot/send-reply.ts';

export interface RegisteredApp {
  readonly tenant: string;
  readonly clientId: string;
  /** Value of a client secret, and whether it has expired. */
  readonly secret?: { readonly value: string; readonly expired?: boolean };
  /** PEM of the uploaded certificate. */
  readonly certificate?: string;
}

/** Microsoft Entra's token endpoint for one app: the client credentials flow, with a secret or a signed assertion. */
export class Entra {
  readonly #app: RegisteredApp;
  readonly #valid = new Set<string>();
  /** Tokens given so far. */
  given = 0;

  constructor(app: RegisteredApp) {
    this.#app = app;
  }

  isValid(token: string): boolean {
    return this.#valid.has(token);
  }

  /** All tokens given so far stop working. */
  revoke(): void {
    this.#valid.clear();
  }

  /** `POST /{tenant}/oauth2/v2.0/token`. */
  token(tenant: string, form: URLSearchParams): Reply {
    const { clientId, secret, certificate } = this.#app;
    if (tenant.toLowerCase() !== this.#app.tenant.toLowerCase())
      return refusal('invalid_request', 90002, `Tenant '${tenant}' not found.`);
    if (form.get('client_id') !== clientId)
      return refusal('unauthorized_client', 700016, 'Application was not found in the directory.');
    if (form.get('grant_type') !== 'client_credentials')
      return refusal('unsupported_grant_type', 70003, 'The grant type is not supported.');
    if (form.get('scope')?.split(' ').includes('https://graph.microsoft.com/.default') !== true)
      return refusal('invalid_scope', 70011, "The provided value for 'scope' is not valid.");
    const assertion = form.get('client_assertion');
    if (assertion !== null) {
      if (certificate === undefined || !isSigned(assertion, certificate, clientId, tenant))
        return refusal('invalid_client', 700027, 'Client assertion failed signature validation.');
    } else if (form.get('client_secret') !== secret?.value) {
      return refusal('invalid_client', 7000215, 'Invalid client secret provided.');
    } else if (secret?.expired === true) {
      return refusal('invalid_client', 7000222, 'The provided client secret keys are expired.');
    }
    const token = randomBytes(24).toString('base64url');
    this.#valid.add(token);
    this.given += 1;
    return {
      status: 200,
      body: { token_type: 'Bearer', expires_in: 3599, ext_expires_in: 3599, access_token: token },
    };
  }
}

/** As Microsoft documents it for certificate credentials: PS256, SHA-256 thumbprint, the token endpoint as audience. */
function isSigned(assertion: string, pem: string, clientId: string, tenant: string): boolean {
  const [head = '', claims = '', signature = ''] = assertion.split('.');
  const read = (part: string) =>
    parseJson(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  const certificate = new X509Certificate(pem);
  const thumbprint = createHash('sha256').update(certificate.raw).digest('base64url');
  const { aud, iss, sub, exp } = read(claims);
  const key = { key: certificate.publicKey, padding: 6, saltLength: 32 };
  return (
    read(head)['alg'] === 'PS256' &&
    read(head)['x5t#S256'] === thumbprint &&
    aud === `https://login.microsoftonline.com/${tenant}/oauth2/v2.0/token` &&
    iss === clientId &&
    sub === clientId &&
    Number(exp) * 1_000 > Date.now() &&
    verify('sha256', Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))
  );
}

function refusal(error: string, code: number, text: string): Reply {
  return {
    status: error === 'invalid_client' ? 401 : 400,
    body: {
      error,
      error_description: `AADSTS${code}: ${text} Trace ID: 0000aaaa-11bb-cccc-dd22-eeeeee333333`,
      error_codes: [code],
      timestamp: '2026-11-23 10:00:00Z',
      trace_id: '0000aaaa-11bb-cccc-dd22-eeeeee333333',
      correlation_id: 'aaaa0000-bb11-2222-33cc-444444dddddd',
      error_uri: `https://login.microsoftonline.com/error?code=${code}`,
    },
  };
}
