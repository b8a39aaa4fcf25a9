import { z } from 'zod';
import { ApiFault, badRequest, notFound } from './api-fault.ts';
import { checkInput } from './check-input.ts';
import { checkValues } from './check-values.ts';
import type { ApiCall } from './operations.ts';
import type { Company, Portal } from './portal.ts';
import { showCompany } from './show-company.ts';
import type { Reply } from './send-reply.ts';

const mostInputs = 100;
const mostWithHistory = 50;
const text = z.string().min(1);
const properties = z.record(z.string(), z.string());
const objectWriteTraceId = z.string().optional();
const idProperty = z.string().optional();

const schemas = {
  read: z.strictObject({
    properties: z.array(z.string()),
    propertiesWithHistory: z.array(z.string()).default([]),
    idProperty,
    inputs: z.array(z.strictObject({ id: text })),
  }),
  create: z.strictObject({ inputs: z.array(z.strictObject({ properties, objectWriteTraceId })) }),
  update: z.strictObject({
    inputs: z.array(z.strictObject({ id: text, idProperty, properties, objectWriteTraceId })),
  }),
  upsert: z.strictObject({
    inputs: z.array(z.strictObject({ id: text, idProperty: text, properties, objectWriteTraceId })),
  }),
  archive: z.strictObject({ inputs: z.array(z.strictObject({ id: text })) }),
};

/** `POST …/batch/read`: by record id or by a unique property. Missing ones are named in `errors`. */
export function batchRead(call: ApiCall): Reply {
  const { portal } = call;
  const query = checkInput(z.strictObject({ archived: z.enum(['true', 'false']).optional() }), call.query);
  const body = checkInput(schemas.read, call.body);
  checkInputs(body.inputs, body.propertiesWithHistory.length > 0 ? mostWithHistory : mostInputs);
  checkIdProperty(portal, body.idProperty);
  const results: object[] = [];
  const missing: string[] = [];
  for (const { id } of body.inputs) {
    const company =
      query.archived === 'true'
        ? inRecycleBin(portal, id, body.idProperty)
        : find(portal, id, body.idProperty);
    if (company === undefined) missing.push(id);
    else results.push(showCompany(portal, company, body.properties, body.propertiesWithHistory));
  }
  const message =
    'Could not get some COMPANY objects, they may be deleted or not exist. Check that ids are valid.';
  const errors = missing.length === 0 ? [] : [notFound(message).inBatch({ ids: missing })];
  return batchReply(call, 200, results, errors);
}

interface WriteInput {
  readonly id?: string;
  readonly idProperty?: string | undefined;
  readonly properties: Readonly<Record<string, string>>;
  readonly objectWriteTraceId?: string | undefined;
}

/** `POST …/batch/create`, `update` and `upsert`. */
export function batchWrite(call: ApiCall, verb: 'create' | 'update' | 'upsert'): Reply {
  const { portal, behaviour } = call;
  checkInput(z.strictObject({}), call.query);
  const inputs: readonly WriteInput[] = checkInput(schemas[verb], call.body).inputs;
  checkInputs(inputs);
  for (const { idProperty: name } of inputs) checkIdProperty(portal, name);

  const traceIds = inputs.flatMap((input) => input.objectWriteTraceId ?? []);
  const traced = behaviour.traceIds && new Set(traceIds).size === inputs.length;
  const claims = new Set<string>();
  const errors: object[] = [];
  const writes: (() => object)[] = [];
  const written = new Set<string>();
  for (const input of inputs) {
    try {
      writes.push(prepare(call, verb, input, claims, written));
    } catch (error) {
      // Without trace ids, the first bad input fails the whole batch (facts: section 2, Upsert).
      if (!(error instanceof ApiFault) || !traced) throw error;
      errors.push(error.inBatch({ objectWriteTraceId: [input.objectWriteTraceId ?? ''] }));
    }
  }
  const results = writes.map((write) => write());
  return batchReply(call, verb === 'create' ? 201 : 200, results, errors);
}

/** `POST …/batch/archive`: a missing company counts as archived. */
export function batchArchive(call: ApiCall): Reply {
  checkInput(z.strictObject({}), call.query);
  const { inputs } = checkInput(schemas.archive, call.body);
  checkInputs(inputs);
  for (const { id } of inputs) {
    const company = call.portal.live(id);
    if (company !== undefined) call.portal.archive(company);
  }
  return { status: 204 };
}

/** Checks one input; returns a function that carries it out. Throws ApiFault for a refused one. */
function prepare(
  { portal, behaviour }: ApiCall,
  verb: 'create' | 'update' | 'upsert',
  { id = '', idProperty: name, properties: given, objectWriteTraceId: traceId }: WriteInput,
  claims: Set<string>,
  written: Set<string>,
): () => object {
  const company = verb === 'create' ? null : (find(portal, id, name) ?? null);
  if (verb === 'update' && company === null) throw notFound(`Object not found. objectId: ${id}`, [id]);
  if (company !== null && written.has(company.id)) throw duplicates([id]);
  const all = verb === 'upsert' && name !== undefined ? { [name]: id, ...given } : given;
  const values = checkValues(portal, company, all, { trim: behaviour.trim, rules: true, claims });
  if (company !== null) written.add(company.id);
  return () => {
    const after = company === null ? portal.create(values) : portal.change(company, values);
    return {
      ...showCompany(portal, after, [...values.keys()]),
      ...(verb === 'upsert' && { new: company === null }),
      ...(behaviour.traceIds && traceId !== undefined && { objectWriteTraceId: traceId }),
    };
  };
}

/** Refuses a batch without inputs, with too many, or with duplicates. */
export function checkInputs(inputs: readonly { readonly id?: string }[], most = mostInputs): void {
  if (inputs.length === 0) throw badRequest('The batch has no inputs.');
  if (inputs.length > most) throw badRequest(`The batch has more than ${most} inputs.`);
  const ids = inputs.flatMap(({ id }) => id ?? []);
  const twice = ids.filter((id, index) => ids.indexOf(id) < index);
  if (twice.length > 0) throw duplicates(twice);
}

function duplicates(ids: readonly string[]): ApiFault {
  return badRequest(
    `Duplicate IDs found in batch input: [${[...new Set(ids)].join(', ')}]. IDs must be unique`,
  );
}

function checkIdProperty(portal: Portal, name: string | undefined): void {
  if (name === undefined || portal.property(name)?.hasUniqueValue === true) return;
  throw badRequest(`Unable to perform update/upsert by non-unique 0-2 property ${name} in portal ID 1`);
}

function find(portal: Portal, id: string, property: string | undefined): Company | undefined {
  return property === undefined ? portal.live(id) : portal.holder(property, id);
}

function inRecycleBin(portal: Portal, id: string, property: string | undefined): Company | undefined {
  if (property === undefined) {
    const company = portal.companies.get(id);
    return company?.archivedAt === null ? undefined : company;
  }
  const all = [...portal.companies.values()];
  return all.find(({ values, archivedAt }) => archivedAt !== null && values.get(property) === id);
}

/** The reply to a batch, of which a part may have failed. */
export function batchReply(
  call: ApiCall,
  status: number,
  results: object[],
  errors: readonly object[],
): Reply {
  const { portal, behaviour } = call;
  const now = new Date(portal.now()).toISOString();
  const partly = errors.length > 0;
  return {
    status: partly && behaviour.partial === '207' ? 207 : status,
    body: {
      status: 'COMPLETE',
      startedAt: now,
      completedAt: now,
      results: behaviour.order === 'input' ? results : shuffled(results, behaviour.random),
      ...(partly && { numErrors: errors.length, errors }),
    },
  };
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map((item) => ({ item, place: random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}
