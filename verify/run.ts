/**
 * Asks a real service what the stand-ins of the tests assume, on records of its own that it removes again. The contracts
 * (test/contract) are played on the stand-ins; of files on a server also here.
 *
 *     npm run verify:hubspot
 *     npm run verify:google-sheets -- --spreadsheet ID [--protected 'TAB!A1'] [--quota] [--per-minute N]
 *
 * Exit code 0: all is as expected; 1: something is not; 2: it could not begin.
 */
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';

interface Vendor {
  /** Variables without which it cannot begin. */
  readonly needs: readonly string[];
  readonly help: string;
}

const grid: Vendor = { needs: [], help: '' };
const vendors: Readonly<Record<string, Vendor>> = {
  'google-sheets': {
    needs: ['GOOGLE_APPLICATION_CREDENTIALS', 'VERIFY_SPREADSHEET'],
    help: 'the path of a service account’s key, and --spreadsheet ID (or its address) of a spreadsheet for tests that is shared with it',
  },
  hubspot: {
    needs: ['HUBSPOT_TOKEN'],
    help: 'of a portal for tests, without companies: create a service key in HubSpot (Development, Keys, Service keys) with the scopes crm.objects.companies.read, crm.objects.companies.write, crm.schemas.companies.read, crm.schemas.companies.write and tickets',
  },
  msgraph: {
    needs: ['MSGRAPH_TENANT', 'MSGRAPH_CLIENT_ID', 'VERIFY_DRIVE'],
    help: 'and MSGRAPH_CLIENT_SECRET, of an app that may write to the drive of a site for tests',
  },
  directus: grid,
  nocodb: grid,
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    spreadsheet: { type: 'string' },
    protected: { type: 'string' },
    quota: { type: 'boolean' },
    'per-minute': { type: 'string' },
    only: { type: 'string' },
  },
});
const [name = ''] = positionals;
const { env } = process;
for (const [option, value] of Object.entries(values))
  env[`VERIFY_${option.toUpperCase().replace('-', '_')}`] = String(value);
const vendor = vendors[name];
const missing = vendor?.needs.filter((variable) => (env[variable] ?? '') === '') ?? [];
if (vendor === undefined || missing.length > 0) {
  const words =
    vendor === undefined
      ? `verify/run.ts needs one of ${Object.keys(vendors).join(', ')}`
      : `verify:${name} needs ${missing.join(', ')}: ${vendor.help}`;
  process.stderr.write(`${words}\n`);
  process.exitCode = 2;
} else {
  if (vendor === grid) env['VERIFY_GRID'] = name;
  await startVitest([`verify/${vendor === grid ? 'grid' : name}.test.ts`], {
    config: false,
    include: ['verify/*.test.ts'],
    watch: false,
    reporters: ['verbose'],
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 1_800_000,
    ...(values.only !== undefined && { testNamePattern: values.only }),
  });
}
