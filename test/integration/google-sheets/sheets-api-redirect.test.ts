import { expect, test } from 'vitest';
import { json, startServer, thrown } from '../leads-api/leads-api-server.ts';
import { never, startGoogle } from './sheets-api-server.ts';

test.each([302, 307, 308])(
  'Google Sheets answers with a redirect (%i): it is not followed',
  async (status) => {
    await using elsewhere = await startServer((response) => json(response, 200, { valueRanges: [{}] }));
    await using google = await startGoogle((response) =>
      json(response, status, {}, { location: `${elsewhere.url}/v4` }),
    );
    const error = await thrown(google.api().read(['A'], 'FORMULA', never));
    expect([elsewhere.seen.length, error]).toMatchObject([0, { code: 'target.unavailable' }]);
  },
);

test.each([302, 307])(
  'the token server answers with a redirect (%i): nothing signed goes there',
  async (status) => {
    await using elsewhere = await startServer((response) =>
      json(response, 200, { access_token: 'x', expires_in: 3599, token_type: 'Bearer' }),
    );
    await using google = await startGoogle(
      (response) => json(response, 200, {}),
      (response) => json(response, status, {}, { location: `${elsewhere.url}/token` }),
    );
    const error = await thrown(google.api().read(['A'], 'FORMULA', never));
    expect([elsewhere.seen.length, error]).toMatchObject([0, { code: 'target.unavailable' }]);
  },
);
