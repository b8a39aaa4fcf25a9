import { codeOf } from './errors.ts';

/** Node's codes for a certificate that it does not trust. */
export const certificateCodes: ReadonlySet<unknown> = new Set([
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

export const isCertificateFault = (error: unknown): boolean => certificateCodes.has(codeOf(error));

/** For a Postgres. */
export const certificateHelp =
  'Name the file with the CA that signed its certificate: ?sslrootcert=/path/ca.pem in the address, or NODE_EXTRA_CA_CERTS=/path/ca.pem; and address the server by a name in the certificate.';
