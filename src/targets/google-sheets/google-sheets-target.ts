import { notStorableInSheets } from './cell-values.ts';
import type { Author } from '../../core/lead/author.ts';
import { goneFault } from '../shared/gone-fault.ts';
import type {
  ContentTag,
  MarkToWrite,
  Place,
  RowChange,
  RowOutcome,
  Target,
  TargetSnapshot,
} from '../../ports/target.ts';
import { ownedColumns } from '../shared/columns.ts';
import { isSettled } from '../shared/content-tag.ts';
import { rowBatches } from '../shared/row-content.ts';
import { type GoogleSheetsOptions, SheetsApi, type SheetsTab } from './sheets-api.ts';
import { type Found, hasFormulas, type TabSnapshot, takeTabSnapshot } from './tab-snapshot.ts';
import { rowsOf, tabAsides } from './present-rows.ts';
import {
  protectedColumns,
  type TabDescription,
  assertNotRenamed,
  isTabLeft,
  tabPlace,
} from './tab-description.ts';
import { outcomesOf, RefusedValues, rememberRefused, type Settled } from './write-outcomes.ts';
import { assertRoom, changed, copiedFault, isRefused, roomForTab, trashedFault } from './tab-faults.ts';
import {
  adoptedTab,
  misplacedRecords,
  missingRecords,
  newColumns,
  newHeadings,
  newTab,
  newTabSize,
  ownRecord,
} from './tab-setup.ts';
import { nothingSettled, packNote, unpackNote, UnsettledWrite } from './unsettled-write.ts';
import { planWrite, type WritePlan } from './write-plan.ts';
import { type Job, WriteRequests, markingOf } from './write-requests.ts';

export type GoogleSheetsTarget = Target & Required<Pick<Target, 'address' | 'fix'>>;

/** A target that is one tab of a Google spreadsheet. Sends nothing before the first call. */
export function createGoogleSheetsTarget(options: GoogleSheetsOptions): GoogleSheetsTarget {
  return new SheetsTarget(options);
}

class SheetsTarget implements GoogleSheetsTarget {
  readonly name: string;
  readonly batchSize = 20_000;
  readonly #options: GoogleSheetsOptions;
  readonly #api: SheetsApi;
  readonly #at: SheetsTab;
  readonly #requests: WriteRequests;
  readonly #refused = new RefusedValues();
  #unsettled: { readonly write: UnsettledWrite; readonly noteId: string } | null = null;
  /** By lead: other people's cells that a write hit and that could not be restored; to be reported. */
  readonly #notPutBack = new Map<string, readonly string[]>();
  /** Whether created records were visible afterwards; if not, creating them again is useless. */
  #recordsShow = true;

  constructor(options: GoogleSheetsOptions) {
    this.name = `google-sheets:${options.spreadsheetId}/${options.tab}`;
    this.#options = options;
    this.#api = new SheetsApi(options);
    this.#at = { api: this.#api, tab: options.tab, name: this.name };
    this.#requests = new WriteRequests(this.#at);
  }

  get requests(): number {
    return this.#api.requests;
  }

  address(): Promise<string | null> {
    return this.#api.address();
  }

  async open(
    { create, newFields = [], wasFilled = false, elsewhere = false, onAsides }: Parameters<Target['open']>[0],
    signal: AbortSignal,
  ): Promise<TargetSnapshot> {
    // Values refused before may be accepted in the next run.
    if (create) this.#refused.forget();
    const { trashed, canEdit } = await this.#api.file(signal);
    if (trashed === true) throw trashedFault(this.name);
    const first = await this.#read(signal);
    const isSettled = create && first.kind === 'table' && (await this.#settleKept(signal));
    const found = isSettled ? await this.#read(signal) : first;
    if (found.kind === 'missing' && !elsewhere) await assertNotRenamed(this.#at, this.#options, signal);
    if (found.kind === 'missing' && wasFilled) throw goneFault(this.name);
    if (found.kind !== 'table' && !create)
      return { missing: [], created: false, mayWrite: canEdit, rows: rowBatches([]) };
    const created = found.kind !== 'table' && (await this.#create(found, signal));
    const table = this.#asTable(found.kind === 'table' ? found : await this.#read(signal));
    const seen = create ? await this.#recorded(await this.#widened(table, newFields, signal), signal) : table;
    const { columns, tab } = seen;
    onAsides?.(tabAsides(seen));
    return {
      missing: columns.missing,
      created,
      mayWrite: canEdit,
      mark: ownRecord(this.#options, tab)?.mark ?? null,
      timeZone: tab.timeZone,
      isLive: hasFormulas(seen),
      closed: protectedColumns(tab, ownedColumns(columns)).map((column) => tab.headings[column] ?? ''),
      rows: rowBatches(rowsOf(seen)),
    };
  }

  async authors(...[cells, signal]: Parameters<NonNullable<Target['authors']>>): Promise<(Author | null)[]> {
    const { author } = await this.#api.file(signal);
    return cells.map(() => author);
  }

  place(signal: AbortSignal): Promise<Place> {
    return tabPlace(this.#at, this.#options.spreadsheetId, signal);
  }

  async contentTag(signal: AbortSignal): Promise<ContentTag | null> {
    this.#refused.forget();
    const { version, modifiedAt, trashed, canEdit } = await this.#api.file(signal);
    if (version === null || modifiedAt === null || trashed === true) return null;
    if (!isSettled(modifiedAt, this.#options.clock)) return null;
    if ((await this.#options.journal.kept()).length > 0) return null;
    return { contentTag: `drive ${version} ${canEdit}`, from: 'late' };
  }

  isLeft({ id }: Pick<Place, 'id'>, signal: AbortSignal): Promise<boolean> {
    return isTabLeft(this.#at, this.#options.spreadsheetId, id, signal);
  }

  async notStorable(): ReturnType<NonNullable<Target['notStorable']>> {
    return notStorableInSheets;
  }

  async write(
    changes: readonly RowChange[],
    signal: AbortSignal,
    mark?: MarkToWrite,
  ): Promise<readonly RowOutcome[]> {
    if (changes.length === 0) return [];
    // Includes writes of a process that died: a resumed run writes without reading the table again.
    await this.#settleKept(signal);
    const seen = this.#asTable(await this.#read(signal));
    const plan = planWrite(seen, changes, this.#refused);
    const unsettled = await this.#begin(seen, plan);
    const marking = markingOf(this.#options, seen.tab, mark);
    const onRefused: Job['onRefused'] = (refused) =>
      rememberRefused(refused, changes, seen.columns, this.#refused);
    const rest = await this.#send({ plan, snapshot: seen, unsettled, marking, onRefused }, signal);
    const settled = await this.#settle(signal);
    const notPutBack = new Map(this.#notPutBack);
    this.#notPutBack.clear();
    return outcomesOf(changes, plan.outcomes, rest, { ...settled, notPutBack }, seen.columns, this.#refused);
  }

  async fix(signal: AbortSignal): Promise<boolean> {
    const found = await this.#read(signal);
    if (found.kind === 'missing' || !this.#isCopied(found.tab)) return false;
    await this.#api.update(adoptedTab(this.#options, found.tab), signal);
    return true;
  }

  #read(signal: AbortSignal): Promise<Found> {
    return takeTabSnapshot(this.#at, this.#options, signal);
  }

  /** Verifies immediately after a failed request; if that fails too, the next write does. */
  async #send(job: Job, signal: AbortSignal): ReturnType<WriteRequests['send']> {
    try {
      return await this.#requests.send(job, signal);
    } catch (error) {
      await this.#settle(signal).catch(() => null);
      throw error;
    }
  }

  /** Records a write before it is sent, so that another process can verify it. */
  async #begin(snapshot: TabSnapshot, { updates, inserts }: WritePlan): Promise<UnsettledWrite> {
    const ground = {
      sheetId: snapshot.tab.sheetId,
      grid: snapshot.grid,
      own: { id: snapshot.columns.id, owned: ownedColumns(snapshot.columns) },
    };
    const write = new UnsettledWrite(this.#at, ground);
    const rows = [...updates, ...inserts];
    if (rows.length === 0) return write;
    const noteId = await this.#options.journal.keep(await packNote({ target: this.name, ground, rows }));
    this.#unsettled = { write, noteId };
    return write;
  }

  /** Settles writes of a process that died or whose requests failed, before rows they may have hit are used. Whether there were any. */
  async #settleKept(signal: AbortSignal): Promise<boolean> {
    const { journal } = this.#options;
    const kept = await journal.kept();
    for (const { id, note } of kept) {
      const own = this.#unsettled?.noteId === id ? this.#unsettled.write : null;
      const { target, ground, rows } = await unpackNote(note);
      const write = own ?? new UnsettledWrite(this.#at, ground, rows);
      if (target === this.name) await this.#finish(write, id, signal);
      else await journal.over(id);
    }
    this.#unsettled = null;
    return kept.length > 0;
  }

  async #settle(signal: AbortSignal): Promise<Settled> {
    if (this.#unsettled === null) return nothingSettled;
    const { write, noteId } = this.#unsettled;
    return this.#finish(write, noteId, signal);
  }

  async #finish(write: UnsettledWrite, noteId: string, signal: AbortSignal): Promise<Settled> {
    const settled = await write.settle(signal);
    this.#unsettled = null;
    await this.#options.journal.over(noteId);
    for (const [lead, cells] of settled.notPutBack) this.#notPutBack.set(lead, cells);
    return settled;
  }

  /** False: somebody else created it first. */
  async #create(found: Exclude<Found, { kind: 'table' }>, signal: AbortSignal): Promise<boolean> {
    const sheetId = 1 + Math.floor(this.#options.clock.random() * 0x7f_ff_ff_fe);
    const requests =
      found.kind === 'missing' ? newTab(this.#options, sheetId) : newHeadings(this.#options, found.tab);
    try {
      await this.#api.update(requests, signal);
      return true;
    } catch (error) {
      if (!isRefused(error)) throw error;
      if ((await this.#read(signal)).kind === 'table') return false;
      const { rowCount, columnCount } = newTabSize(this.#options);
      const room = roomForTab(sheetId, rowCount, columnCount);
      if (found.kind === 'missing') await assertRoom(this.#at, 'another tab', room, signal);
      throw error;
    }
  }

  /** Adds columns for new fields; refused ones stay missing. */
  async #widened(
    snapshot: TabSnapshot,
    fields: readonly string[],
    signal: AbortSignal,
  ): Promise<TabSnapshot> {
    const missing = snapshot.columns.missing.map(({ field }) => field);
    const wanted = fields.filter((field) => missing.includes(field));
    const requests = newColumns(this.#options, snapshot.tab, wanted);
    return requests.length === 0 ? snapshot : ((await this.#lookAfter(requests, signal)) ?? snapshot);
  }

  /** Sends structural requests; returns the tab after them, null when refused. */
  async #lookAfter(
    requests: Parameters<SheetsApi['update']>[0],
    signal: AbortSignal,
  ): Promise<TabSnapshot | null> {
    try {
      await this.#api.update(requests, signal);
    } catch (error) {
      if (isRefused(error)) return null;
      throw error;
    }
    return this.#asTable(await this.#read(signal));
  }

  /** Adds our missing records; a tab that refuses them is located by headings only. */
  async #recorded(snapshot: TabSnapshot, signal: AbortSignal): Promise<TabSnapshot> {
    const requests = missingRecords(this.#options, snapshot.tab, snapshot.columns);
    if (requests.length === 0 || !this.#recordsShow) return snapshot;
    const now = await this.#lookAfter(requests, signal);
    if (now === null) return snapshot;
    const misplaced = misplacedRecords(snapshot.tab, now.tab);
    this.#recordsShow = missingRecords(this.#options, now.tab, now.columns).length < requests.length;
    if (misplaced.length === 0) return now;
    await this.#api.update(misplaced, signal);
    throw changed(this.name);
  }

  #isCopied({ tabRecords }: TabDescription): boolean {
    const { spreadsheetId } = this.#options;
    return tabRecords.length > 0 && !tabRecords.some((record) => record.spreadsheetId === spreadsheetId);
  }

  /** Throws unless the tab has headings and its records are this spreadsheet's. */
  #asTable(found: Found): TabSnapshot {
    if (found.kind !== 'table') throw changed(this.name);
    if (!this.#isCopied(found.tab)) return found;
    throw copiedFault(this.name, found.tab.tabRecords[0]?.spreadsheetId ?? '');
  }
}
