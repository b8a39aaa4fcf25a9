import { expect, test } from 'vitest';
import { refusal, startMailServer } from '../../support/mail-server.ts';
import { until } from '../../support/until.ts';
import { Workspace } from '../../support/workspace.ts';

test('a mail server that repeats addresses gets none into the log', async () => {
  await using server = await startMailServer({
    onRcptTo: ({ address }, _session, callback) =>
      callback(refusal(550, `5.1.1 <${address}> is unknown here`)),
  });
  await using workspace = await Workspace.open({
    connection: { reminders: { from: 'leadsync@example.com', to: ['anna.maier@sales.example'] } },
    env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
  });
  workspace.sandbox.leads.add({
    companyName: 'Due today AG',
    nextFollowUpAt: new Date(Date.now() - 1_000).toISOString(),
  });
  await workspace.sync();
  await using worker = workspace.start(['worker']);
  await until('the mail is refused', () => worker.stderr.includes('mail.refused'));
  expect(worker.stderr).toContain('550 5.1.1 <(address)> is unknown here');
  // What the process logged is searched for addresses and names at its end.
  await worker.kill('SIGTERM');
});
