import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Temporal } from 'temporal-polyfill';
import {
  type SheetsSandbox,
  type SheetsSandboxOptions,
  startSheetsSandbox,
} from '../stand-ins/google-sheets/sheets-sandbox.ts';
import { columnLetters } from '../../src/targets/shared/cell-name.ts';
import { openGoogleAccount } from '../../src/targets/google-sheets/google-account.ts';
import type { GoogleSheetsOptions } from '../../src/targets/google-sheets/sheets-api.ts';
import {
  createGoogleSheetsTarget,
  type GoogleSheetsTarget,
} from '../../src/targets/google-sheets/google-sheets-target.ts';
import {
  anna,
  bert,
  contractFields,
  headings,
  never,
  type Table,
  type LocalHarness,
} from './target-harness.ts';
import { MemoryJournal } from '../support/memory-journal.ts';

export interface GoogleSheetsHarness extends LocalHarness {
  readonly sandbox: SheetsSandbox;
  readonly tab: string;
  target(options?: Partial<GoogleSheetsOptions>): GoogleSheetsTarget;
}

const moment = /^(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}):00\.000Z$/;
const shownMoment = /^(\d{4}-\d{2}-\d{2}) (\d{1,2}):(\d{2})(?::(\d{2}))?$/;
export const zone = 'Europe/Berlin';

/** A spreadsheet of a stand-in, in a file of its own, with a key for it; quotas only when they are given. */
export async function makeGoogleSheetsHarness(
  options: SheetsSandboxOptions = {},
): Promise<GoogleSheetsHarness> {
  const sandbox = await startSheetsSandbox({ timeZone: zone, tabs: ['Other'], quotas: null, ...options });
  const folder = await mkdtemp(join(tmpdir(), 'leadsync-sheets-'));
  const keyPath = join(folder, 'key.json');
  await writeFile(keyPath, sandbox.keyFile());
  const account = openGoogleAccount(keyPath);
  const clock = { now: () => Date.now(), random: () => Math.random() };
  const journal = new MemoryJournal();
  const tab = 'Leads';
  const { person } = sandbox;
  const show = () => person.grid(tab)?.map((row) => row.map(fromShown)) ?? null;
  return {
    sandbox,
    tab,
    target: (changed = {}) =>
      createGoogleSheetsTarget({
        spreadsheetId: sandbox.spreadsheetId,
        tab,
        fields: contractFields,
        idColumn: 'Lead ID',
        perMinute: { read: 1e6, write: 1e6 },
        apiUrl: sandbox.url,
        account,
        clock,
        connection: 'test',
        journal,
        ...changed,
      }),
    show,
    edit: (change) => {
      const grid: Table = change(show() ?? []);
      if (person.grid(tab) === null) person.addTab(tab);
      const due = (grid[0] ?? []).findIndex((heading) => heading.toLowerCase() === 'next follow-up');
      if (due >= 0) {
        const column = columnLetters(due);
        person.setNumberFormat(tab, `${column}2:${column}`, 'DATE_TIME', 'yyyy-mm-dd hh:mm:ss');
      }
      person.put(
        tab,
        grid.map((row) => row.map(toTyped)),
        { typeDates: true },
      );
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export function toTyped(text: string): string {
  if (!moment.test(text)) return text;
  const local = Temporal.Instant.from(text).toZonedDateTimeISO(zone).toPlainDateTime();
  return local.toString({ smallestUnit: 'minute' }).replace('T', ' ');
}

export function fromShown(text: string): string {
  const [, date, hour = '', minute, second = '00'] = shownMoment.exec(text) ?? [];
  if (date === undefined) return text;
  const local = Temporal.PlainDateTime.from(`${date}T${hour.padStart(2, '0')}:${minute}:${second}`);
  return new Date(local.toZonedDateTime(zone).epochMilliseconds).toISOString();
}

export const table = [headings, anna, bert];

/** The table above in a tab that has our records. */
export async function recordedTable() {
  const harness = await makeGoogleSheetsHarness();
  harness.edit(() => table);
  await harness.target({ statusColumn: 'Sync' }).open({ create: true }, never());
  return harness;
}
