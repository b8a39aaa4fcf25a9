import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type SheetsSandbox,
  type SheetsSandboxOptions,
  startSheetsSandbox,
} from '../../stand-ins/google-sheets/sheets-sandbox.ts';
import { openGoogleAccount } from '../../../src/targets/google-sheets/google-account.ts';
import { SheetsApi, type SheetsTimeouts } from '../../../src/targets/google-sheets/sheets-api.ts';
import { thrown } from '../leads-api/leads-api-server.ts';
import { HandClock, never } from './sheets-api-server.ts';

/** Our client on the stand-in, with its key file. */
async function withSandbox(
  options: SheetsSandboxOptions,
  body: (api: SheetsApi, sandbox: SheetsSandbox, clock: HandClock) => Promise<void>,
  timeouts?: SheetsTimeouts,
): Promise<void> {
  const clock = new HandClock();
  await using sandbox = await startSheetsSandbox({ tabs: ['Leads'], clock, ...options });
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-sheets-'));
  try {
    const keyPath = join(folder, 'key.json');
    await writeFile(keyPath, sandbox.keyFile());
    const all = {
      spreadsheetId: sandbox.spreadsheetId,
      apiUrl: sandbox.url,
      account: openGoogleAccount(keyPath),
      clock,
    };
    await body(new SheetsApi(all, timeouts), sandbox, clock);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const range = "'Leads'!A1:C3";

test('writes, and reads again what is there', () =>
  withSandbox({}, async (api, sandbox) => {
    await api.write([{ range: "'Leads'!A1:C1", values: [['=1+1', null, '007']] }], never);
    await api.update(
      [
        {
          updateCells: {
            start: { sheetId: await sheetId(api), rowIndex: 1, columnIndex: 0 },
            rows: [{ values: [{ userEnteredValue: { numberValue: 1.5 } }] }],
            fields: 'userEnteredValue',
          },
        },
      ],
      never,
    );
    expect(await api.read([range, "'Leads'!E1:F9"], 'FORMULA', never)).toEqual([
      [['=1+1', '', '007'], [1.5]],
      [],
    ]);
    expect(sandbox.person.grid('Leads')?.[0]).toEqual(['=1+1', '', '007']);
    expect(await api.file(never)).toMatchObject({ trashed: false, canEdit: true });
    sandbox.person.setTrashed(true);
    expect(await api.file(never)).toMatchObject({ trashed: true });
  }));

async function sheetId(api: SheetsApi): Promise<number> {
  const { sheets = [] } = await api.describe([], 'sheets(properties(sheetId,title))', never);
  expect(sheets.map(({ properties }) => properties?.title)).toEqual(['Leads']);
  return sheets[0]?.properties?.sheetId ?? Number.NaN;
}

test.each([
  [{ status: 401 }, 'target.unauthenticated'],
  [{ status: 403 }, 'target.forbidden'],
  [{ status: 404 }, 'target.not-found'],
  [{ status: 500 }, 'target.unavailable'],
  [{ status: 503 }, 'target.unavailable'],
  [{ kind: 'reset' }, 'target.unavailable'],
  [{ kind: 'reset-after' }, 'target.unavailable'],
  [{ kind: 'html' }, 'target.unavailable'],
  [{ kind: 'hang' }, 'target.unavailable'],
  [{ status: 429, quota: 'Write', scope: 'User', retryAfter: '20' }, 'target.rate-limited'],
] as const)('the fault %j of a write is %s, after one request', (fault, code) =>
  withSandbox(
    {},
    async (api, sandbox, clock) => {
      await api.read([range], 'FORMULA', never);
      sandbox.before = () => {
        sandbox.before = null;
        return fault;
      };
      const write = (): Promise<void> => api.write([{ range: "'Leads'!A1", values: [['x']] }], never);
      expect(await thrown(write())).toMatchObject({ code });
      expect(sandbox.requests.filter(({ kind }) => kind === 'write')).toHaveLength(1);
      clock.epochMs += 20_000;
      await write();
    },
    { read: 300, write: 300, drive: 300 },
  ),
);

test('a tab that is not there, a cell outside the grid: refused, with words', () =>
  withSandbox({}, async (api) => {
    for (const call of [
      api.read(["'Other'!A1"], 'FORMULA', never),
      api.describe(["'Other'!1:2"], 'sheets', never),
      api.write([{ range: "'Leads'!A99999", values: [['x']] }], never),
    ]) {
      expect(await thrown(call)).toMatchObject({
        code: 'target.refused',
        retry: 'never',
        words: expect.any(String),
      });
    }
  }));

test('never over the quota that Google counts, and what is named to wait is enough', () =>
  withSandbox({ quotas: { reads: 60, writes: 60 } }, async (api, sandbox, clock) => {
    let waits = 0;
    for (let count = 0; count < 150; count++) {
      clock.epochMs += count % 7 === 0 ? 900 : 10;
      const error = await api.read([range], 'FORMULA', never).catch((error: unknown) => error);
      if (!(error instanceof Error)) continue;
      expect(error).toMatchObject({ code: 'target.rate-limited' });
      waits += 1;
      clock.epochMs += (error as { retryAfterMs?: number }).retryAfterMs ?? 0;
      await api.read([range], 'FORMULA', never);
    }
    expect(waits).toBeGreaterThanOrEqual(2);
    expect(sandbox.requests.filter(({ status }) => status !== 200)).toEqual([]);
  }));

test('a spreadsheet that is not shared, or to look at alone; tokens that were revoked', () =>
  withSandbox({}, async (api, sandbox) => {
    const write = (): Promise<void> => api.write([{ range: "'Leads'!A1", values: [['x']] }], never);
    expect(await api.address()).toBe(sandbox.accountEmail);
    sandbox.person.setShared('reader');
    const shareIt = { code: 'target.forbidden', help: expect.stringContaining(sandbox.accountEmail) };
    expect(await thrown(write())).toMatchObject(shareIt);
    await api.read([range], 'FORMULA', never);
    sandbox.person.setShared(false);
    expect(await thrown(api.read([range], 'FORMULA', never))).toMatchObject(shareIt);
    sandbox.person.setShared(true);
    sandbox.revokeTokens();
    expect(await thrown(write())).toMatchObject({ code: 'target.unauthenticated' });
    await write();
  }));
