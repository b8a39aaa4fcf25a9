import { HubSpotFault, notRead } from './hubspot-fault.ts';
import { HubSpotHttp } from './hubspot-http.ts';
import type { HubSpotOptions } from './hubspot-options.ts';
import {
  type BatchReply,
  type CompanyPage,
  type PropertyDefinition,
  type PropertyVersion,
  readAssociations,
  readBatch,
  readHistories,
  readOwner,
  readNames,
  readPage,
  readProperties,
  readProperty,
  readAccount,
  type SaidFault,
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

export interface UpdateInput {
  readonly id: string;
  readonly objectWriteTraceId: string;
  readonly properties: Readonly<Record<string, string>>;
}

export type CreateInput = Omit<UpdateInput, 'id'>;

export interface NewProperty {
  readonly name: string;
  readonly label: string;
  readonly type: string;
  readonly fieldType: string;
  readonly groupName: string;
  readonly hasUniqueValue?: boolean;
  readonly options?: readonly unknown[];
}

/** The company endpoints; each call is one request. Faults: see `HubSpotHttp`. */
export class HubSpotApi implements AsyncDisposable {
  readonly #http: HubSpotHttp;
  #portal: string | null = null;

  constructor(options: HubSpotOptions) {
    this.#http = new HubSpotHttp(options);
  }

  /** Requests started so far. */
  get requests(): number {
    return this.#http.requests;
  }

  /**
   * The portal's number and its time zone, at whose midnight the daily limit ends; requested once. A key belongs to one
   * portal.
   */
  async portal(signal: AbortSignal): Promise<string> {
    if (this.#portal !== null) return this.#portal;
    const path = `/account-info/${apiVersion}/details`;
    const call = { kind: 'read', method: 'GET', path, read: readAccount, wanted: 'an account' } as const;
    const { portalId, timeZone } = await this.#http.ask(call, signal);
    this.#http.limits.setZone(timeZone);
    return (this.#portal = portalId);
  }

  /** Requests the time zone once; without a reply it stays unknown. */
  async learnTimeZone(signal: AbortSignal): Promise<void> {
    try {
      await this.portal(signal);
    } catch (error) {
      // Optional: no sync depends on it.
      if (!(error instanceof HubSpotFault)) throw error;
    }
  }

  /** One page of all companies, or of those in the recycle bin. */
  list(
    properties: readonly string[],
    { archived, after }: { readonly archived: boolean; readonly after: string | null },
    signal: AbortSignal,
  ): Promise<CompanyPage> {
    const query = new URLSearchParams({
      limit: String(mostInputs),
      properties: properties.join(','),
      archived: String(archived),
      ...(after !== null && { after }),
    });
    const path = `${companiesPath}?${query.toString().replaceAll('+', '%20').replaceAll('%2C', ',')}`;
    return this.#http.ask(
      { kind: 'read', method: 'GET', path, read: readPage, wanted: 'a page of companies' },
      signal,
    );
  }

  /**
   * At most 100 companies by record id, or by `idProperty`. Missing ones are left out. Throws when one is left out for
   * any other reason: whether it exists is then unknown.
   */
  async batchRead(
    ids: readonly string[],
    properties: readonly string[],
    idProperty: string | null,
    signal: AbortSignal,
  ): Promise<BatchReply> {
    const json = {
      inputs: ids.map((id) => ({ id })),
      properties,
      propertiesWithHistory: [],
      ...(idProperty !== null && { idProperty }),
    };
    const reply = await this.#batch('read', 'read', json, signal);
    assertRead(reply.errors);
    return reply;
  }

  /** All past values of these properties, for at most 50 companies by record id; missing ones are left out. */
  histories(
    ids: readonly string[],
    properties: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, Readonly<Record<string, readonly PropertyVersion[]>>>> {
    const json = { inputs: ids.map((id) => ({ id })), properties: [], propertiesWithHistory: properties };
    const call = { kind: 'read', method: 'POST', path: `${companiesPath}/batch/read`, json } as const;
    return this.#http.ask({ ...call, read: readHistories, wanted: 'the history of companies' }, signal);
  }

  /** The name of a user who is an owner; empty: no name. */
  userName(userId: string, signal: AbortSignal): Promise<string> {
    const path = `${ownersPath}/${encodeURIComponent(userId)}?idProperty=userId`;
    return this.#http.ask({ kind: 'read', method: 'GET', path, read: readOwner, wanted: 'an owner' }, signal);
  }

  batchUpdate(inputs: readonly UpdateInput[], signal: AbortSignal): Promise<BatchReply> {
    return this.#batch('update', 'write', { inputs }, signal);
  }

  /** Creates only: an existing value of a unique property is refused, never overwritten. */
  batchCreate(inputs: readonly CreateInput[], signal: AbortSignal): Promise<BatchReply> {
    return this.#batch('create', 'write', { inputs }, signal);
  }

  /** Moves to the recycle bin. The reply is empty when all are there. */
  async batchArchive(ids: readonly string[], signal: AbortSignal): Promise<BatchReply> {
    const json = { inputs: ids.map((id) => ({ id })) };
    const path = `${companiesPath}/batch/archive`;
    return this.#http.ask(
      {
        kind: 'write',
        method: 'POST',
        path,
        json,
        read: (body) => readBatch(body === null ? { results: [] } : body),
        wanted: 'nothing',
      },
      signal,
    );
  }

  /** Those of at most 100 companies that are associated with another kind, such as `tickets`. */
  async withAssociations(
    kind: string,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    const json = { inputs: ids.map((id) => ({ id })) };
    const path = `${associationsPath}/${kind}/batch/read`;
    const { associated, errors } = await this.#http.ask(
      { kind: 'read', method: 'POST', path, json, read: readAssociations, wanted: 'a list of associations' },
      signal,
    );
    assertRead(errors);
    return associated;
  }

  properties(signal: AbortSignal): Promise<readonly PropertyDefinition[]> {
    return this.#http.ask(
      {
        kind: 'read',
        method: 'GET',
        path: propertiesPath,
        read: readProperties,
        wanted: 'a list of properties',
      },
      signal,
    );
  }

  /** Names of archived properties; HubSpot keeps them for a while. */
  archivedProperties(signal: AbortSignal): Promise<readonly string[]> {
    const path = `${propertiesPath}?archived=true`;
    return this.#http.ask(
      { kind: 'read', method: 'GET', path, read: readNames, wanted: 'a list of properties' },
      signal,
    );
  }

  property(name: string, signal: AbortSignal): Promise<PropertyDefinition> {
    const path = `${propertiesPath}/${encodeURIComponent(name)}`;
    return this.#http.ask(
      { kind: 'read', method: 'GET', path, read: readProperty, wanted: 'a property' },
      signal,
    );
  }

  createProperty(property: NewProperty, signal: AbortSignal): Promise<PropertyDefinition> {
    const call = { kind: 'write', method: 'POST', path: propertiesPath } as const;
    return this.#http.ask({ ...call, json: property, read: readProperty, wanted: 'a property' }, signal);
  }

  /** `options` replaces the whole list. */
  changeProperty(
    name: string,
    change: { readonly options: readonly unknown[] } | { readonly description: string },
    signal: AbortSignal,
  ): Promise<PropertyDefinition> {
    const path = `${propertiesPath}/${encodeURIComponent(name)}`;
    const call = { kind: 'write', method: 'PATCH', path, json: change } as const;
    return this.#http.ask({ ...call, read: readProperty, wanted: 'a property' }, signal);
  }

  groups(signal: AbortSignal): Promise<readonly string[]> {
    const path = `${propertiesPath}/groups`;
    return this.#http.ask(
      { kind: 'read', method: 'GET', path, read: readNames, wanted: 'a list of property groups' },
      signal,
    );
  }

  createGroup(name: string, label: string, signal: AbortSignal): Promise<unknown> {
    const call = { kind: 'write', method: 'POST', path: `${propertiesPath}/groups` } as const;
    return this.#http.ask(
      { ...call, json: { name, label, displayOrder: -1 }, read: (body) => body ?? null, wanted: 'a group' },
      signal,
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#http[Symbol.asyncDispose]();
  }

  #batch(what: string, kind: 'read' | 'write', json: unknown, signal: AbortSignal): Promise<BatchReply> {
    const path = `${companiesPath}/batch/${what}`;
    return this.#http.ask(
      { kind, method: 'POST', path, json, read: readBatch, wanted: 'the results of a batch' },
      signal,
    );
  }
}

/** Throws when a batch left out a company that may exist. */
function assertRead(errors: readonly SaidFault[]): void {
  const unread = errors.find(({ category }) => category !== null && !absences.has(category));
  if (unread !== undefined) throw notRead(unread);
}
