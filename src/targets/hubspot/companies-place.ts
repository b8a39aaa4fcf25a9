import { LeadsyncError } from '../../errors.ts';
import type { Place } from '../../ports/target.ts';
import type { HubSpotApi } from './hubspot-api.ts';

/** The companies of a portal. Without permission for the portal's number the place is unknown. */
export async function companiesPlace(api: HubSpotApi, signal: AbortSignal): Promise<Place | null> {
  try {
    const portal = await api.portal(signal);
    return {
      id: `hubspot:${portal}/companies`,
      address: `the companies of HubSpot portal ${portal}`,
      isThere: true,
    };
  } catch (error) {
    if (error instanceof LeadsyncError && error.code === 'target.forbidden') return null;
    throw error;
  }
}
