import { LeadsyncError } from '../../lib/errors.ts';
import type { Author } from '../../core/lead/author.ts';
import { idKey, isUuid } from '../../core/lead/lead-id.ts';
import { goneFault } from '../shared/gone-fault.ts';
import type { MergedPlace } from '../../core/lead/table-rows.ts';
import type { ContentTag, Place, RowChange, RowOutcome, Target, TargetSnapshot } from '../../ports/target.ts';
import { isSettled, tagUnlessFailed } from '../shared/content-tag.ts';
import { rowBatches } from '../shared/row-content.ts';
import { isForLoose, type Verdict } from '../shared/row-changes.ts';
import { batchesOf, BatchSender, type InputResult, type PlannedInput } from './batch-sender.ts';
import { CompanyListing, isMerged, mergedCompanies, readBin, type RecycleBin } from './company-listing.ts';
import {
  askingOf,
  assertPause,
  changed,
  type CompanyRow,
  companyRow,
  type CompanyTable,
  idArchived,
  inOrder,
  isWhole,
  type KnownIds,
  knownIds,
  leadIdOf,
  locateProperties,
  othersToLink,
  propertyGone,
  targetRow,
} from './company-table.ts';
import { propertyAuthors } from './property-authors.ts';
import { HubSpotApi } from './hubspot-api.ts';
import { HubSpotHttp, type HubSpotOptions, isForbidden } from './hubspot-http.ts';
import type { PropertyDefinition, ShownCompany } from './hubspot-replies.ts';
import { inRecycleBin, keptCompanies, outcomesOf } from './write-outcomes.ts';
import { addMissingOptions, createMissing, markOf, PropertyMarker } from './property-setup.ts';
import { decideChanges, inputsOf, putBack } from './write-plan.ts';

export type { HubSpotOptions };
export type HubSpotTarget = Target & Required<Pick<Target, 'fix'>> & AsyncDisposable;

/** A target that is the companies of a HubSpot portal. Sends nothing before the first call. */
export function createHubSpotTarget(options: HubSpotOptions): HubSpotTarget {
  return new CompaniesTarget(options);
}

class CompaniesTarget implements HubSpotTarget {
  readonly name = 'hubspot:companies';
  readonly batchSize = 1_000;
  readonly #options: HubSpotOptions;
  readonly #http: HubSpotHttp;
  readonly #listing: CompanyListing;
  readonly #binListing: CompanyListing;
  readonly #sender = new BatchSender();
  readonly #marker = new PropertyMarker();
  /** Cached properties; null: read again. */
  #table: CompanyTable | null = null;
  #known: KnownIds | null = null;
  /** Read at the first new row since `open`. */
  #bin: RecycleBin | null = null;

  constructor(options: HubSpotOptions) {
    this.#options = options;
    this.#http = new HubSpotHttp(options);
    this.#listing = new CompanyListing(options.clock, false);
    this.#binListing = new CompanyListing(options.clock, true);
  }

  get requests(): number {
    return this.#http.requests;
  }

  async open(
    { create, purpose, newFields = [], wasFilled = false }: Parameters<Target['open']>[0],
    signal: AbortSignal,
  ): Promise<TargetSnapshot> {
    const api = new HubSpotApi(this.#http, signal);
    this.#table = null;
    this.#bin = null;
    if (create) this.#sender.forget();
    const found = await api.properties();
    await api.learnTimeZone();
    const known = locateProperties(found, this.#options);
    if (known === null) await this.#assertNew(api);
    if (known === null && wasFilled) throw goneFault(`${this.#options.idColumn} of ${this.name}`);
    if (known === null && !create) return { missing: [], created: false, rows: rowBatches([]) };
    const added = create && known !== null ? await this.#addNew(known, newFields, api) : known;
    const table = added ?? (await this.#create(found, api));
    assertPause(table, this.#options);
    const { rows, merged } = await this.#readRows(table, purpose ?? null, api);
    this.#table = table;
    return {
      missing: table.missing,
      created: known === null,
      closed: table.closed,
      mark: markOf(table.properties.get(table.idProperty)),
      merged,
      rows: rowBatches(rows.map((row) => targetRow(row, table))),
    };
  }

  /** Unknown when the key may not read the portal's number. */
  async place(signal: AbortSignal): Promise<Place | null> {
    const api = new HubSpotApi(this.#http, signal);
    try {
      const portal = await api.portal();
      const address = `the companies of HubSpot portal ${portal}`;
      return { id: `hubspot:${portal}/companies`, address, isThere: true };
    } catch (error) {
      if (isForbidden(error)) return null;
      throw error;
    }
  }

  /** The companies as a search counts and sorts them, and the properties. Null where HubSpot calculates a property at any time. */
  contentTag(signal: AbortSignal): Promise<ContentTag | null> {
    const api = new HubSpotApi(this.#http, signal);
    this.#table = null;
    this.#bin = null;
    this.#sender.forget();
    return tagUnlessFailed(async () => {
      const table = locateProperties(await api.properties(), this.#options);
      const used = table?.wanted.flatMap((name) => table.properties.get(name) ?? []) ?? [];
      if (table === null || used.some(({ calculated }) => calculated === true)) return null;
      const last = await api.lastChange();
      if (last === null || !isSettled(last.changedAt, this.#options.clock)) return null;
      return { contentTag: JSON.stringify([last, used]), from: 'late' };
    }, signal);
  }

  async authors(...[cells, signal]: Parameters<NonNullable<Target['authors']>>): Promise<(Author | null)[]> {
    const api = new HubSpotApi(this.#http, signal);
    return propertyAuthors(api, await this.#knownTable(api), cells);
  }

  async write(...[changes, signal, mark]: Parameters<Target['write']>): Promise<readonly RowOutcome[]> {
    if (changes.length === 0) return [];
    const api = new HubSpotApi(this.#http, signal);
    try {
      const table = await this.#knownTable(api);
      const decisions = decideChanges(changes, await this.#look(changes, table, api), table);
      const inputs = inputsOf(decisions, table);
      const removed = inputs.filter(({ kind }) => kind === 'archive');
      const left = new Map<PlannedInput, Verdict>([
        ...(await this.#inBin(inputs, changes, table, api)),
        ...(await keptCompanies(api, removed, table)),
      ]);
      const sent = inputs.filter((input) => !left.has(input));
      const results = await this.#sender.send(sent, table, api);
      // Restored values leave no record of what was overwritten; only confirmed writes do.
      await this.#sender.send(putBack(results, table), table, api);
      if (mark !== undefined && sent.length > 0) await this.#marker.write(table, mark, api);
      for (const { kind, leadId } of sent) if (kind === 'archive') this.#bin?.leadIds.add(idKey(leadId));
      return outcomesOf(
        changes,
        decisions.outcomes,
        new Map<PlannedInput, InputResult | Verdict>([...left, ...results]),
        table,
      );
    } catch (error) {
      if (error instanceof LeadsyncError && error.code === 'target.changed') this.#table = null;
      throw error;
    }
  }

  async fix(signal: AbortSignal): Promise<boolean> {
    const api = new HubSpotApi(this.#http, signal);
    const found = await api.properties();
    // Throws where creating properties would not help.
    locateProperties(found, this.#options);
    this.#table = null;
    const created = await createMissing(api, this.#options, found);
    const added = await addMissingOptions(api, this.#options, [...found, ...created]);
    return created.length > 0 || added;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }

  /** Without the ids, a portal looks empty: every lead would get a second company. */
  async #assertNew(api: HubSpotApi): Promise<void> {
    const { idColumn } = this.#options;
    if ((await api.archivedProperties()).includes(idColumn)) throw idArchived(idColumn);
  }

  async #create(found: readonly PropertyDefinition[], api: HubSpotApi): Promise<CompanyTable> {
    const created = await createMissing(api, this.#options, found);
    const table = locateProperties([...found, ...created], this.#options);
    if (table === null) throw changed(`HubSpot did not create the property ${this.#options.idColumn}.`);
    return table;
  }

  /** Creates properties for new fields, unless the key may not: then they are left out. */
  async #addNew(
    table: CompanyTable,
    newFields: readonly string[],
    api: HubSpotApi,
  ): Promise<CompanyTable | null> {
    const fields = this.#options.fields.filter(({ field }) => newFields.includes(field));
    const lacking = new Set(fields.flatMap(({ column }) => (table.properties.has(column) ? [] : column)));
    if (lacking.size === 0) return table;
    const found = [...table.properties.values()];
    try {
      const created = await createMissing(api, this.#options, found, lacking);
      return locateProperties([...found, ...created], this.#options);
    } catch (error) {
      if (isForbidden(error)) return table;
      throw error;
    }
  }

  async #knownTable(api: HubSpotApi): Promise<CompanyTable> {
    this.#table ??= locateProperties(await api.properties(), this.#options);
    if (this.#table !== null) {
      assertPause(this.#table, this.#options);
      return this.#table;
    }
    throw changed(`HubSpot's companies lack the property ${this.#options.idColumn}. Nothing was written.`);
  }

  /** All rows, and what became of merged companies. Remembers ids for `#look`, which may be some minutes old then. */
  async #readRows(
    table: CompanyTable,
    purpose: string | null,
    api: HubSpotApi,
  ): Promise<{ rows: CompanyRow[]; merged: ReadonlyMap<number, MergedPlace> }> {
    const companies = await this.#listing.read(
      purpose,
      table.listed,
      (company) =>
        companyRow(company, table) !== null || isMerged(company) || !isWhole(company, table.wanted),
      api,
    );
    await this.#assertWhole(companies.values(), table, api);
    const rows = inOrder(companies.values()).flatMap((company) => companyRow(company, table) ?? []);
    this.#known = knownIds(rows, table);
    return { rows, merged: mergedCompanies(companies.values(), table) };
  }

  /** A property removed during the read must not look as if all its values had been emptied. */
  async #assertWhole(
    companies: Iterable<ShownCompany>,
    { wanted }: CompanyTable,
    api: HubSpotApi,
  ): Promise<void> {
    if ([...companies].every((company) => isWhole(company, wanted))) return;
    if (!(await api.hasProperties(wanted))) throw propertyGone();
  }

  async #look(
    changes: readonly RowChange[],
    table: CompanyTable,
    api: HubSpotApi,
  ): Promise<readonly CompanyRow[]> {
    const found = new Map<string, ShownCompany>();
    const read = async (ids: Iterable<string>, idProperty: string | null): Promise<void> => {
      for (const batch of batchesOf([...new Set(ids)])) {
        const companies = await api.batchRead(batch, table.wanted, idProperty);
        for (const company of companies) found.set(company.id, company);
      }
    };
    const leadIds = changes.map(({ leadId }) => leadId?.trim() ?? '').filter((leadId) => leadId !== '');
    await read(leadIds, table.idProperty);
    const isAsking = changes.some((change) => isForLoose(change) || change.leadId === null);
    if (this.#known === null && (isAsking || this.#lacks(leadIds, found.values(), table)))
      await this.#readRows(table, 'ids', api);
    const known = this.#known;
    if (known !== null) {
      const untidy = leadIds.flatMap((leadId) => known.untidy.get(idKey(leadId)) ?? []);
      const loose = isAsking ? [...known.asking, ...othersToLink(changes, known.others, table)] : [];
      await read([...untidy, ...loose], null);
    }
    await this.#assertWhole(found.values(), table, api);
    const rows = inOrder(found.values()).flatMap((company) => companyRow(company, table) ?? []);
    if (isAsking && known !== null) this.#known = { ...known, asking: askingOf(rows) };
    return rows;
  }

  /** Whether an id with several spellings was not found. */
  #lacks(leadIds: readonly string[], companies: Iterable<ShownCompany>, table: CompanyTable): boolean {
    const there = new Set([...companies].map((company) => idKey(leadIdOf(company, table) ?? '')));
    return leadIds.some((leadId) => isUuid(leadId) && !there.has(idKey(leadId)));
  }

  /** Whose company, or the one it was merged into, was deleted by a person: creating another would be wrong. */
  async #inBin(
    inputs: readonly PlannedInput[],
    changes: readonly RowChange[],
    table: CompanyTable,
    api: HubSpotApi,
  ): Promise<[PlannedInput, Verdict][]> {
    const added = inputs.filter(({ kind }) => kind === 'create');
    if (added.length === 0) return [];
    const { leadIds, merged } = (this.#bin ??= await readBin(this.#binListing, table, api));
    const was = new Map(
      changes.flatMap((change) => (change.kind === 'append' ? [[idKey(change.leadId), change.was]] : [])),
    );
    return added.flatMap((input) => {
      const leadId = idKey(input.leadId);
      return leadIds.has(leadId) || merged.has(was.get(leadId) ?? 0) ? [[input, inRecycleBin]] : [];
    });
  }
}
