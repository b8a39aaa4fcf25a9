import { moveLead, readCursor, takePage, writeCursor } from './page.ts';
import type { Fault, Route } from './faults.ts';
import type { LeadTable, SandboxClock, SandboxLead } from './lead-table.ts';
import type { SandboxBehaviour } from './options.ts';
import type { Random } from './random.ts';
import { readWriteBody } from './read-write-body.ts';
import { emptyReply, errorReply, jsonReply, type Reply, showLead } from './reply.ts';
import { decoded } from '../lib/foreign-text.ts';

export interface Call {
  /** Undefined: no such path or method. */
  readonly route: Route | undefined;
  /** Empty for list and create. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly body: string;
  /** The due faults of those that come on top. */
  readonly played: ReadonlySet<Fault['kind']>;
}

export interface Service {
  readonly table: LeadTable;
  readonly options: SandboxBehaviour & { readonly apiKey: string };
  readonly random: Random;
  readonly clock: SandboxClock;
}

const permissionFor: Readonly<Record<Route, string>> = {
  list: 'leads:read',
  get: 'leads:read',
  create: 'leads:create',
  update: 'leads:update',
  delete: 'leads:delete',
};

export function findRoute(
  method: string,
  path: string,
): { readonly route: Route | undefined; readonly id: string } {
  if (path === '/v1/leads') {
    return { route: method === 'GET' ? 'list' : method === 'POST' ? 'create' : undefined, id: '' };
  }
  const [, segment] = /^\/v1\/leads\/([^/]+)$/.exec(path) ?? [];
  const id = segment === undefined ? null : decoded(segment);
  const byMethod: Readonly<Record<string, Route>> = { GET: 'get', PATCH: 'update', DELETE: 'delete' };
  return id === null ? { route: undefined, id: '' } : { route: byMethod[method], id };
}

export function answer(call: Call, service: Service): Reply {
  const { options } = service;
  if (call.authorization !== `Bearer ${options.apiKey}`) return unauthenticated(options);
  if (call.route === undefined) return errorReply(options, 404, 'route.notFound', 'There is no such path.');
  const permission = permissionFor[call.route];
  if (!options.permissions.includes(permission)) {
    return errorReply(options, 403, 'auth.forbidden', `The key lacks the permission ${permission}.`);
  }
  switch (call.route) {
    case 'list':
      return list(call, service);
    case 'create':
      return create(call, service);
    case 'get':
      return withLead(call, service, (lead) =>
        jsonReply(200, wrap(options.getReply, 'result', showLead(lead, options))),
      );
    case 'update':
      return withLead(call, service, (lead) => update(lead, call, service));
    case 'delete':
      return withLead(call, service, (lead) => {
        service.table.remove(lead.id);
        return jsonReply(options.deleteStatus, { deleted: true });
      });
  }
}

export function unauthenticated(options: SandboxBehaviour): Reply {
  return errorReply(options, 401, 'auth.unauthenticated', 'Send a valid key.');
}

export function invalidCursor(options: SandboxBehaviour): Reply {
  return errorReply(options, 400, 'request.invalidCursor', 'The cursor is not valid or has expired.');
}

function list(call: Call, { table, options, random, clock }: Service): Reply {
  const limitText = call.query.get('limit');
  const { rejectLimit, maxLimit } = options;
  const isRejected = rejectLimit === true || (rejectLimit === 'above-max' && Number(limitText) > maxLimit);
  if (limitText !== null && (isRejected || !/^[1-9]\d{0,8}$/.test(limitText))) {
    return errorReply(options, 400, 'request.invalid', `limit cannot be ${JSON.stringify(limitText)}.`);
  }
  const cursor = call.query.get('cursor');
  const place = cursor === null ? 0 : readCursor(cursor, clock.now());
  if (place === null) return invalidCursor(options);

  const limit = Math.min(limitText === null ? options.defaultLimit : Number(limitText), maxLimit);
  const page = takePage(table, { place, limit, matches: filterFor(call.query) }, options, random);
  if (call.played.has('moving') && page.next !== null) {
    moveLead(table.places(options.order === 'created' ? 'created' : 'shuffled'), page.next, random);
  }
  return jsonReply(200, {
    items: page.leads.flatMap((lead) => {
      const shown = options.listedAs.get(lead.id);
      return shown === null ? [] : [showLead(shown ?? lead, options)];
    }),
    nextCursor: page.next === null ? null : writeCursor(page.next, clock.now() + options.cursorLifetimeMs),
  });
}

/** The reference says that leads are found by stage, city or name, not how: here `stage`, `city` (equal), `name` (part of). */
function filterFor(query: URLSearchParams): (lead: SandboxLead) => boolean {
  const stage = query.get('stage');
  const city = query.get('city');
  const name = query.get('name')?.toLowerCase();
  return (lead) =>
    (stage === null || lead.stage === stage) &&
    (city === null || lead.city === city) &&
    (name === undefined || lead.companyName.toLowerCase().includes(name));
}

function create(call: Call, service: Service): Reply {
  const { table, options } = service;
  const body = readWriteBody(call.body, undefined, options);
  if (!body.ok) return errorReply(options, body.status, 'request.invalid', body.message);
  const lead = findExisting(call, service, body.fields) ?? table.add(body.fields);
  if (options.createReply === 'nothing') return emptyReply(options.createStatus);
  if (options.createReply === 'location') {
    return emptyReply(options.createStatus, { location: `/v1/leads/${lead.id}` });
  }
  return jsonReply(options.createStatus, wrap(options.createReply, 'lead', showLead(lead, options)));
}

/** The lead that a POST finds or updates instead of making one; undefined: it makes one. */
function findExisting(
  { played }: Call,
  { table }: Service,
  fields: Parameters<LeadTable['add']>[0],
): SandboxLead | undefined {
  if (!played.has('find-or-create') && !played.has('upsert')) return undefined;
  const nameOf = (name: unknown): string => String(name).trim().toLowerCase();
  const found = table.list().find((lead) => nameOf(lead.companyName) === nameOf(fields.companyName));
  return found !== undefined && played.has('upsert') ? table.edit(found.id, fields) : found;
}

function update(lead: SandboxLead, call: Call, { table, options }: Service): Reply {
  const body = readWriteBody(call.body, lead, options);
  if (!body.ok) return errorReply(options, body.status, 'request.invalid', body.message);
  const changed = table.edit(lead.id, body.fields);
  if (options.updateReply === 'nothing-204') return emptyReply(204);
  return jsonReply(200, wrap(options.updateReply, 'data', showLead(changed, options)));
}

function withLead(call: Call, { table, options }: Service, then: (lead: SandboxLead) => Reply): Reply {
  const lead = table.get(call.id);
  return lead === undefined
    ? errorReply(options, 404, 'lead.notFound', `There is no lead ${call.id}.`)
    : then(lead);
}

function wrap(form: 'lead' | 'wrapped', key: string, lead: Record<string, unknown>): Record<string, unknown> {
  return form === 'wrapped' ? { [key]: lead } : lead;
}
