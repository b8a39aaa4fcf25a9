/** The HubSpot property by which a person requests a lead for a company that has none. Not mapped to a lead field. */
export const optInProperty = 'lead_sync';
