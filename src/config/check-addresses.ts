import { isEmailAddress } from '../core/lead/email-address.ts';
import type { Path } from './settings.ts';
import type { Report } from './source.ts';

/** Reports keys of settings by recipient that are no addresses, or the same person twice. */
export function checkAddresses(report: Report, path: Path, people: object | undefined): void {
  const seen = new Map<string, string>();
  for (const address of Object.keys(people ?? {})) {
    const place = [...path, address];
    const earlier = seen.get(address.toLowerCase());
    if (!isEmailAddress(address))
      report(place, 'must be one e-mail address such as anna@example.com', 'name');
    else if (earlier !== undefined)
      report(
        place,
        `must be another person: ${earlier} is the same address, since case does not matter`,
        'name',
      );
    seen.set(address.toLowerCase(), earlier ?? address);
  }
}
