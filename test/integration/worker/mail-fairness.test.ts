import { expect, test } from 'vitest';
import { planMails } from '../../../src/worker/plan-mails.ts';
import { workMails } from '../../../src/worker/work-mails.ts';
import { refusal, startMailServer } from '../../support/mail-server.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

test('the mails of a connection whose sender is refused wait; those of another one leave meanwhile', async () => {
  let refused = 0;
  await using server = await startMailServer({
    onMailFrom: ({ address }, _session, callback) => {
      if (!address.startsWith('bad')) return callback();
      refused += 1;
      callback(refusal(550, '5.7.1 this sender is not yours'));
    },
  });
  const mailing = (from: string, to: string) => ({ reminders: { from, to: [to], timeZone: 'UTC' } });
  await using workspace = await Workspace.open({
    connection: mailing('bad@example.com', 'anna@example.com'),
    others: { other: mailing('good@example.com', 'ben@example.com') },
    env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
  });
  for (let nth = 0; nth < 30; nth++)
    workspace.sandbox.leads.add({ nextFollowUpAt: new Date(Date.now() - 1_000).toISOString() });
  for (const connection of ['main', 'other']) await workspace.sync({ connection });
  await using app = await workspace.openApp();
  await using _working = await workMails(app);
  await planMails(app);
  await until('all of the other have left', async () => {
    const { rowCount } = await app.pool.query(
      `select from mails where recipient = 'ben@example.com' and state = 'sent'`,
    );
    return rowCount === 30;
  });
  expect(server.mails).toHaveLength(30);
  await until('a mail was refused', () => refused > 0);
  // The next look at all of them is five minutes away: no more than were under way as the first was refused have tried.
  const { rows } = await app.pool.query<{ recipient: string; state: string; tried: number }>(
    `select recipient, state, count(*) filter (where attempts > 0)::int as tried from mails group by 1, 2 order by 1`,
  );
  expect(rows).toMatchObject([
    { recipient: 'anna@example.com', state: 'scheduled' },
    { recipient: 'ben@example.com', state: 'sent', tried: 30 },
  ]);
  expect(rows[0]?.tried).toBeLessThanOrEqual(16);
});
