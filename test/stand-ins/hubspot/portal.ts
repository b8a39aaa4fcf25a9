import { companyPipeline, defineProperty, type Property, usualProperties } from './property.ts';

/** A company. `values`: filled properties only, archived ones included. */
export interface Company {
  readonly id: string;
  readonly values: ReadonlyMap<string, string>;
  /** Epoch ms; null: not in the recycle bin. */
  readonly archivedAt: number | null;
}

/** An admin's validation rule for a property. */
interface Rule {
  readonly property: string;
  readonly allows: (value: string) => boolean;
  readonly message: string;
}

/** A company as the search index knows it: its state at an earlier time. */
interface Version {
  /** Epoch ms. */
  readonly at: number;
  /** Null: archived or deleted. */
  readonly company: Company | null;
}

/** How a value was set, and by whom. */
export interface ChangeSource {
  readonly sourceType: 'CRM_UI' | 'INTEGRATION' | 'IMPORT';
  readonly sourceId?: string;
  readonly updatedByUserId?: number;
}

/** A past value of a property ('': empty), as the API shows it. */
interface PropertyVersion extends ChangeSource {
  readonly value: string;
  readonly timestamp: string;
}

/** A user who can own records. */
export interface Owner {
  readonly userId: number;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
}

/** A person without a user number. */
const byHand: ChangeSource = { sourceType: 'CRM_UI' };
const integration: ChangeSource = { sourceType: 'INTEGRATION', sourceId: '5005' };

/** The state of a portal: its companies with the recycle bin, properties, groups and rules. */
export class Portal {
  readonly properties = new Map<string, Property>();
  /** Label by name. */
  readonly groups = new Map([['companyinformation', 'Company information']]);
  readonly rules: Rule[] = [];
  /** Number of associated tickets by company id. */
  readonly tickets = new Map<string, number>();
  readonly owners: Owner[] = [];
  /** By id, ascending; including the recycle bin. */
  readonly companies = new Map<string, Company>();
  readonly #clock: { now(): number };
  readonly #searchLagMs: number;
  readonly #propertyLagMs: number;
  /** Ids of live companies by the value of a unique property. */
  readonly #unique = new Map<string, Map<string, string>>();
  /** By the company's id and the property's name, newest first. */
  readonly #history = new Map<string, Map<string, readonly PropertyVersion[]>>();
  /** The surviving id by the ids of merged companies. */
  readonly #heirs = new Map<string, string>();
  /** When a new property becomes usable (epoch ms), by name. */
  readonly #coming = new Map<string, number>();
  readonly #versions = new Map<string, Version[]>();
  /** More than 32 bits. */
  #lastId = 41_000_000_000;

  constructor(clock: { now(): number }, lags: { readonly searchMs: number; readonly propertyMs: number }) {
    this.#clock = clock;
    this.#searchLagMs = lags.searchMs;
    this.#propertyLagMs = lags.propertyMs;
    for (const property of usualProperties(clock.now())) this.properties.set(property.name, property);
  }

  now(): number {
    return this.#clock.now();
  }

  /** A usable property: not archived, and not created a moment ago. */
  property(name: string): Property | undefined {
    const property = this.properties.get(name);
    return property === undefined || property.archived || this.isComing(property) ? undefined : property;
  }

  /** Whether a property was created through the API a moment ago and is not visible yet. */
  isComing({ name }: Property): boolean {
    return this.now() < (this.#coming.get(name) ?? 0);
  }

  /** Creates or restores a property for the API; it becomes visible after `propertyLagMs`. */
  addProperty(given: Parameters<typeof defineProperty>[0]): Property {
    this.#coming.set(given.name, this.now() + this.#propertyLagMs);
    return this.putProperty(given);
  }

  /** Creates or replaces a property at once. */
  putProperty(given: Parameters<typeof defineProperty>[0]): Property {
    const property = defineProperty(given);
    this.properties.set(property.name, property);
    return property;
  }

  /** A company that is not archived. A merged company's id leads to the surviving one. */
  live(id: string): Company | undefined {
    const heir = this.#heirs.get(id);
    if (heir !== undefined) return this.live(heir);
    const company = this.companies.get(id);
    return company?.archivedAt === null ? company : undefined;
  }

  /** The live company that has this value in a unique property. */
  holder(property: string, value: string): Company | undefined {
    const id = this.#unique.get(property)?.get(value);
    return id === undefined ? undefined : this.companies.get(id);
  }

  /** A property's past values, newest first; undefined: it never had one. */
  history({ id }: Company, property: string): readonly PropertyVersion[] | undefined {
    return this.#history.get(id)?.get(property);
  }

  /** A new company. */
  create(values: ReadonlyMap<string, string>, by = integration): Company {
    const id = String(++this.#lastId);
    const own = new Map([
      ['lifecyclestage', 'lead'],
      ['hs_pipeline', companyPipeline],
      ['hs_object_id', id],
      ['hs_object_source', by.sourceType],
      ['createdate', new Date(this.now()).toISOString()],
    ]);
    return this.#put({ id, values: own, archivedAt: null }, values, by);
  }

  /** Sets values; '' clears one. */
  change(company: Company, values: ReadonlyMap<string, string>, by = integration): Company {
    return this.#put(company, values, by);
  }

  archive(company: Company): void {
    this.#put({ ...company, archivedAt: this.now() });
  }

  restore(company: Company): void {
    this.#put({ ...company, archivedAt: null });
  }

  purge(company: Company): void {
    this.#setUnique(company, false);
    this.companies.delete(company.id);
    this.#remember(company.id, null);
  }

  /**
   * Merges two companies. By HubSpot's changelog a new record results, to which both old ids lead. The winner's values
   * take precedence over the loser's. `keepWinner`: the winner survives, as before 2025. `intoBin`: merged records are
   * listed in the recycle bin.
   */
  merge(winner: Company, loser: Company, options: { keepWinner: boolean; intoBin: boolean }): Company {
    const values = new Map([...loser.values, ...winner.values]);
    const before = [winner, loser].map(({ values: own }) => own.get('hs_merged_object_ids'));
    const merged = [...before, winner.id, loser.id];
    for (const company of options.keepWinner ? [loser] : [winner, loser]) {
      this.archive(company);
      if (!options.intoBin) this.purge(company);
    }
    for (const name of ['hs_object_id', 'createdate']) values.delete(name);
    values.set('hs_merged_object_ids', merged.filter((id) => id !== undefined).join(';'));
    const heir = options.keepWinner ? this.change(winner, values, byHand) : this.create(values, byHand);
    const tickets = (this.tickets.get(winner.id) ?? 0) + (this.tickets.get(loser.id) ?? 0);
    if (tickets > 0) this.tickets.set(heir.id, tickets);
    for (const { id } of [winner, loser]) if (id !== heir.id) this.#heirs.set(id, heir.id);
    return heir;
  }

  /** The companies as the search index sees them (some seconds old), by id. */
  indexed(): Company[] {
    return [...this.#versions.values()].flatMap((versions) => this.#seen(versions)?.company ?? []);
  }

  #put(company: Company, changes: ReadonlyMap<string, string> = new Map(), by = integration): Company {
    const before = this.companies.get(company.id);
    if (before !== undefined) this.#setUnique(before, false);
    const values = new Map(company.values);
    const timestamp = new Date(this.now()).toISOString();
    const history = this.#history.get(company.id) ?? new Map<string, readonly PropertyVersion[]>();
    this.#history.set(company.id, history);
    for (const [name, value] of changes) {
      if (value !== (values.get(name) ?? ''))
        history.set(name, [{ value, timestamp, ...by }, ...(history.get(name) ?? [])]);
      if (value === '') values.delete(name);
      else values.set(name, value);
    }
    values.set('hs_lastmodifieddate', timestamp);
    const after = { ...company, values };
    this.companies.set(after.id, after);
    if (after.archivedAt === null) this.#setUnique(after, true);
    this.#remember(after.id, after.archivedAt === null ? after : null);
    return after;
  }

  #setUnique({ id, values }: Company, present: boolean): void {
    for (const [name, value] of values) {
      if (this.properties.get(name)?.hasUniqueValue !== true) continue;
      const ids = this.#unique.get(name) ?? new Map<string, string>();
      this.#unique.set(name, ids);
      if (present) ids.set(value, id);
      else if (ids.get(value) === id) ids.delete(value);
    }
  }

  #remember(id: string, company: Company | null): void {
    const versions = this.#versions.get(id) ?? [];
    const seen = this.#seen(versions);
    const recent = versions.slice(seen === undefined ? 0 : versions.indexOf(seen));
    this.#versions.set(id, [...recent, { at: this.now(), company }]);
  }

  #seen(versions: readonly Version[]): Version | undefined {
    const until = this.now() - this.#searchLagMs;
    return versions.findLast(({ at }) => at <= until);
  }
}
