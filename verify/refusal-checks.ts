import { z } from 'zod';
import { type Check, Differs, same, Skipped } from './check.ts';
import { refusal } from './refusals.ts';

/** `place`: a cell in A1 notation with its tab that somebody else has protected from this account. */
export function protectedCheck(place: string | undefined): Check {
  return {
    title: 'a cell that somebody else has protected is refused with 400, and told to be protected',
    async run(scratch) {
      const [, tab, cell] = /^(.+)!([A-Z]+\d+)$/.exec(place ?? '') ?? [];
      if (tab === undefined || cell === undefined) {
        throw new Skipped("protect a cell from the account by hand and name it: --protected 'TAB!A1'");
      }
      const { protectedRanges = [] } = await scratch.sheet(tab, '1:2', 'protectedRanges');
      const closed = protectedRanges.filter((range) => range.requestingUserCanEdit !== true);
      if (closed.length === 0) throw new Differs(`no protected range of ${tab} is told to be closed to us`);
      const [[before = ''] = []] = await scratch.values(tab, cell, 'FORMULA');
      if (typeof before !== 'string') throw new Skipped('the protected cell must hold a text');
      // What stands there already: nothing is lost should it be accepted.
      const answer = await refusal(scratch.type(tab, cell, [[before]], 'RAW'));
      if (answer?.startsWith('400 ') !== true) throw new Differs(answer ?? 'accepted');
      return answer;
    },
  };
}

/** The client's types know nothing of what its replies really have. */
const replyHeaders = z.custom<Iterable<[string, string]>>(
  (value) => typeof value === 'object' && value !== null && Symbol.iterator in value,
);

/** Which headers a reply has: whether a quota is told before it is used up. */
export const headersCheck: Check = {
  title: 'headers that tell of quotas (none is documented)',
  async run(scratch) {
    const names = await scratch.raw('read', async (sheets, spreadsheetId) => {
      const { headers } = await sheets.spreadsheets.get({ spreadsheetId, fields: 'spreadsheetId' });
      return Array.from(replyHeaders.parse(headers), ([name]) => name);
    });
    const told = names.filter((name) => /quota|rate|limit|retry/i.test(name));
    return told.length === 0 ? `none among ${names.join(', ')}` : told.join(', ');
  },
};

/** Uses up the reads of a minute on purpose. Other programs of the same account have to wait meanwhile. */
export const quotaCheck: Check = {
  title: 'one read too many is answered 429, which names the quota',
  async run(scratch) {
    for (let n = 0; n < 1_000; n++) {
      const answer = await scratch.unpaced();
      if (answer === null) continue;
      const { quota, status, retryAfterMs, words } = answer;
      same('status', status, 429);
      same('the quota that is named', quota, 'read');
      return `after ${n} reads; Retry-After: ${retryAfterMs === null ? 'none' : `${retryAfterMs} ms`}; ${words ?? ''}`;
    }
    throw new Differs('1,000 reads were let through');
  },
};
