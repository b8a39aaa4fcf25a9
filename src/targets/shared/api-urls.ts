/** Where the vendors' APIs are, unless TARGET_API_URL names a stand-in. */
export const sheetsUrl = 'https://sheets.googleapis.com';
export const hubSpotUrl = 'https://api.hubapi.com';
