import { type Cell, sameButSpelling, sameCell } from '../../core/lead/value.ts';
import { type CompanyTable, leadIdOf, propertyGone, cellOf } from './company-table.ts';
import { HubSpotFault, isForbidden, wordsOf } from './hubspot-http.ts';
import type { BatchReply, SaidFault, ShownCompany } from './hubspot-replies.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import { type HubSpotApi, mostInputs } from './hubspot-api.ts';

/** The request input for one company; at most one per company. */
export interface PlannedInput {
  readonly kind: 'update' | 'create' | 'archive';
  /** The record id; for a new company the lead's. */
  readonly id: string;
  readonly leadId: string;
  readonly properties: Readonly<Record<string, string>>;
  /** For updates: the properties' earlier values. */
  readonly before?: Readonly<Record<string, string>>;
}

/**
 * `altered`: HubSpot stores something else, by property; another spelling (case, spaces) counts as stored, and travels to the lead like
 * an edit, unless it equals the earlier value. `missed`: not stored, without a reason. `taken`: another company has the new one's id.
 * `forbidden`: the key may not write. `words`: HubSpot's, shortened. `id`: the company's record id.
 */
export type InputResult =
  | { readonly kind: 'stored'; readonly id?: string }
  | { readonly kind: 'altered'; readonly shown: ReadonlyMap<string, Cell> }
  | { readonly kind: 'refused'; readonly words: string | null }
  | { readonly kind: 'taken'; readonly id: string }
  | { readonly kind: 'forbidden'; readonly fault: HubSpotFault }
  | { readonly kind: 'gone' }
  | { readonly kind: 'missed' };

/** The results in a reply; `unattributed`: errors that name no input. */
interface ReplyResults {
  readonly known: ReadonlyMap<PlannedInput, InputResult>;
  readonly unknown: readonly PlannedInput[];
  readonly unattributed: SaidFault | null;
  /** Inputs refused because another company has the lead's id, with HubSpot's words. It may be our own. */
  readonly taken: ReadonlyMap<PlannedInput, SaidFault>;
}

/** The status decides nothing: a partial failure may come as success. Input n has trace id n. */
function resultsOf(inputs: readonly PlannedInput[], reply: BatchReply, table: CompanyTable): ReplyResults {
  const known = new Map<PlannedInput, InputResult>();
  const unattributed: SaidFault[] = [];
  const taken = new Map<PlannedInput, SaidFault>();
  for (const error of reply.errors) {
    const concerned = inputs.filter((input, index) => isAbout(error, input, String(index)));
    if (concerned.length === 0) unattributed.push(error);
    for (const input of concerned) {
      if (input.kind === 'create' && isTaken(error)) taken.set(input, error);
      else known.set(input, resultOfError(error, input));
    }
  }
  const byKey = new Map(inputs.map((input) => [input.id, input]));
  for (const company of reply.results) {
    const input = inputOf(company, inputs, byKey, table);
    if (input === undefined || known.has(input) || taken.has(input)) continue;
    const result = resultShown(company, input, table);
    if (result !== null) known.set(input, result);
  }
  // An archive has no results: inputs without errors are archived.
  const rest = inputs.filter((input) => !known.has(input) && !taken.has(input));
  if (unattributed.length === 0) {
    for (const input of rest) if (input.kind === 'archive') known.set(input, { kind: 'stored' });
  }
  return {
    known,
    unknown: rest.filter((input) => !known.has(input)),
    unattributed: unattributed[0] ?? null,
    taken,
  };
}

/** The result of an input that the reply did not mention, by the company's current state; undefined: not shown. */
function rereadResult(
  input: PlannedInput,
  company: ShownCompany | undefined,
  unattributed: SaidFault | null,
  table: CompanyTable,
): InputResult {
  const refused: InputResult | null =
    unattributed === null ? null : { kind: 'refused', words: wordsOf(unattributed) };
  if (input.kind === 'archive')
    return company === undefined ? { kind: 'stored' } : (refused ?? { kind: 'missed' });
  if (company === undefined)
    return input.kind === 'update' ? { kind: 'gone' } : (refused ?? { kind: 'missed' });
  // An existing property that is left out is empty.
  const empty = Object.fromEntries(Object.keys(input.properties).map((name) => [name, null]));
  const shown = { ...company, properties: { ...empty, ...company.properties } };
  const result = resultShown(shown, input, table);
  if (result?.kind === 'stored') return result;
  if (input.kind === 'create' && unattributed !== null && isTaken(unattributed))
    return { kind: 'taken', id: company.id };
  return refused ?? { kind: 'missed' };
}

/** HubSpot's codes for a taken unique value. */
function isTaken({ category, code, errors }: SaidFault): boolean {
  return code === 'CONFLICTING_UNIQUE_VALUE' || category === 'CONFLICT' || errors.some(isTaken);
}

/** HubSpot's code for a missing property. */
function isAboutProperties(error: SaidFault): boolean {
  return error.code === 'PROPERTY_DOESNT_EXIST' || error.errors.some(isAboutProperties);
}

/** Whether a reply to the whole request is about a missing record. */
function namesRecords({ category, context, errors }: SaidFault): boolean {
  const named = [...(context['ids'] ?? []), ...(context['id'] ?? [])];
  return (category === 'OBJECT_NOT_FOUND' && named.length > 0) || errors.some(namesRecords);
}

function resultOfError(error: SaidFault, { kind }: PlannedInput): InputResult {
  if (error.category === 'OBJECT_NOT_FOUND')
    return kind === 'archive' ? { kind: 'stored' } : { kind: 'gone' };
  return { kind: 'refused', words: wordsOf(error) };
}

function isAbout({ context }: SaidFault, { id }: PlannedInput, traceId: string): boolean {
  const traces = context['objectWriteTraceId'];
  if (traces !== undefined && traces.length > 0) return traces.includes(traceId);
  return [...(context['ids'] ?? []), ...(context['id'] ?? [])].includes(id);
}

function inputOf(
  company: ShownCompany,
  inputs: readonly PlannedInput[],
  byKey: ReadonlyMap<string, PlannedInput>,
  { idProperty }: CompanyTable,
): PlannedInput | undefined {
  const isByLead = inputs[0]?.kind === 'create';
  if (company.traceId !== null) {
    const input = inputs[Number(company.traceId)];
    // A company merged just now shows another id, possibly another lead's.
    return isByLead || input?.id === company.id ? input : undefined;
  }
  return byKey.get(isByLead ? (company.properties[idProperty] ?? '').trim() : company.id);
}

/** Null: the company does not show all that was sent. */
function resultShown(
  { id, properties }: ShownCompany,
  input: PlannedInput,
  table: CompanyTable,
): InputResult | null {
  const altered = new Map<string, Cell>();
  for (const [name, sent] of Object.entries(input.properties)) {
    const text = properties[name];
    if (text === undefined) return null;
    const shown = shownCell(text, name, table);
    const wanted = shownCell(sent, name, table);
    const before = input.before?.[name];
    const isNew =
      name !== table.idProperty && (before === undefined || !sameCell(shown, shownCell(before, name, table)));
    if (!sameCell(shown, wanted) && !(isNew && sameButSpelling(shown, wanted))) altered.set(name, shown);
  }
  return altered.size === 0 ? { kind: 'stored', id } : { kind: 'altered', shown: altered };
}

export function shownCell(text: string | null, name: string, { fields, timeZone }: CompanyTable): Cell {
  const mapped = [...fields.values()].find(({ property }) => property.name === name);
  return mapped === undefined ? text : cellOf(text, mapped, timeZone);
}

/** A batch refused as a whole is halved until each refused input stands alone; those are remembered and not sent again. */
export class BatchSender {
  readonly #refused = new Map<string, InputResult>();

  /** What a portal refuses may be fixed by the next run. */
  forget(): void {
    this.#refused.clear();
  }

  /** One result per input, even when the key may not write. Throws other faults, and `target.changed` when a property has disappeared. */
  async send(
    inputs: readonly PlannedInput[],
    table: CompanyTable,
    api: HubSpotApi,
  ): Promise<ReadonlyMap<PlannedInput, InputResult>> {
    const results = new Map<PlannedInput, InputResult>();
    const fresh = inputs.filter((input) => {
      const known = this.#refused.get(keyOf(input));
      if (known !== undefined) results.set(input, known);
      return known === undefined;
    });
    const batches = (['update', 'create', 'archive'] as const).flatMap((kind) =>
      batchesOf(fresh.filter((input) => input.kind === kind)),
    );
    try {
      for (const batch of batches) {
        for await (const [input, result] of this.#sendBatch(batch, table, api)) {
          results.set(input, result);
          if (result.kind === 'refused') this.#refused.set(keyOf(input), result);
        }
      }
    } catch (error) {
      if (!isForbidden(error)) throw error;
      // Reading was allowed: only writes wait for the key.
      for (const input of fresh)
        if (!results.has(input)) results.set(input, { kind: 'forbidden', fault: error });
    }
    return results;
  }

  /** Yields each result as soon as it is known, so that a later fault loses none. */
  async *#sendBatch(
    inputs: readonly PlannedInput[],
    table: CompanyTable,
    api: HubSpotApi,
  ): AsyncGenerator<readonly [PlannedInput, InputResult]> {
    let reply: BatchReply;
    try {
      reply = await batchWrite(inputs, api);
    } catch (error) {
      const said = refusal(error);
      const [only, second] = inputs;
      if (said === null || only === undefined) throw error;
      if (isAboutProperties(said)) throw propertyGone();
      if (second !== undefined) {
        const half = Math.ceil(inputs.length / 2);
        yield* this.#sendBatch(inputs.slice(0, half), table, api);
        yield* this.#sendBatch(inputs.slice(half), table, api);
      } else if (only.kind === 'create' && isTaken(said)) {
        yield* await this.#readAgain(inputs, said, table, api);
      } else yield [only, resultOfError(said, only)];
      return;
    }
    if (reply.errors.some(isAboutProperties)) throw propertyGone();
    const { known, unknown, unattributed, taken } = resultsOf(inputs, reply, table);
    yield* known;
    const [said] = taken.values();
    if (said !== undefined) yield* await this.#readAgain([...taken.keys()], said, table, api);
    if (unknown.length > 0) yield* await this.#readAgain(unknown, unattributed, table, api);
  }

  async #readAgain(
    inputs: readonly PlannedInput[],
    unattributed: SaidFault | null,
    table: CompanyTable,
    api: HubSpotApi,
  ): Promise<(readonly [PlannedInput, InputResult])[]> {
    const byLead = inputs[0]?.kind === 'create';
    const ids = inputs.map(({ id }) => id);
    const companies = await api.batchRead(ids, table.wanted, byLead ? table.idProperty : null);
    // By lead: a merged company shows another record id.
    const found = new Map(companies.map((company) => [idKey(leadIdOf(company, table) ?? ''), company]));
    const byId = new Map(companies.map((company) => [company.id, company]));
    const companyOf = ({ id, leadId }: PlannedInput): ShownCompany | undefined =>
      (byLead ? undefined : byId.get(id)) ?? found.get(idKey(leadId));
    const lacking = inputs.flatMap((input) => {
      const company = companyOf(input);
      const names = company === undefined ? [] : Object.keys(input.properties);
      return names.filter((name) => company?.properties[name] === undefined);
    });
    if (!(await api.hasProperties(lacking))) throw propertyGone();
    return inputs.map((input) => [input, rereadResult(input, companyOf(input), unattributed, table)]);
  }
}

function batchWrite(inputs: readonly PlannedInput[], api: HubSpotApi): Promise<BatchReply> {
  const kind = inputs[0]?.kind ?? 'update';
  const sent = inputs.map(({ id, properties }, index) => ({
    ...(kind !== 'create' && { id }),
    ...(kind !== 'archive' && { properties, objectWriteTraceId: String(index) }),
  }));
  return api.batchWrite(kind, sent);
}

export function batchesOf<T>(items: readonly T[], most = mostInputs): T[][] {
  const count = Math.ceil(items.length / most);
  return Array.from({ length: count }, (_, at) => items.slice(at * most, (at + 1) * most));
}

/** What HubSpot said against a batch because of its inputs; null for other faults. */
function refusal(error: unknown): SaidFault | null {
  if (!(error instanceof HubSpotFault) || error.said === null) return null;
  const isForInputs = error.code === 'target.refused' || (error.status === 404 && namesRecords(error.said));
  return isForInputs ? error.said : null;
}

function keyOf({ kind, id, properties }: PlannedInput): string {
  return JSON.stringify([kind, id, properties]);
}
