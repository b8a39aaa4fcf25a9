import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type SheetsSandbox, startSheetsSandbox } from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { compiledEnv } from '../../support/compiled.ts';

const script = fileURLToPath(new URL('../../../verify/google-sheets.ts', import.meta.url));

/** Runs `npm run verify:google-sheets` on a stand-in. */
async function verify(sheets: SheetsSandbox, ...args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-verify-'));
  try {
    const keyPath = join(folder, 'key.json');
    await writeFile(keyPath, sheets.keyFile());
    const env = {
      ...compiledEnv,
      PATH: process.env['PATH'],
      GOOGLE_APPLICATION_CREDENTIALS: keyPath,
      TARGET_API_URL: sheets.url,
    };
    const all = [script, '--spreadsheet', sheets.spreadsheetId, '--per-minute', '5000', ...args];
    return await new Promise<{ code: number | string | null | undefined; stdout: string }>((resolve) => {
      execFile(process.execPath, all, { env }, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : error.code, stdout: stdout + stderr }),
      );
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const tabsOf = ({ person }: SheetsSandbox, stdout: string): boolean[] =>
  Array.from(
    { length: 3 },
    (_, n) => person.grid(`${/leadsync verify \S+/.exec(stdout)?.[0]} ${n + 1}`) !== null,
  );

test('verify:google-sheets finds the stand-in as it takes Google to be, and leaves nothing behind', async () => {
  const quotas = { reads: 400, writes: 400 };
  await using sheets = await startSheetsSandbox({
    timeZone: 'Europe/Berlin',
    tabs: ['Own', 'Locked'],
    quotas,
  });
  sheets.person.put('Own', [['mine']]);
  sheets.person.put('Locked', [['a', 'b']]);
  sheets.person.protect('Locked', 'B1:B5');
  const { code, stdout } = await verify(sheets, '--protected', 'Locked!B1', '--quota');
  expect(stdout).not.toContain('differs  ');
  expect(stdout).not.toContain('skipped  ');
  expect(stdout.match(/^ok /gm)?.length).toBeGreaterThan(20);
  expect(stdout).toContain('Nothing differs.');
  expect(code).toBe(0);
  // No tab of its own is left; those of others are as they were.
  expect(tabsOf(sheets, stdout)).toEqual([false, false, false]);
  expect(sheets.person.grid('Own')).toEqual([['mine']]);
  expect(sheets.person.grid('Locked')).toEqual([['a', 'b']]);
  expect(stdout).not.toMatch(/ya29|PRIVATE KEY/);
});

test('verify:google-sheets: what differs is told with the answer, the tabs go all the same', async () => {
  await using sheets = await startSheetsSandbox({ quotas: null });
  let writes = 0;
  sheets.before = ({ method }) => {
    if (method === 'spreadsheets.values.batchUpdate' && ++writes === 3) return { status: 403 };
    return undefined;
  };
  const { code, stdout } = await verify(sheets);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^differs {2}.*\n.*(403|denies access)/m);
  expect(stdout).toMatch(/^\d+ tabs were deleted again\.$/m);
  expect(stdout).toMatch(/^1 differ/m);
});

test('verify:google-sheets without a spreadsheet that it can open: 2, and why', async () => {
  await using sheets = await startSheetsSandbox({ quotas: null });
  sheets.person.setShared(false);
  const { code, stdout } = await verify(sheets);
  expect(code).toBe(2);
  expect(stdout).toContain('cannot be opened: Google answered 403');
});
