import { LeadsyncError } from '../errors.ts';
import { parseServiceAddress, type ServiceAddress } from '../http/service-address.ts';

/**
 * Parses the base URL of the Leads service. Throws `leads.insecure-url` or `leads.bad-url`; neither repeats the URL's
 * user name, password or query.
 */
export function leadsAddress(baseUrl: string): ServiceAddress {
  const address = parseServiceAddress(baseUrl);
  if (!('mistake' in address)) return address;
  const { mistake, host } = address;
  if (mistake === 'unencrypted')
    throw new LeadsyncError(
      'leads.insecure-url',
      `The key was not sent: http://${host} is not encrypted and not this machine.`,
      { help: `Use https://${host}.` },
    );
  throw new LeadsyncError(
    'leads.bad-url',
    'The base URL of the Leads service is not an http(s) address without user name, password, "?" and "#".',
    { help: 'Use an address such as https://api.example.com; the key has its own setting.' },
  );
}
