import type { Fault, Route } from './faults.ts';
import type { LeadTable, SandboxClock, SandboxLead, LeadOrder, LeadFields } from './lead-table.ts';
import type { SandboxBehaviour } from './options.ts';
import type { Random } from './random.ts';
import { emptyReply, errorReply, jsonReply, type Reply, showLead } from './reply.ts';
import { z } from 'zod';
import { parseJson, decoded } from '../lib/foreign-text.ts';
import { fieldKinds } from '../core/lead/field-kinds.ts';
import { defaultFields } from '../core/lead/mapping.ts';

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

function list(call: Call, service: Service): Reply {
  const { table, options, random, clock } = service;
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
  const page = takePage(service, place, limit, filterFor(call.query));
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

/**
 * Takes the page that begins at `start` (0: the first one); `next`: where the next one begins, null: this is the last. The work grows with the page
 * (and the leads that do not match), not with the table.
 */
function takePage(
  { table, options, random }: Service,
  start: number,
  limit: number,
  matches: (lead: SandboxLead) => boolean,
) {
  const places = table.places(options.order === 'created' ? 'created' : 'shuffled');
  const placeOf =
    options.order === 'random-per-request' ? newOrder(places.length, random) : (place: number) => place;
  const matching = (place: number): SandboxLead | undefined => {
    const lead = table.get(places.at(placeOf(place)) ?? '');
    return lead !== undefined && matches(lead) ? lead : undefined;
  };

  // At least one item is new, or the scan would never end.
  const repeated = takeBefore(start, Math.min(options.repeatItems, limit - 1), matching);
  const leads = [...repeated];
  for (let place = start; place < places.length; place++) {
    const lead = matching(place);
    if (lead === undefined) continue;
    if (leads.length === limit) return { leads, next: place };
    leads.push(lead);
  }
  return { leads, next: null };
}

/** A lead listed before `place` and one at or after it change places, so that a scan repeats the one and misses the other. */
function moveLead(places: LeadOrder, place: number, random: Random): void {
  if (place === 0 || place >= places.length) return;
  places.swap(random.below(place), place + random.below(places.length - place));
}

function takeBefore(
  end: number,
  count: number,
  matching: (place: number) => SandboxLead | undefined,
): SandboxLead[] {
  const leads: SandboxLead[] = [];
  for (let place = end - 1; place >= 0 && leads.length < count; place--) {
    const lead = matching(place);
    if (lead !== undefined) leads.unshift(lead);
  }
  return leads;
}

/** A one-to-one map of 0 … length-1 onto itself that needs no list of that length. */
function newOrder(length: number, random: Random): (place: number) => number {
  const offset = random.below(length);
  let factor = 1 + random.below(length);
  while (greatestCommonDivisor(factor, length) > 1) factor++;
  return (place) => (place * factor + offset) % length;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

const cursorSchema = z.object({ place: z.int().nonnegative(), expires: z.number() });

/** An opaque cursor for the page that begins at `place`; good until `expires` (epoch ms). */
function writeCursor(place: number, expires: number): string {
  return Buffer.from(JSON.stringify({ place, expires })).toString('base64url');
}

/** The place, or null when the cursor is not one of ours or has expired. */
function readCursor(cursor: string, nowMs: number): number | null {
  const { data } = cursorSchema.safeParse(parseJson(Buffer.from(cursor, 'base64url').toString()));
  return data !== undefined && data.expires > nowMs ? data.place : null;
}

type WriteBody =
  | { readonly ok: true; readonly fields: Partial<LeadFields> }
  | { readonly ok: false; readonly status: number; readonly message: string };

const text = z
  .string()
  .nullable()
  .transform((value) => value ?? '');
const instant = z.iso
  .datetime({ offset: true, error: 'not an ISO 8601 timestamp' })
  .transform((value) => new Date(value).toISOString())
  .nullable();

const knownFields = Object.fromEntries(
  defaultFields.map(({ field, type }) => [
    field,
    (fieldKinds[type].isMoment ? instant : text).exactOptional(),
  ]),
);
const plainSchema = z.object(knownFields);
const extraSchema = z.looseObject({
  ...knownFields,
  ownerEmail: text.exactOptional(),
  employees: z.number().int().nullable().exactOptional(),
});

/** Of POST (`before` undefined) or PATCH. No JSON object: 400; a value not accepted: `invalidStatus`; fields it does not know are left out. */
function readWriteBody(body: string, before: SandboxLead | undefined, options: SandboxBehaviour): WriteBody {
  const object = parseObject(body);
  if (object === null) return { ok: false, status: 400, message: 'The body is not a JSON object.' };
  const schema = options.extraFields ? extraSchema : plainSchema;
  const parsed = schema.safeParse(object);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refused(options, `${issue?.path.join('.') ?? 'body'}: ${issue?.message ?? 'not accepted'}`);
  }
  const fields = storedForm(parsed.data, before, options);
  const problem = findProblem(fields, before, options);
  return problem === null ? { ok: true, fields } : refused(options, problem);
}

function refused(options: SandboxBehaviour, message: string): WriteBody {
  return { ok: false, status: options.invalidStatus, message };
}

function parseObject(body: string): object | null {
  const value = parseJson(body);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
}

function storedForm(
  given: Partial<LeadFields>,
  before: SandboxLead | undefined,
  options: SandboxBehaviour,
): Partial<LeadFields> {
  const entries = Object.entries(given)
    .filter(([field]) => field !== 'id' && !options.ignoredFields.includes(field))
    .map(
      ([field, value]) =>
        [field, options.trimText && typeof value === 'string' ? value.trim() : value] as const,
    );
  const fields: Partial<LeadFields> = Object.fromEntries(entries);
  const [firstStage] = options.stages ?? [];
  const needsStage = before === undefined && firstStage !== undefined && (fields.stage ?? '') === '';
  return needsStage ? { ...fields, stage: firstStage } : fields;
}

function findProblem(
  fields: Partial<LeadFields>,
  before: SandboxLead | undefined,
  options: SandboxBehaviour,
): string | null {
  for (const field of options.requiredFields) {
    const value = fields[field];
    if (value === '' || value === null || (value === undefined && before === undefined)) {
      return `${field}: must not be empty`;
    }
  }
  const { stage, segment } = fields;
  if (stage !== undefined && options.stages?.includes(stage) === false) {
    return `stage: ${JSON.stringify(stage)} is not one of ${options.stages.join(', ')}`;
  }
  if (segment !== undefined && segment !== '' && options.segments?.includes(segment) === false) {
    return `segment: ${JSON.stringify(segment)} is not one of ${options.segments.join(', ')}`;
  }
  return null;
}
