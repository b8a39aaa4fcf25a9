/**
 * Finds out whether Google Sheets is as leadsync and its stand-in take it to be, on tabs of its own in a spreadsheet of
 * yours, which are deleted afterwards:
 *
 *     GOOGLE_APPLICATION_CREDENTIALS=key.json npm run verify:google-sheets -- --spreadsheet ID
 *
 * `--protected 'TAB!A1'`: a cell that you have protected from the account. `--quota`: uses up the reads of a minute.
 * `--per-minute N`: requests of each kind, 50 unless given (Google allows 60). TARGET_API_URL: another address.
 * Exit code 0: all is so; 1: something differs; 2: it could not begin.
 */
import { parseArgs } from 'node:util';
import { Redactor } from '../src/lib/redact.ts';
import { spreadsheet as spreadsheetSetting } from '../src/config/target-schema.ts';
import { LeadsyncError } from '../src/lib/errors.ts';
import { openGoogleAccount } from '../src/targets/google-sheets/google-account.ts';
import { readGoogleReply } from '../src/targets/google-sheets/google-fault.ts';
import { adapterChecks } from './adapter-checks.ts';
import { assumptionChecks } from './assumption-checks.ts';
import { headersCheck, protectedCheck, quotaCheck } from './refusal-checks.ts';
import { type Check, Differs, shortened, Skipped } from './check.ts';
import { Scratch } from './scratch.ts';
import { describe as describeOther, print } from './terminal.ts';

const { values: given } = parseArgs({
  options: {
    spreadsheet: { type: 'string' },
    protected: { type: 'string' },
    quota: { type: 'boolean', default: false },
    'per-minute': { type: 'string', default: '50' },
  },
});
process.exitCode = await verify(given.spreadsheet, Number(given['per-minute']));

async function verify(spreadsheet: string | undefined, perMinute: number): Promise<number> {
  if (spreadsheet === undefined || !(perMinute >= 2)) {
    print('verify:google-sheets needs --spreadsheet ID (or its address), and --per-minute a number from 2');
    return 2;
  }
  const account = openGoogleAccount(process.env['GOOGLE_APPLICATION_CREDENTIALS']);
  const apiUrl = `${process.env['TARGET_API_URL'] ?? 'https://sheets.googleapis.com'}/`.replace(/\/+$/, '/');
  const scratch = new Scratch({
    spreadsheetId: spreadsheetSetting.parse(spreadsheet),
    apiUrl,
    account,
    perMinute,
  });
  try {
    const { title, timeZone, locale } = await scratch.properties();
    print(`"${title}", ${timeZone}, ${locale}, as ${(await account.address()) ?? 'a workload identity'}\n`);
  } catch (error) {
    print(`The spreadsheet cannot be opened: ${describe(error)}`);
    return 2;
  }
  const checks = [...adapterChecks, ...assumptionChecks, protectedCheck(given.protected), headersCheck];
  let different = 0;
  let stopped = false;
  // npm passes Ctrl+C on, so that it comes twice.
  process.on('SIGINT', () => {
    stopped = true;
  });
  for (const check of checks) if (!stopped) different += (await run(check, scratch)) ? 0 : 1;
  if (!(await cleanUp(scratch))) return 1;
  if (given.quota && !stopped) different += (await run(quotaCheck, scratch)) ? 0 : 1;
  print(different === 0 ? 'Nothing differs.' : `${different} differ: see above.`);
  return different === 0 ? 0 : 1;
}

/** Whether no tab is left. */
async function cleanUp(scratch: Scratch): Promise<boolean> {
  try {
    print(`\n${await scratch.cleanUp()} tabs were deleted again.\n`);
    return true;
  } catch (error) {
    print(`\nDelete the tabs "${scratch.mark} …" by hand: ${describe(error)}`);
    return false;
  }
}

/** Whether it is so, as far as it could be found out. */
async function run({ title, run: find }: Check, scratch: Scratch): Promise<boolean> {
  try {
    print(`ok       ${title}\n           ${shortened(await find(scratch))}`);
    return true;
  } catch (error) {
    const skipped = error instanceof Skipped;
    print(`${skipped ? 'skipped' : 'differs'}  ${title}\n           ${shortened(describe(error))}`);
    return skipped;
  }
}

/** Without the request, which has a token. */
function describe(error: unknown): string {
  const reply = readGoogleReply(error, new Redactor([]), Date.now());
  const isOurs = [LeadsyncError, Differs, Skipped].some((kind) => error instanceof kind);
  if (reply === null || isOurs) return describeOther(error);
  return `Google answered ${reply.status ?? reply.networkCode ?? 'nothing'}: ${reply.words ?? ''}`;
}
