import { expect, test } from 'vitest';
import { visibleActions } from '../../../src/store/actions.ts';
import { judgeMatches, twoLists } from '../../support/two-lists.ts';
import { Workspace } from '../../support/workspace.ts';

test.each([20_261_122, 7])(
  '2,000 companies of two lists with typos, legal forms and duplicates: exact links none wrongly, proposals are nearly all right (seed %i)',
  async (seed) => {
    await using here = await Workspace.open({
      connection: { fields: { companyName: 'Company', city: 'City' }, sync: { match: 'exact' } },
    });
    const { leads, rows } = twoLists(2_000, seed);
    const ofLead = new Map(leads.map(({ company, ...lead }) => [here.sandbox.leads.add(lead).id, company]));
    here.sheet.write([['Lead ID', 'Company', 'City'], ...rows.map((row) => ['', row.companyName, row.city])]);
    const run = await here.run({ mode: 'plan' });
    const actions = await visibleActions(here.database.pool, run);
    const judged = judgeMatches(actions, ofLead, new Map(rows.map(({ company }, nth) => [nth + 2, company])));
    expect(judged.linked.wrong).toBe(0);
    expect(judged.linked.right).toBeGreaterThan(500);
    expect(judged.proposed.right / (judged.proposed.right + judged.proposed.wrong)).toBeGreaterThan(0.95);
    expect(judged.companies.listed / judged.companies.inBoth).toBeGreaterThan(0.9);
  },
);
