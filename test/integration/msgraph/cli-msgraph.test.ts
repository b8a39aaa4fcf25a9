import { expect, test, vi } from 'vitest';
import type { SyncReport } from '../../../src/sync/report.ts';
import { sampleApp, sampleDrive, startMsGraphSandbox } from '../../stand-ins/msgraph/msgraph-sandbox.ts';
import { oneObject } from '../../support/cli.ts';
import { Workspace } from '../../support/workspace.ts';

// The test starts several processes.
vi.setConfig({ testTimeout: 120_000 });

test('check and sync a workbook in Microsoft 365, with edits on both sides; one that is open is put off', async () => {
  await using graph = await startMsGraphSandbox();
  const { drive } = graph.state;
  const secret = sampleApp.secret?.value ?? '';
  await using workspace = await Workspace.open({
    sandbox: { leads: 3 },
    connection: { target: { type: 'workbook', path: `msgraph:${sampleDrive}/Sales/leads.csv` } },
    env: {
      MSGRAPH_URL: graph.loginUrl,
      MSGRAPH_TENANT: sampleApp.tenant,
      MSGRAPH_CLIENT_ID: sampleApp.clientId,
      MSGRAPH_CLIENT_SECRET: secret,
    },
  });
  let said = '';
  const cli = async (args: readonly string[]) => {
    const result = await workspace.start(args, { env: { LOG_LEVEL: 'trace' } }).ended;
    said += result.stdout + result.stderr;
    return result;
  };
  const sync = async () => oneObject(await cli(['sync', '--json'])) as unknown as SyncReport;
  expect((await cli(['check'])).stdout).toContain('main: target: Microsoft 365: Sales/leads.csv: 0 rows');
  expect(await sync()).toMatchObject({ status: 'succeeded', created: { leads: 0, rows: 3 } });
  const [first, second] = workspace.sandbox.leads.list();
  if (!first || !second) throw new Error('too few leads');
  const text = drive.at('Sales/leads.csv')?.bytes.toString() ?? '';
  const edited = text.replace(first.companyName ?? '', 'Sonnenhof GmbH');
  drive.save('Sales/leads.csv', Buffer.from(edited), 'Anna');
  workspace.sandbox.leads.edit(second.id, { city: 'Kiel' });
  Object.assign(drive.at('Sales/leads.csv') ?? {}, { isOpen: true });
  expect((await cli(['sync'])).code).not.toBe(0);
  Object.assign(drive.at('Sales/leads.csv') ?? {}, { isOpen: false });
  await sync();
  expect(workspace.sandbox.leads.get(first.id)?.companyName).toBe('Sonnenhof GmbH');
  expect(drive.at('Sales/leads.csv')?.bytes.toString()).toContain('Kiel');
  expect(await sync()).toMatchObject({ status: 'succeeded', updated: { leads: 0, rows: 0 } });
  expect(said).not.toContain(secret);
});
