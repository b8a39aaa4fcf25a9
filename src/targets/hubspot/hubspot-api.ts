import { type HubSpotCall, HubSpotFault, type HubSpotHttp, notRead } from './hubspot-http.ts';
import {
  accountReply,
  archiveReply,
  associationsReply,
  type BatchReply,
  batchReply,
  companyPage,
  groupReply,
  changedProperty,
  historiesReply,
  lastChangeReply,
  namesReply,
  ownerReply,
  propertiesReply,
  type PropertyDefinition,
  propertyReply,
  type SaidFault,
  type ShownCompany,
} from './hubspot-replies.ts';

/** HubSpot supports each dated API for 18 months. */
const apiVersion = '2026-09';
const companiesPath = `/crm/objects/${apiVersion}/companies`;
const associationsPath = `/crm/associations/${apiVersion}/companies`;
const ownersPath = `/crm/owners/${apiVersion}`;
const propertiesPath = `/crm/properties/${apiVersion}/companies`;

/** HubSpot's maximum for inputs of a batch and records of a page. */
export const mostInputs = 100;

/** Fewer with property history (for lists: github.com/HubSpot/hubspot-api-python/issues/143). */
export const mostWithHistory = 50;

/** HubSpot's answers in a batch for an id that no company has, or can have. */
const absences: ReadonlySet<string> = new Set(['OBJECT_NOT_FOUND', 'VALIDATION_ERROR']);

interface BatchInput {
  readonly id?: string;
  readonly properties?: Readonly<Record<string, string>>;
  readonly objectWriteTraceId?: string;
}

export interface NewProperty {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly fieldType: string;
  readonly groupName: string;
  readonly hasUniqueValue?: boolean;
  readonly options?: readonly unknown[];
}

/** The company endpoints, for one operation, which the signal stops; each call is one request. Faults: see `HubSpotHttp`. */
export class HubSpotApi {
  readonly #http: HubSpotHttp;
  readonly signal: AbortSignal;

  constructor(http: HubSpotHttp, signal: AbortSignal) {
    this.#http = http;
    this.signal = signal;
  }

  #ask<Reply>(call: HubSpotCall<Reply>): Promise<Reply> {
    return this.#http.ask(call, this.signal);
  }

  /** The portal's number; also learns its time zone, at whose midnight the daily limit ends. Asked once: a key belongs to one portal. */
  async portal(): Promise<string> {
    if (this.#http.portal !== null) return this.#http.portal;
    const path = `/account-info/${apiVersion}/details`;
    const { portalId, timeZone } = await this.#ask({ kind: 'read', path, reply: accountReply });
    this.#http.limits.setZone(timeZone);
    return (this.#http.portal = portalId);
  }

  /** Requests the time zone once; without a reply it stays unknown. */
  async learnTimeZone(): Promise<void> {
    try {
      await this.portal();
    } catch (error) {
      // Optional: no sync depends on it.
      if (!(error instanceof HubSpotFault)) throw error;
    }
  }

  list(
    properties: readonly string[],
    { archived, after }: { readonly archived: boolean; readonly after: string | null },
  ) {
    const query = new URLSearchParams({
      limit: String(mostInputs),
      properties: properties.join(','),
      archived: String(archived),
      ...(after !== null && { after }),
    });
    const path = `${companiesPath}?${query.toString().replaceAll('+', '%20').replaceAll('%2C', ',')}`;
    return this.#ask({ kind: 'read', path, reply: companyPage });
  }

  /** At most 100, by record id or `idProperty`. Missing ones are left out. Throws when one is left out for any other reason. */
  async batchRead(
    ids: readonly string[],
    properties: readonly string[],
    idProperty: string | null,
  ): Promise<readonly ShownCompany[]> {
    const by = idProperty === null ? {} : { idProperty };
    const json = { inputs: inputsOf(ids), properties, propertiesWithHistory: [], ...by };
    const call = { kind: 'read', path: `${companiesPath}/batch/read`, json, reply: batchReply } as const;
    const { results, errors } = await this.#ask(call);
    assertRead(errors);
    return results;
  }

  /** How many companies there are, and the one changed last; null: none. From the search index, which is behind and lacks the recycle bin. */
  lastChange() {
    const sorts = [{ propertyName: changedProperty, direction: 'DESCENDING' }];
    const json = { filterGroups: [], sorts, properties: [changedProperty], limit: 1 };
    return this.#ask({ kind: 'read', path: `${companiesPath}/search`, json, reply: lastChangeReply });
  }

  /** All past values of these properties, for at most 50 companies by record id; missing ones are left out. */
  histories(ids: readonly string[], properties: readonly string[]) {
    const json = { inputs: inputsOf(ids), properties: [], propertiesWithHistory: properties };
    const path = `${companiesPath}/batch/read`;
    return this.#ask({ kind: 'read', path, json, reply: historiesReply });
  }

  /** The name of a user who is an owner; empty: no name. */
  userName(userId: string): Promise<string> {
    const path = `${ownersPath}/${encodeURIComponent(userId)}?idProperty=userId`;
    return this.#ask({ kind: 'read', path, reply: ownerReply });
  }

  /** At most 100. A create never overwrites: a taken unique value is refused. An archive moves to the recycle bin. */
  batchWrite(what: 'update' | 'create' | 'archive', inputs: readonly BatchInput[]): Promise<BatchReply> {
    const path = `${companiesPath}/batch/${what}`;
    const reply = what === 'archive' ? archiveReply : batchReply;
    return this.#ask({ kind: 'write', path, json: { inputs }, reply });
  }

  /** Those of at most 100 companies that are associated with another kind, such as `tickets`. */
  async withAssociations(kind: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const json = { inputs: inputsOf(ids) };
    const path = `${associationsPath}/${kind}/batch/read`;
    const call = { kind: 'read', path, json, reply: associationsReply } as const;
    const { associated, errors } = await this.#ask(call);
    assertRead(errors);
    return associated;
  }

  properties(): Promise<readonly PropertyDefinition[]> {
    return this.#ask({ kind: 'read', path: propertiesPath, reply: propertiesReply });
  }

  /** Whether all of these exist; sends nothing for none. */
  async hasProperties(names: readonly string[]): Promise<boolean> {
    if (names.length === 0) return true;
    const there = new Set((await this.properties()).map(({ name }) => name));
    return names.every((name) => there.has(name));
  }

  /** Names of archived properties; HubSpot keeps them for a while. */
  archivedProperties(): Promise<readonly string[]> {
    const path = `${propertiesPath}?archived=true`;
    return this.#ask({ kind: 'read', path, reply: namesReply });
  }

  property(name: string): Promise<PropertyDefinition> {
    const path = `${propertiesPath}/${encodeURIComponent(name)}`;
    return this.#ask({ kind: 'read', path, reply: propertyReply });
  }

  createProperty(property: NewProperty): Promise<PropertyDefinition> {
    const call = { kind: 'write', path: propertiesPath, json: property, reply: propertyReply } as const;
    return this.#ask(call);
  }

  /** `options` replaces the whole list. */
  changeProperty(
    name: string,
    json: { readonly options: readonly unknown[] } | { readonly description: string },
  ): Promise<PropertyDefinition> {
    const path = `${propertiesPath}/${encodeURIComponent(name)}`;
    const call = { kind: 'write', method: 'PATCH', path, json, reply: propertyReply } as const;
    return this.#ask(call);
  }

  groups(): Promise<readonly string[]> {
    return this.#ask({ kind: 'read', path: `${propertiesPath}/groups`, reply: namesReply });
  }

  async createGroup(name: string, label: string): Promise<void> {
    const json = { name, label, displayOrder: -1 };
    const path = `${propertiesPath}/groups`;
    await this.#ask({ kind: 'write', path, json, reply: groupReply });
  }
}

function inputsOf(ids: readonly string[]): { id: string }[] {
  return ids.map((id) => ({ id }));
}

/** Throws when a batch left out a company that may exist. */
function assertRead(errors: readonly SaidFault[]): void {
  const unread = errors.find(({ category }) => category !== null && !absences.has(category));
  if (unread !== undefined) throw notRead(unread);
}
