import { ApiFault } from './api-fault.ts';
import { checkValues } from './check-values.ts';
import type { PortalBehaviour } from './operations.ts';
import type { ChangeSource, Company, Owner, Portal } from './portal.ts';
import { plainOptions, type PropertyType } from './property.ts';

/**
 * An admin at work in the portal. Each call takes effect at once. Validation rules do not apply; everything else does.
 * Throws for missing records and for values that a property cannot hold.
 */
export interface HubSpotPerson {
  /** Companies that are not archived, by id, with all properties. */
  companies(): { id: string; properties: Record<string, string | null> }[];
  /** Returns the record id. */
  create(properties: Record<string, string>): string;
  /** `userId`: the user in the property history; default: none. */
  edit(id: string, properties: Record<string, string>, userId?: number): void;
  /** Imports a list: properties by record id. */
  importList(importId: string, list: Readonly<Record<string, Record<string, string>>>, userId?: number): void;
  /** Gives a user a name. */
  addOwner(owner: Owner): void;
  archive(id: string): void;
  restore(id: string): void;
  /** Deletes permanently, from the recycle bin or from the list. */
  purge(id: string): void;
  /** Returns the surviving record id: a new one unless the option `merge` says otherwise. */
  merge(winner: string, loser: string): string;
  /** Creates a missing group. `calculated` implies read-only. */
  addProperty(property: {
    readonly name: string;
    readonly label?: string;
    readonly type: PropertyType;
    readonly fieldType: string;
    readonly groupName?: string;
    readonly hasUniqueValue?: boolean;
    readonly options?: readonly string[];
    readonly readOnly?: boolean;
    readonly calculated?: boolean;
  }): void;
  archiveProperty(name: string): void;
  /** Properties that are not archived, in order of creation; `options` by value. */
  properties(): {
    readonly name: string;
    readonly type: PropertyType;
    readonly fieldType: string;
    readonly groupName: string;
    readonly hasUniqueValue: boolean;
    readonly options: readonly string[];
  }[];
  /** Replaces all options of an enumeration. */
  setOptions(property: string, options: readonly string[]): void;
  /** Adds a validation rule: the API refuses other values ('' included) with this message. */
  addRule(property: string, allows: (value: string) => boolean, message: string): void;
  /** Sets the numbers of contacts, deals, notes and tickets. No property counts tickets. */
  associate(id: string, contacts: number, deals: number, notes?: number, tickets?: number): void;
}

/** An admin in `portal`. */
export function createPerson(portal: Portal, behaviour: PortalBehaviour): HubSpotPerson {
  const liveCompany = (id: string): Company => {
    const company = portal.live(id);
    if (company === undefined) throw new Error(`There is no company ${id} in the portal.`);
    return company;
  };
  const archivedCompany = (id: string): Company => {
    const company = portal.companies.get(id);
    if (company === undefined || company.archivedAt === null)
      throw new Error(`No company ${id} is archived.`);
    return company;
  };
  const check = (company: Company | null, properties: Record<string, string>): Map<string, string> =>
    spoken(() => checkValues(portal, company, properties, { trim: behaviour.trim, rules: false }));
  const definition = (name: string) => {
    const property = portal.property(name);
    if (property === undefined) throw new Error(`There is no property ${name} in the portal.`);
    return property;
  };

  return {
    companies: () => {
      const names = [...portal.properties.values()].flatMap(({ name, archived }) => (archived ? [] : name));
      return [...portal.companies.values()].flatMap(({ id, values, archivedAt }) => {
        if (archivedAt !== null) return [];
        return { id, properties: Object.fromEntries(names.map((name) => [name, values.get(name) ?? null])) };
      });
    },
    create: (properties) => portal.create(check(null, properties), typing()).id,
    edit: (id, properties, userId) => {
      const company = liveCompany(id);
      portal.change(company, check(company, properties), typing(userId));
    },
    importList: (sourceId, list, userId) => {
      for (const [id, properties] of Object.entries(list)) {
        const company = liveCompany(id);
        const by = { ...typing(userId), sourceType: 'IMPORT', sourceId } as const;
        portal.change(company, check(company, properties), by);
      }
    },
    addOwner: (owner) => portal.owners.push(owner),
    archive: (id) => portal.archive(liveCompany(id)),
    restore: (id) => {
      const company = archivedCompany(id);
      for (const [name, value] of company.values) {
        if (portal.properties.get(name)?.hasUniqueValue !== true) continue;
        const holder = portal.holder(name, value);
        if (holder !== undefined)
          throw new Error(`Company ${holder.id} already has the value ${value} of ${name}.`);
      }
      portal.restore(company);
    },
    purge: (id) => portal.purge(portal.live(id) ?? archivedCompany(id)),
    merge: (winner, loser) => {
      const options = { keepWinner: behaviour.merge === 'primary', intoBin: behaviour.mergedInBin };
      return portal.merge(liveCompany(winner), liveCompany(loser), options).id;
    },
    addProperty: ({ options, groupName = 'companyinformation', readOnly, calculated = false, ...given }) => {
      if (portal.properties.has(given.name)) throw new Error(`There is a property ${given.name} already.`);
      if (!portal.groups.has(groupName)) portal.groups.set(groupName, groupName);
      const values = options ?? (given.type === 'bool' ? ['true', 'false'] : []);
      portal.putProperty({
        ...given,
        groupName,
        options: plainOptions(values),
        calculated,
        readOnly: readOnly ?? calculated,
        createdAt: portal.now(),
      });
    },
    archiveProperty: (name) => {
      portal.putProperty({ ...definition(name), archived: true, updatedAt: portal.now() });
    },
    properties: () =>
      [...portal.properties.values()].flatMap(
        ({ name, type, fieldType, groupName, hasUniqueValue, options, archived }) => {
          const values = options.map(({ value }) => value);
          return archived ? [] : { name, type, fieldType, groupName, hasUniqueValue, options: values };
        },
      ),
    setOptions: (name, options) => {
      portal.putProperty({ ...definition(name), options: plainOptions(options), updatedAt: portal.now() });
    },
    addRule: (property, allows, message) => {
      portal.rules.push({ property, allows, message });
    },
    associate: (id, contacts, deals, notes = 0, tickets = 0) => {
      const counts = new Map([
        ['num_associated_contacts', String(contacts)],
        ['num_associated_deals', String(deals)],
        ['num_notes', String(notes)],
      ]);
      portal.tickets.set(portal.change(liveCompany(id), counts, typing()).id, tickets);
    },
  };
}

/** Typed by hand in HubSpot's pages. */
function typing(userId?: number): ChangeSource {
  return {
    sourceType: 'CRM_UI',
    ...(userId !== undefined && { sourceId: `userId:${userId}`, updatedByUserId: userId }),
  };
}

function spoken<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof ApiFault) throw new Error(error.message, { cause: error });
    throw error;
  }
}
