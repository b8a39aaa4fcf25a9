/**
 * Finds out whether HubSpot is as leadsync and its stand-in take it to be, on companies and properties of its own in a
 * portal of yours, which are archived afterwards (also after a fault and after Ctrl+C):
 *
 *     HUBSPOT_TOKEN=pat-… npm run verify:hubspot
 *
 * Take a portal for tests: its workflows see the companies, and its recycle bin keeps some hundred for a while. Not two at
 * once in one portal. TARGET_API_URL: another address than https://api.hubapi.com.
 * Exit code 0: all is as expected; 1: something is not, could not be tried, or was left behind; 2: it could not begin.
 */
import { Secret } from '../src/config/secret.ts';
import { visibleText } from '../src/lib/visible-text.ts';
import { shortened, Skipped } from './check.ts';
import { adapterCheck } from './hubspot/adapter-check.ts';
import { batchChecks } from './hubspot/batch-checks.ts';
import { mergeChecks } from './hubspot/merge-checks.ts';
import type { PortalCheck } from './hubspot/portal-check.ts';
import { portalChecks } from './hubspot/portal-checks.ts';
import { PortalClient } from './hubspot/portal-client.ts';
import { PortalScratch } from './hubspot/portal-scratch.ts';
import { valueChecks } from './hubspot/value-checks.ts';
import { describe, print, stopSignal } from './terminal.ts';

const outcomes = ['as expected', 'otherwise', 'not tried'] as const;
type Outcome = (typeof outcomes)[number];

// oxlint-disable-next-line node/no-process-env -- a script of its own, with variables of its own
const { HUBSPOT_TOKEN: token = '', TARGET_API_URL: apiUrl = 'https://api.hubapi.com' } = process.env;
process.exitCode = await verify(token, apiUrl);

async function verify(token: string, apiUrl: string): Promise<number> {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    print(
      'verify:hubspot needs HUBSPOT_TOKEN: create a service key in HubSpot (Development, Keys, Service keys) with the scopes crm.objects.companies.read, crm.objects.companies.write, crm.schemas.companies.read, crm.schemas.companies.write and tickets.',
    );
    return 2;
  }
  const stopped = stopSignal('what was made is archived now');
  const secret = new Secret(token);
  const scratch = new PortalScratch(new PortalClient(apiUrl, secret), stopped);
  try {
    await scratch.definitions();
  } catch (error) {
    print(`It could not begin, and nothing was made: ${describe(error)}`);
    return 2;
  }
  const checks = [
    ...portalChecks,
    ...mergeChecks,
    ...batchChecks,
    ...valueChecks,
    adapterCheck(apiUrl, secret),
  ];
  const counts: Record<Outcome, number> = { 'as expected': 0, otherwise: 0, 'not tried': 0 };
  let begun = true;
  try {
    await scratch.begin();
    for (const check of checks) {
      if (stopped.aborted) counts['not tried'] += 1;
      else counts[await run(check, scratch)] += 1;
    }
  } catch (error) {
    print(`It could not begin: ${describe(error)}`);
    begun = false;
  }
  const clean = await cleanUp(scratch);
  if (!begun) return 2;
  const { otherwise, 'not tried': untried } = counts;
  print(
    `${counts['as expected']} as expected, ${otherwise} otherwise than the stand-in, ${untried} could not be tried.`,
  );
  return clean && otherwise === 0 && untried === 0 ? 0 : 1;
}

async function run({ title, run: find }: PortalCheck, scratch: PortalScratch): Promise<Outcome> {
  const say = (outcome: Outcome, what: string): Outcome => {
    print(`${outcome.padEnd(13)}${title}: ${visibleText(shortened(what), 700)}`);
    return outcome;
  };
  try {
    return say('as expected', await find(scratch));
  } catch (error) {
    return say(error instanceof Skipped ? 'not tried' : 'otherwise', describe(error));
  }
}

/** Whether nothing is left. */
async function cleanUp(scratch: PortalScratch): Promise<boolean> {
  try {
    const { companies, properties } = await scratch.cleanUp();
    print(`\n${companies} companies and ${properties} properties were archived again.`);
    return true;
  } catch (error) {
    print(
      `\nArchive the companies "${scratch.mark} …" and the properties leadsync_verify_… by hand: ${describe(error)}`,
    );
    return false;
  }
}
