import { showAccount } from './account.ts';
import { readTickets } from './associations.ts';
import { batchArchive, batchRead, batchWrite } from './batches.ts';
import { listCompanies } from './list-companies.ts';
import { mergeCompanies } from './merge-companies.ts';
import { getOwner } from './owners.ts';
import type { Portal } from './portal.ts';
import * as properties from './property-requests.ts';
import { searchCompanies } from './search-companies.ts';
import type { Reply } from './send-reply.ts';

/** See HubSpotSandboxOptions. */
export interface PortalBehaviour {
  readonly order: 'shuffled' | 'input';
  readonly partial: '207' | '200';
  readonly traceIds: boolean;
  readonly trim: boolean;
  readonly merge: 'new-record' | 'primary';
  readonly mergedInBin: boolean;
  readonly portalId: number;
  /** IANA name, as the account shows it. */
  readonly timeZone: string;
  /** From 0 (included) to 1 (not included). */
  readonly random: () => number;
}

/** A request that is routed to its operation. */
export interface ApiCall {
  readonly portal: Portal;
  readonly behaviour: PortalBehaviour;
  readonly query: Readonly<Record<string, string>>;
  /** The last part of the path: a property's name or a user's number. */
  readonly name: string;
  readonly body: unknown;
}

export type RequestKind =
  | 'list'
  | 'archived-list'
  | 'batch-read'
  | 'update'
  | 'upsert'
  | 'create'
  | 'archive'
  | 'properties'
  | 'associations'
  | 'account'
  | 'owner'
  | 'search'
  | 'other';

/** An operation of the API. Its function throws ApiFault. */
export interface Operation {
  readonly kind: RequestKind;
  /** null: none. */
  readonly scope: string | null;
  readonly act: (call: ApiCall) => Reply;
}

const companies = '/crm/objects/2026-09/companies';
const associations = '/crm/associations/2026-09/companies';
const owners = '/crm/owners/2026-09';
const definitions = '/crm/properties/2026-09/companies';

const records = { read: 'crm.objects.companies.read', write: 'crm.objects.companies.write' };
const schemas = { read: 'crm.schemas.companies.read', write: 'crm.schemas.companies.write' };

const ownersRead = 'crm.objects.owners.read';

/** All scopes a token can have here. */
export const allScopes: readonly string[] = [
  ...Object.values(records),
  ...Object.values(schemas),
  'tickets',
  ownersRead,
];

const operations = new Map<string, Operation>([
  [`GET ${companies}`, { kind: 'list', scope: records.read, act: listCompanies }],
  [`POST ${companies}/batch/read`, { kind: 'batch-read', scope: records.read, act: batchRead }],
  [`POST ${companies}/batch/archive`, { kind: 'archive', scope: records.write, act: batchArchive }],
  ...(['create', 'update', 'upsert'] as const).map((verb): [string, Operation] => [
    `POST ${companies}/batch/${verb}`,
    { kind: verb, scope: records.write, act: (call) => batchWrite(call, verb) },
  ]),
  [`POST ${companies}/search`, { kind: 'search', scope: records.read, act: searchCompanies }],
  [`POST ${associations}/tickets/batch/read`, { kind: 'associations', scope: 'tickets', act: readTickets }],
  // Any token may read its own account.
  ['GET /account-info/2026-09/details', { kind: 'account', scope: null, act: showAccount }],
  [`POST ${companies}/merge`, { kind: 'other', scope: records.write, act: mergeCompanies }],
  [`GET ${definitions}`, { kind: 'properties', scope: schemas.read, act: properties.listProperties }],
  [`POST ${definitions}`, { kind: 'properties', scope: schemas.write, act: properties.createProperty }],
  [`GET ${definitions}/groups`, { kind: 'properties', scope: schemas.read, act: properties.listGroups }],
  [`POST ${definitions}/groups`, { kind: 'properties', scope: schemas.write, act: properties.createGroup }],
]);

const one: Readonly<Record<string, Operation>> = {
  GET: { kind: 'properties', scope: schemas.read, act: properties.getProperty },
  PATCH: { kind: 'properties', scope: schemas.write, act: properties.changeProperty },
  DELETE: { kind: 'properties', scope: schemas.write, act: properties.archiveProperty },
};

/** The operation of a path, and the name at its end; null: none. */
export function findOperation(method: string, url: URL): { operation: Operation; name: string } | null {
  const operation = operations.get(`${method} ${url.pathname}`);
  if (operation !== undefined) {
    const bin = operation.kind === 'list' && url.searchParams.get('archived') === 'true';
    return { operation: bin ? { ...operation, kind: 'archived-list' } : operation, name: '' };
  }
  const owner = new RegExp(`^${owners}/([^/]+)$`).exec(url.pathname)?.[1];
  if (owner !== undefined && method === 'GET')
    return { operation: { kind: 'owner', scope: ownersRead, act: getOwner }, name: owner };
  const name = new RegExp(`^${definitions}/([^/]+)$`).exec(url.pathname)?.[1];
  const ofOne = one[method];
  return name === undefined || ofOne === undefined ? null : { operation: ofOne, name };
}
