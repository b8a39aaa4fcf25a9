import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openWorker } from '../../../src/worker/open-worker.ts';
import { checkTarget } from '../../../src/cli/check-target.ts';
import { drivePath } from '../../../src/config/addresses.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Reply } from '../../stand-ins/hubspot/send-reply.ts';
import * as refuse from '../../stand-ins/msgraph/graph-error.ts';
import {
  type MsGraphSandbox,
  sampleApp,
  sampleDrive,
  startMsGraphSandbox,
} from '../../stand-ins/msgraph/msgraph-sandbox.ts';
import { Workspace } from '../../support/workspace.ts';

const headings = 'Lead ID,Company,Segment,City,Region,Stage,Next follow-up,Status\n';

function settingsFor({ loginUrl }: MsGraphSandbox): Record<string, string | undefined> {
  return {
    MSGRAPH_URL: loginUrl,
    MSGRAPH_TENANT: sampleApp.tenant,
    MSGRAPH_CLIENT_ID: sampleApp.clientId,
    MSGRAPH_CLIENT_SECRET: sampleApp.secret?.value,
  };
}

/** What `leadsync check` says of the targets, with these variables besides. */
async function checked(workspace: Workspace, env: Record<string, string | undefined>) {
  const config = await loadConfig({ env: { ...workspace.env, ...env }, cwd: workspace.folder });
  await using app = await openWorker(config, pino({ level: 'silent' }));
  const lines = [...app.contexts.values()].map((context) => checkTarget(context, false));
  return (await Promise.all(lines)).flat();
}

const path = (name: string): object => ({ path: `msgraph:${sampleDrive}/${name}` });
const link = (rest: string): object => ({ path: `https://contoso.sharepoint.com/${rest}` });
const tooWide: Reply = refuse.graphError(401, 'AccessDenied', 'Either scp or roles claim need to be present');

// Target, what Graph answers (null: as usual), code (null: all is well), what is said, what helps.
const places: Record<string, readonly [object, Reply | null, string | null, RegExp, RegExp?]> = {
  right: [
    path('Sales/leads.csv'),
    null,
    null,
    /: 0 rows, .*; whether the app may write, and nobody has the file open, shows at the first write$/,
  ],
  missing: [path('Sales/missing.csv'), null, null, /; there is no such file yet: the first sync makes it$/],
  out: [
    path('Sales/out.csv'),
    null,
    'target.busy',
    /Sales\/out.csv is checked out by Anna Person\. Nothing was written\.$/,
    /^Check it in/,
  ],
  folder: [
    path('Sales/folder.csv'),
    null,
    'target.unreadable',
    /folder.csv is a folder\. Nothing was read/,
    /^Correct drive, path/,
  ],
  nowhere: [
    path('Nowhere/leads.csv'),
    null,
    'target.not-found',
    /shows the app no folder Nowhere in drive b!stand-in_drive, or not that drive\. Nothing was made\.$/,
    /^Check drive and path\. Grant the site .*docs\/microsoft-365\.md/,
  ],
  noDrive: [
    { path: 'msgraph:b!other/leads.csv' },
    null,
    'target.not-found',
    /shows the app no drive b!other\. Nothing was made\.$/,
    /^Check drive and path/,
  ],
  notGranted: [
    path('Sales/denied.csv'),
    refuse.accessDenied(),
    'target.forbidden',
    /^Microsoft 365 does not let the app read Sales\/denied.csv \(403 accessDenied\)\. Nothing was read or written\./,
    /^Grant the site to the app: .*"roles":\["write"\].*docs\/microsoft-365\.md/,
  ],
  noConsent: [
    path('Sales/no-consent.csv'),
    tooWide,
    'target.unauthenticated',
    /^Microsoft Graph rejects the token of the app \(401 AccessDenied\)\. Nothing was read or written\./,
    /Sites\.Selected with admin consent/,
  ],
  open: [
    path('Sales/open.csv'),
    refuse.resourceLocked(),
    'target.busy',
    /open.csv is locked: somebody has it open in Excel or in the browser, .* Nothing was written\.$/,
    /^Close it there/,
  ],
  oldLink: [
    link(':x:/s/sales/EbCd'),
    null,
    'target.not-found',
    /^Microsoft 365: contoso\.sharepoint\.com\/:x:\/s\/sales\/… leads to no file that the app may see\. Nothing was read/,
    /^Copy the link again/,
  ],
  cutLink: [
    link('sites/sales'),
    refuse.invalidRequest('The sharing link is invalid.'),
    'target.refused',
    /refuses a request for Microsoft 365: contoso.sharepoint.com\/sites\/… \(400 invalidRequest\)\. Nothing was read/,
    /^Check drive, path or link \(docs\/microsoft-365\.md\)\.$/,
  ],
};

test('check says what is wrong with a place in Microsoft 365', async () => {
  await using graph = await startMsGraphSandbox();
  const { drive } = graph.state;
  for (const name of ['leads', 'out']) drive.save(`Sales/${name}.csv`, Buffer.from(headings), 'Anna');
  Object.assign(drive.at('Sales/out.csv') ?? {}, { checkedOutBy: 'Anna Person' });
  drive.folders.add('sales/folder.csv');
  graph.incident = ({ path: asked }) => {
    const [, reply] = Object.values(places).find(([at]) => asked.includes(addressOf(at))) ?? [];
    return reply ?? undefined;
  };
  const others = Object.fromEntries(Object.entries(places).map(([name, [target]]) => [name, { target }]));
  await using workspace = await Workspace.open({ others, env: settingsFor(graph) });
  const lines = await checked(workspace, {});
  for (const [name, [, , code, says, helps]] of Object.entries(places)) {
    const line = lines.find((one) => one.name === `${name}: target`);
    expect([name, line?.code ?? null]).toEqual([name, code]);
    expect(line?.message).toMatch(says);
    if (helps !== undefined) expect(line?.help).toMatch(helps);
  }
  expect(drive.paths()).toEqual(['Sales/leads.csv', 'Sales/out.csv']);
});

/** As it stands in the path of a request. */
function addressOf(target: object): string {
  const { path: at } = target as { readonly path: string };
  const inDrive = drivePath(at);
  return inDrive === null ? Buffer.from(at).toString('base64url') : `/${inDrive.drive}/root:/${inDrive.path}`;
}

test('check says what is wrong with the app', async () => {
  await using graph = await startMsGraphSandbox();
  await using workspace = await Workspace.open({
    connection: { target: path('Sales/leads.csv') },
    env: settingsFor(graph),
  });
  const nowhere = 'http://127.0.0.1:9';
  const wrong: readonly [Record<string, string | undefined>, string, RegExp][] = [
    [
      { MSGRAPH_TENANT: 'other.example' },
      'MSGRAPH_TENANT names no directory \\(AADSTS90002\\)',
      /tenant\) ID/,
    ],
    [{ MSGRAPH_TENANT: undefined }, 'MSGRAPH_TENANT is not set', /docs\/microsoft-365\.md/],
    [
      { MSGRAPH_CLIENT_ID: '00000000-0000-0000-0000-000000000000' },
      'no app with this MSGRAPH_CLIENT_ID \\(AADSTS700016\\)',
      /client\) ID/,
    ],
    [{ MSGRAPH_CLIENT_SECRET: 'wrong-one' }, 'MSGRAPH_CLIENT_SECRET is wrong \\(AADSTS7000215\\)', /value/],
    [{ MSGRAPH_CLIENT_SECRET: undefined }, 'MSGRAPH_CLIENT_SECRET is not set', /docs/],
    [{ MSGRAPH_URL: nowhere }, 'Entra cannot be reached \\(ECONNREFUSED\\)', /network/],
  ];
  for (const [env, says, helps] of wrong) {
    const [line] = await checked(workspace, env);
    expect(line?.message).toMatch(new RegExp(says));
    expect(line?.message).toMatch(/Nothing was (?:read or written|sent)\.$/);
    expect([line?.ok, line?.help]).toEqual([false, expect.stringMatching(helps)]);
  }
  await using expired = await startMsGraphSandbox({
    ...sampleApp,
    secret: { value: sampleApp.secret?.value ?? '', expired: true },
  });
  const [line] = await checked(workspace, settingsFor(expired));
  expect(line?.message).toMatch(
    /MSGRAPH_CLIENT_SECRET has expired \(AADSTS7000222\)\. Nothing was read or written\.$/,
  );
});
