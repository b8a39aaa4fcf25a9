import { setTimeout as sleep } from 'node:timers/promises';
import { sheets_v4 } from '@googleapis/sheets';
import { Redactor } from '../src/lib/redact.ts';
import { LeadsyncError } from '../src/lib/errors.ts';
import type { FieldMapping } from '../src/core/lead/mapping.ts';
import type { Cell, Cells, Values } from '../src/core/lead/value.ts';
import { quotedTab } from '../src/targets/google-sheets/grid.ts';
import type { GoogleAccount } from '../src/targets/google-sheets/google-account.ts';
import { type GoogleReply, readGoogleReply } from '../src/targets/google-sheets/google-fault.ts';
import {
  createGoogleSheetsTarget,
  type GoogleSheetsTarget,
} from '../src/targets/google-sheets/google-sheets-target.ts';
import type { SheetsApiOptions } from '../src/targets/google-sheets/sheets-api.ts';
import type { RowChange, Target } from '../src/ports/target.ts';
import { MemoryJournal } from '../test/support/memory-journal.ts';
import { Differs } from './check.ts';
import { watched } from './watched-client.ts';

export interface ScratchOptions {
  readonly spreadsheetId: string;
  readonly apiUrl: string;
  readonly account: GoogleAccount;
  /** Requests of each kind in 60 seconds, of the adapter and of the person together. */
  readonly perMinute: number;
}

type CellData = sheets_v4.Schema$CellData;
type GridRange = sheets_v4.Schema$GridRange;

const field = (name: string, column: string, type: 'text' | 'instant'): FieldMapping => ({
  field: name,
  column,
  type,
  direction: 'two-way',
});
const fields = [
  field('companyName', 'Company', 'text'),
  field('city', 'City', 'text'),
  field('nextFollowUpAt', 'Next follow-up', 'instant'),
];
const signal = new AbortController().signal;
const minuteMs = 60_000;
const mostTries = 5;

/** Tabs to try things on, in a spreadsheet of somebody else: the adapter on one side, a person on the other. */
export class Scratch {
  readonly spreadsheetId: string;
  /** Common to the titles of all tabs made here. */
  readonly mark = `leadsync verify ${new Date().toISOString().replaceAll(':', '.')}`;
  readonly #options: ScratchOptions;
  readonly #clock = { now: () => Date.now(), random: () => Math.random() };
  readonly #sent: Record<'read' | 'write', number[]> = { read: [], write: [] };
  #tabs = 0;
  #meanwhile: (() => Promise<void>) | null = null;

  constructor(options: ScratchOptions) {
    this.#options = options;
    this.spreadsheetId = options.spreadsheetId;
  }

  /** Title of a tab that is not there yet. */
  newTitle(): string {
    return `${this.mark} ${++this.#tabs}`;
  }

  /** The adapter on a tab. What it throws for want of quota is waited for in `patiently`. */
  target(tab: string, dates: 'native' | 'iso' = 'native'): GoogleSheetsTarget {
    const { account, perMinute, ...rest } = this.#options;
    return createGoogleSheetsTarget({
      ...rest,
      tab,
      dates,
      fields,
      idColumn: 'Lead ID',
      perMinute: { read: Math.ceil(perMinute / 2), write: Math.ceil(perMinute / 2) },
      account: {
        ...account,
        authorize: async (aborted) => watched(await account.authorize(aborted), () => this.#actMeanwhile()),
      },
      clock: this.#clock,
      // Each tab is a target of its own.
      connection: tab,
      journal: new MemoryJournal(),
    });
  }

  /** A tab that the adapter has made and filled. */
  async filled(rows: Readonly<Record<string, Values>>, dates: 'native' | 'iso' = 'native') {
    const tab = this.newTitle();
    const target = this.target(tab, dates);
    await this.patiently(() => target.open({ create: true }, signal));
    const changes = Object.entries(rows).map(
      ([leadId, values]): RowChange => ({ kind: 'append', key: leadId, leadId, values }),
    );
    const verdicts = await this.write(target, changes);
    const refused = verdicts.filter((verdict) => verdict !== 'done');
    if (refused.length > 0) throw new Differs(`rows were not written: ${refused.join('; ')}`);
    return { tab, target };
  }

  /** `done`, or the code and what was said. `meanwhile` happens once, right before the first write leaves. */
  async write(
    target: Target,
    changes: readonly RowChange[],
    meanwhile: (() => Promise<void>) | null = null,
  ): Promise<string[]> {
    this.#meanwhile = meanwhile;
    const outcomes = await this.patiently(() => target.write(changes, signal));
    if (this.#meanwhile !== null) throw new Error('nothing was written, so nothing happened meanwhile');
    return outcomes.map((outcome) =>
      outcome.status === 'done' ? 'done' : `${outcome.status} ${outcome.code}: ${outcome.message}`,
    );
  }

  /** The rows as the adapter reads them, by id. */
  async rows(target: Target): Promise<Map<string, Cells>> {
    const snapshot = await this.patiently(() => target.open({ create: false }, signal));
    const rows = new Map<string, Cells>();
    for await (const batch of snapshot.rows)
      for (const { leadId, cells } of batch) rows.set(leadId ?? '', cells);
    return rows;
  }

  async column(target: Target, name: string): Promise<Map<string, Cell | undefined>> {
    return new Map(Array.from(await this.rows(target), ([id, cells]) => [id, cells[name]]));
  }

  /** Repeats what the adapter has no quota left for. */
  async patiently<T>(request: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof LeadsyncError) || error.code !== 'target.rate-limited') throw error;
        await sleep(error.retryAfterMs ?? minuteMs);
      }
    }
  }

  /** One request of the person, with Google's own client. Waits for its share of the quota, and when it is used up. */
  async raw<T>(
    kind: 'read' | 'write',
    request: (sheets: sheets_v4.Sheets, id: string) => Promise<T>,
  ): Promise<T> {
    const { account, apiUrl: rootUrl, perMinute } = this.#options;
    const sent = this.#sent[kind];
    for (let tries = 1; ; tries++) {
      const [oldest = 0] = sent.length < Math.ceil(perMinute / 2) ? [] : sent.splice(0, 1);
      await sleep(Math.max(0, oldest + minuteMs - Date.now()));
      const { client } = await account.authorize(signal);
      sent.push(Date.now());
      try {
        return await request(
          new sheets_v4.Sheets({ auth: client, rootUrl, retry: false }),
          this.spreadsheetId,
        );
      } catch (error) {
        const reply = readGoogleReply(error, new Redactor([]), Date.now());
        if (reply?.status !== 429 || tries === mostTries) throw error;
        await sleep(reply.retryAfterMs ?? minuteMs / 2);
      }
    }
  }

  /** One read that waits for nothing; what was told when it failed, null when it did not. */
  async unpaced(): Promise<GoogleReply | null> {
    const { account, apiUrl: rootUrl } = this.#options;
    const { client } = await account.authorize(signal);
    const { spreadsheets } = new sheets_v4.Sheets({ auth: client, rootUrl, retry: false });
    try {
      await spreadsheets.get({ spreadsheetId: this.spreadsheetId, fields: 'spreadsheetId' });
      return null;
    } catch (error) {
      const reply = readGoogleReply(error, new Redactor([]), Date.now());
      if (reply === null) throw error;
      return reply;
    }
  }

  /** For the adapter's lowest layer alone. */
  apiOptions(): SheetsApiOptions {
    const { perMinute, ...rest } = this.#options;
    return { ...rest, perMinute: { read: perMinute, write: perMinute }, clock: this.#clock };
  }

  async update(requests: sheets_v4.Schema$Request[]): Promise<sheets_v4.Schema$Response[]> {
    const { data } = await this.raw('write', (sheets, spreadsheetId) =>
      sheets.spreadsheets.batchUpdate({ spreadsheetId, requestBody: { requests } }),
    );
    return data.replies ?? [];
  }

  /** A new tab with these texts as a person types them; its sheetId. */
  async typed(
    rows: readonly (readonly string[])[],
    rowCount = 20,
  ): Promise<{ tab: string; sheetId: number }> {
    const tab = this.newTitle();
    const gridProperties = { rowCount, columnCount: 8 };
    const [made] = await this.update([{ addSheet: { properties: { title: tab, gridProperties } } }]);
    const sheetId = made?.addSheet?.properties?.sheetId;
    if (typeof sheetId !== 'number') throw new Differs('addSheet answers without a sheetId');
    if (rows.length > 0) await this.type(tab, 'A1', rows);
    return { tab, sheetId };
  }

  /** As typed, unless `raw`: then as it is, and null leaves a cell alone. */
  async type(
    tab: string,
    from: string,
    rows: readonly (readonly (string | null)[])[],
    valueInputOption: 'USER_ENTERED' | 'RAW' = 'USER_ENTERED',
  ): Promise<void> {
    const range = `${quotedTab(tab)}!${from}`;
    const values = rows.map((row) => [...row]);
    const requestBody = { valueInputOption, data: [{ range, values }] };
    await this.raw('write', (sheets, spreadsheetId) =>
      sheets.spreadsheets.values.batchUpdate({ spreadsheetId, requestBody }),
    );
  }

  async values(
    tab: string,
    range: string,
    valueRenderOption: 'FORMATTED_VALUE' | 'UNFORMATTED_VALUE' | 'FORMULA' = 'FORMATTED_VALUE',
    dateTimeRenderOption: 'SERIAL_NUMBER' | 'FORMATTED_STRING' = 'SERIAL_NUMBER',
  ): Promise<unknown[][]> {
    const ranges = [`${quotedTab(tab)}!${range}`];
    const { data } = await this.raw('read', (sheets, spreadsheetId) =>
      sheets.spreadsheets.values.batchGet({
        spreadsheetId,
        ranges,
        valueRenderOption,
        dateTimeRenderOption,
      }),
    );
    return data.valueRanges?.[0]?.values ?? [];
  }

  /** The sheet of a tab with the parts that `mask` names. */
  async sheet(tab: string, range: string, mask: string): Promise<sheets_v4.Schema$Sheet> {
    const ranges = [`${quotedTab(tab)}!${range}`];
    const { data } = await this.raw('read', (sheets, spreadsheetId) =>
      sheets.spreadsheets.get({ spreadsheetId, ranges, fields: `sheets(${mask})` }),
    );
    return data.sheets?.[0] ?? {};
  }

  async cells(tab: string, range: string, mask: string): Promise<CellData[][]> {
    const { data } = await this.sheet(tab, range, `data(rowData(values(${mask})))`);
    return (data?.[0]?.rowData ?? []).map(({ values }) => values ?? []);
  }

  /** By title; the id of a tab that the adapter has made. */
  async sheetId(tab: string): Promise<number> {
    const { properties } = await this.sheet(tab, 'A1', 'properties(sheetId)');
    return properties?.sheetId ?? 0;
  }

  async properties(): Promise<sheets_v4.Schema$SpreadsheetProperties> {
    const { data } = await this.raw('read', (sheets, spreadsheetId) =>
      sheets.spreadsheets.get({ spreadsheetId, fields: 'properties(title,timeZone,locale)' }),
    );
    return data.properties ?? {};
  }

  async #actMeanwhile(): Promise<void> {
    const act = this.#meanwhile;
    this.#meanwhile = null;
    await act?.();
  }

  /** Deletes all tabs made here, also those of checks that failed. Returns how many. */
  async cleanUp(): Promise<number> {
    const { data } = await this.raw('read', (sheets, spreadsheetId) =>
      sheets.spreadsheets.get({ spreadsheetId, fields: 'sheets(properties(sheetId,title))' }),
    );
    const own = (data.sheets ?? []).flatMap(({ properties }) =>
      properties?.title?.startsWith(this.mark) === true ? [properties.sheetId ?? 0] : [],
    );
    if (own.length > 0) await this.update(own.map((sheetId) => ({ deleteSheet: { sheetId } })));
    return own.length;
  }
}

/** Rows and columns from 0; the ends are left out. */
export function area(
  sheetId: number,
  rows: readonly [number, number],
  columns: readonly [number, number],
): GridRange {
  return {
    sheetId,
    startRowIndex: rows[0],
    endRowIndex: rows[1],
    startColumnIndex: columns[0],
    endColumnIndex: columns[1],
  };
}
