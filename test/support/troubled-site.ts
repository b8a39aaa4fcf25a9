import { fillQueues } from '../../src/worker/fill-queues.ts';
import { adminToken, openStatusSite, type StatusSite } from './status-site.ts';

/** Values that a page must survive, and show. */
export const hostile = {
  script: `<script>document.title = 'owned'</script><img src=x onerror="document.title='owned'">`,
  quotes: `"' onmouseover='alert(1)' x="`,
  long: `beginning ${'long '.repeat(2_000)}end`,
  lines: 'first line\nsecond line\r\n\tthird',
  rightToLeft: 'שלום \u202Eabc\u202C عالم',
  emoji: '👩‍👩‍👧‍👦 Bäckerei 🥐 ﷽',
} as const;

/**
 * A site on which everything is to be seen: conflicts with values of all kinds, a row that cannot be read, a match, leads that are
 * missing, reminders that are to come, and three runs.
 */
export async function openTroubledSite(): Promise<StatusSite> {
  const reminders = { from: 'sales@example.com', to: ['anna@example.com'], timeZone: 'Europe/Berlin' };
  const sync = { timeZone: 'Europe/Berlin', match: 'propose', limits: { maxDeletes: '50%' } };
  const site = await openStatusSite({
    sandbox: { leads: 60 },
    connection: { reminders, sync },
    env: { ADMIN_TOKEN: adminToken },
  });
  const { workspace, app } = site;
  const { sandbox, sheet } = workspace;
  await workspace.sync();
  const [first, second, ...leads] = sandbox.leads.list();
  const edited = leads.slice(0, 30);
  const values = Object.values(hostile);
  for (const [index, { id }] of edited.entries())
    sandbox.leads.edit(id, { city: values[index] ?? `Lead city ${index}` });
  for (const [index, { id }] of edited.entries())
    sheet.edit((row) => row['Lead ID'] === id, { City: `Row city ${index}` });
  sheet.edit((row) => row['Lead ID'] === leads[40]?.id, { 'Next follow-up': 'next Tuesday' });
  sheet.edit((row) => row['Lead ID'] === leads[41]?.id, { Stage: 'won' });
  sandbox.leads.edit(leads[42]?.id ?? '', { stage: 'lost' });
  for (const lead of leads.slice(43, 46))
    sandbox.leads.edit(lead.id, { nextFollowUpAt: '2031-05-01T09:00:00.000Z' });
  sandbox.leads.add({ companyName: 'Dorn Logistik GmbH', city: 'Ulm' });
  sheet.add({ Company: 'Dorn Logistik', City: 'Ulm' });
  sandbox.leads.remove(first?.id ?? '');
  await workspace.sync();
  await workspace.sync();
  sandbox.leads.remove(second?.id ?? '');
  await workspace.sync();
  await fillQueues(app);
  return site;
}
