import { codeOf } from '../lib/errors.ts';
import type { HttpFault } from './exchange.ts';

export interface NoConnection {
  /** Continues "No connection to SERVER: ". */
  readonly says: string;
  readonly help: string;
  readonly isTls: boolean;
}

const noTrust =
  /^(?:DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED|UNABLE_TO_(?:GET|VERIFY)|CERT_(?:UNTRUSTED|SIGNATURE)|CERT_CHAIN)/;
const otherTls = /^(?:ERR_TLS|ERR_SSL|EPROTO|CERT_|HOSTNAME_MISMATCH)/;

/** Null: there was a connection, and the request may have been carried out. */
export function whyNoConnection({ kind, cause, message }: HttpFault): NoConnection | null {
  const code = codeOf(cause) ?? '';
  const because = (says: string, help: string, isTls: boolean): NoConnection => ({
    says: `${says} (${message})`,
    help,
    isTls,
  });
  if (noTrust.test(code))
    return because(
      'this machine does not trust its certificate',
      'For a certificate of your own, or of a private CA, set NODE_EXTRA_CA_CERTS to the file with it (PEM), and start again.',
      true,
    );
  if (code === 'CERT_HAS_EXPIRED')
    return because('its certificate has expired', 'Renew the certificate of the server.', true);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' || code === 'HOSTNAME_MISMATCH')
    return because(
      'its certificate is for another name',
      'Address the server by a name in its certificate.',
      true,
    );
  if (otherTls.test(code))
    return because(
      'no encryption was agreed on',
      'Check the port in the address: does it serve https?',
      true,
    );
  if (kind !== 'unreachable') return null;
  const check =
    'Check the address, the network, and whether the server is running. A worker tries again by itself.';
  if (code === 'ENOTFOUND') return because('nobody knows its host name', check, false);
  if (code === 'ECONNREFUSED') return because('nothing listens at that host and port', check, false);
  return because('it cannot be reached', check, false);
}
