import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Secret } from '../../config/secret.ts';
import { LeadsyncError } from '../../lib/errors.ts';
import { docsPath } from '../../lib/version.ts';

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

export interface GraphCredentials {
  readonly tenant: string;
  readonly clientId: string;
  readonly proof: GraphProof;
}

const howTo = (): string => `${docsPath('microsoft-365.md')} shows how to register an app in five minutes.`;

/** Throws `target.credentials-missing` and `-invalid` (never); messages name the setting, never its value. */
export function readGraphCredentials(app: GraphApp): GraphCredentials {
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
