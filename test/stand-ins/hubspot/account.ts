import { Temporal } from 'temporal-polyfill';
import { z } from 'zod';
import { checkInput } from './check-input.ts';
import type { ApiCall } from './operations.ts';
import type { Reply } from './send-reply.ts';

/** `GET /account-info/…/details`. */
export function showAccount({ portal, behaviour, query }: ApiCall): Reply {
  checkInput(z.strictObject({}), query);
  const { portalId, timeZone } = behaviour;
  const now = Temporal.Instant.fromEpochMilliseconds(portal.now()).toZonedDateTimeISO(timeZone);
  return {
    status: 200,
    body: {
      portalId,
      accountType: 'STANDARD',
      timeZone,
      companyCurrency: 'EUR',
      additionalCurrencies: [],
      utcOffset: now.offset,
      utcOffsetMilliseconds: now.offsetNanoseconds / 1_000_000,
      uiDomain: 'app.hubspot.com',
      dataHostingLocation: 'eu1',
    },
  };
}
