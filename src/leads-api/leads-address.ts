import { LeadsyncError } from '../errors.ts';
import { parseServiceAddress, type ServiceAddress } from '../http/service-address.ts';

/**
 * Where the Leads service is. Throws `leads.insecure-url`, or `leads.bad-url` for what is no usable base URL; neither
 * repeats the URL's user name, password or query.
 */
export function leadsAddress(baseUrl: string): ServiceAddress {
  const address = parseServiceAddress(baseUrl);
  if (!('mistake' in address)) return address;
  const { mistake, host } = address;
  switch (mistake) {
    case 'not-http':
      throw new LeadsyncError('leads.bad-url', 'The base URL of the Leads service is not an http(s) URL.', {
        help: 'Use an absolute address such as https://api.example.com.',
      });
    case 'extras':
      throw new LeadsyncError(
        'leads.bad-url',
        `The base URL of the Leads service (${host}) contains a user name, a password, "?" or "#".`,
        { help: 'Give the address and path alone; the key has a setting of its own.' },
      );
    case 'unencrypted':
      throw new LeadsyncError(
        'leads.insecure-url',
        `The key was not sent: http://${host} is not encrypted, and is not this machine.`,
        { help: `Use https://${host}.` },
      );
    default:
      return mistake satisfies never;
  }
}
