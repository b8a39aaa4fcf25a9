import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { startSheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { startHubSpotSandbox } from '../../stand-ins/hubspot/hubspot-sandbox.ts';
import type { WorkerApp } from '../../../src/worker/open-worker.ts';
import { parseFaults } from '../../../src/demo/faults.ts';
import { advanceRun } from '../../../src/sync/run.ts';
import { connectionName, Workspace } from '../../support/workspace.ts';
import { portOf } from '../leads-api/leads-api-server.ts';

type Counts = Readonly<Record<string, number>>;

/** One try of a sync; what became of it is not looked at. */
async function trySync(app: WorkerApp): Promise<void> {
  const context = app.contexts.get(connectionName);
  if (context === undefined) throw new Error('the connection is not configured');
  const request = { mode: 'sync', allow: [], maxAttempts: 1 } as const;
  await advanceRun({ ...context, log: pino({ level: 'silent' }) }, request, new AbortController().signal);
}

/** The counted requests to one side, by status. */
function counted({ activity }: WorkerApp, side: string): Counts {
  const counts = [...activity.requests].filter(({ labels, value }) => labels['side'] === side && value > 0);
  return Object.fromEntries(counts.map(({ labels, value }) => [labels['status'], value]));
}

/** What a stand-in says that it answered; 0 or null: nothing that was complete. */
function answered(log: readonly { readonly status: number | null }[]): Counts {
  const counts: Record<string, number> = {};
  for (const { status } of log) {
    const key = String(status || 'unfinished');
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

test('requests to HubSpot and to the Leads service are counted by the status that came, or as unfinished', async () => {
  await using portal = await startHubSpotSandbox({ limits: null });
  await using workspace = await Workspace.open({
    sandbox: { leads: 2, faults: parseFaults('unfinished:once=1') },
    connection: { target: { type: 'hubspot', token: '${HUBSPOT_TOKEN}', path: undefined } },
    env: { HUBSPOT_URL: portal.url, HUBSPOT_TOKEN: portal.token },
  });
  portal.before = ({ n }) => (n === 1 ? { status: 503 } : undefined);
  await using app = await workspace.openApp();
  for (let n = 0; n < 3; n++) await trySync(app);
  expect(counted(app, 'hubspot')).toEqual(answered(portal.requests));
  expect(counted(app, 'hubspot')).toMatchObject({ 503: 1 });
  expect(counted(app, 'leads')).toEqual(answered(workspace.sandbox.log));
});

test('requests to Google Sheets are counted, those for a token are not', async () => {
  await using sheets = await startSheetsSandbox({ quotas: null });
  await using workspace = await Workspace.open({
    sandbox: { leads: 2 },
    connection: {
      target: { type: 'google-sheets', spreadsheet: sheets.spreadsheetId, path: undefined },
    },
    env: { GOOGLE_SHEETS_URL: sheets.url },
  });
  const keyPath = join(workspace.folder, 'key.json');
  writeFileSync(keyPath, sheets.keyFile());
  workspace.env['GOOGLE_APPLICATION_CREDENTIALS'] = keyPath;
  await using app = await workspace.openApp();
  await trySync(app);
  const asked = sheets.requests.filter(({ kind }) => kind !== 'token');
  expect(asked.length).toBeGreaterThan(3);
  expect(counted(app, 'google-sheets')).toEqual(answered(asked));
});

test('a request that nobody took is counted as unreachable', async () => {
  const closed = createServer();
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${portOf(closed)}`;
  await new Promise((resolve) => closed.close(resolve));
  await using workspace = await Workspace.open({ connection: { leads: { baseUrl } } });
  await using app = await workspace.openApp();
  await trySync(app);
  expect(counted(app, 'leads')).toEqual({ unreachable: 3 });
});
