/** The property by which a person in HubSpot asks for a lead for a company that has none; nothing is mapped to it. */
export const optInProperty = 'lead_sync';
