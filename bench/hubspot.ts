/**
 * Nights of a HubSpot portal with 10,000 companies on the local stand-in with the limits of a free plan: requests by kind
 * beside the fewest possible, those over the limits, time and peak memory of `leadsync sync`.
 *
 *     npx node bench/hubspot.ts [companies]
 *
 * The command runs in a process of its own with a Postgres of its own; the stand-in and the Leads service run in this one.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HubSpotSandbox, startHubSpotSandbox } from '../test/stand-ins/hubspot/hubspot-sandbox.ts';
import { type Sandbox, startSandbox } from '../src/demo/sandbox.ts';
import { measureSync } from './measure-sync.ts';

const limits = { tenSeconds: 100, daily: 250_000 };
/** Of inputs in a batch and of companies in a page. */
const mostInputs = 100;
const kinds = ['properties', 'list', 'archived-list', 'batch-read', 'update', 'upsert', 'archive'] as const;

const companies = Number(process.argv[2] ?? 10_000);
const folder = await mkdtemp(join(tmpdir(), 'leadsync-bench-'));
try {
  await using service = await startSandbox({ leads: companies });
  await using portal = await startHubSpotSandbox({ limits });
  const env = {
    // oxlint-disable-next-line node/no-process-env -- for the command, which finds its Postgres by it
    PATH: process.env['PATH'],
    HOME: folder,
    LEADS_BASE_URL: service.url,
    LEADS_API_KEY: service.apiKey,
    TARGET: 'hubspot',
    HUBSPOT_URL: portal.url,
    HUBSPOT_TOKEN: portal.token,
    DATA_DIR: join(folder, 'data'),
    LOG_LEVEL: 'warn',
  };
  const pages = (count: number): number => Math.max(1, Math.ceil(count / mostInputs));
  const changed = Math.ceil(companies / 100);
  print(
    `| night | ${kinds.join(' | ')} | all | fewest | 429 | most in 10 s | s | waited s | peak memory, MB | load |`,
  );
  print(`|${'---|'.repeat(kinds.length + 9)}`);
  // The properties, an empty page and the recycle bin; the group and the properties (a batch of them); the companies.
  await night('first sync', portal, env, 3 + 2 + pages(companies));
  await night('nothing changed', portal, env, 1 + pages(companies));
  editLeads(service, portal);
  await night('1 % changed in the service', portal, env, 1 + pages(companies) + pages(changed));
  editCompanies(portal);
  await night('1 % edited in HubSpot', portal, env, 1 + pages(companies));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** `fewest`: what reads all companies once and writes what is to be written, in pages and batches of 100. */
async function night(
  name: string,
  portal: HubSpotSandbox,
  env: NodeJS.ProcessEnv,
  fewest: number,
): Promise<void> {
  const from = portal.requests.length;
  const times: number[] = [];
  portal.before = () => {
    times.push(performance.now());
  };
  const { report, seconds, peak } = await measureSync(folder, env);
  if (report.status !== 'succeeded' || report.receipt.equal !== report.receipt.records) {
    throw new Error(`${name}: ${JSON.stringify(report)}`);
  }
  const sent = portal.requests.slice(from);
  const counts = kinds.map((kind) => sent.filter((request) => request.kind === kind).length);
  const refused = sent.filter(({ status }) => status === 429).length;
  const cells = [
    name,
    ...counts,
    sent.length,
    fewest,
    refused,
    mostWithin(times, 10_000),
    seconds.toFixed(1),
    (report.waitedMs / 1000).toFixed(1),
    Math.round(peak / 1024),
    (loadavg()[0] ?? 0).toFixed(1),
  ];
  print(`| ${cells.join(' | ')} |`);
}

/** How many of these moments, ascending, lie in the fullest span of so many ms. */
function mostWithin(times: readonly number[], spanMs: number): number {
  let [most, from] = [0, 0];
  times.forEach((time, index) => {
    while ((times[from] ?? time) <= time - spanMs) from += 1;
    most = Math.max(most, index - from + 1);
  });
  return most;
}

/** A hundredth of the leads, in the service. */
function editLeads(service: Sandbox, { person }: HubSpotSandbox): void {
  person.companies().forEach(({ properties }, n) => {
    const leadId = properties['lead_id'] ?? '';
    if (n % 100 === 0 && service.leads.edit(leadId, { city: `Town ${n}` }) === undefined)
      throw new Error(`no lead ${leadId}`);
  });
}

/** Another hundredth, in the portal. */
function editCompanies({ person }: HubSpotSandbox): void {
  person.companies().forEach(({ id }, n) => {
    if (n % 100 === 50) person.edit(id, { city: `Village ${n}` });
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
