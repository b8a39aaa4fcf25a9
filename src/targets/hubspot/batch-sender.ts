import { idKey } from '../../core/lead/lead.ts';
import { type CompanyTable, leadIdOf, propertyGone } from './company-table.ts';
import { type HubSpotApi, mostInputs } from './hubspot-api.ts';
import { HubSpotFault, isForbidden } from './hubspot-fault.ts';
import type { BatchReply, SaidFault, ShownCompany } from './hubspot-replies.ts';
import {
  type InputResult,
  isAboutProperties,
  isTaken,
  namesRecords,
  type PlannedInput,
  rereadResult,
  resultOfError,
  resultsOf,
} from './input-results.ts';

/** A batch refused as a whole is halved until each refused input stands alone; those are remembered and not sent again. */
export class BatchSender {
  readonly #api: HubSpotApi;
  readonly #refused = new Map<string, InputResult>();

  constructor(api: HubSpotApi) {
    this.#api = api;
  }

  /** What a portal refuses may be fixed by the next run. */
  forget(): void {
    this.#refused.clear();
  }

  /** One result per input, even when the key may not write. Throws other faults, and `target.changed` when a property has disappeared. */
  async send(
    inputs: readonly PlannedInput[],
    table: CompanyTable,
    signal: AbortSignal,
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
        for await (const [input, result] of this.#sendBatch(batch, table, signal)) {
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
    signal: AbortSignal,
  ): AsyncGenerator<readonly [PlannedInput, InputResult]> {
    let reply: BatchReply;
    try {
      reply = await this.#request(inputs, signal);
    } catch (error) {
      const said = refusal(error);
      const [only, second] = inputs;
      if (said === null || only === undefined) throw error;
      if (isAboutProperties(said)) throw propertyGone();
      if (second !== undefined) {
        const half = Math.ceil(inputs.length / 2);
        yield* this.#sendBatch(inputs.slice(0, half), table, signal);
        yield* this.#sendBatch(inputs.slice(half), table, signal);
      } else if (only.kind === 'create' && isTaken(said)) {
        yield* await this.#readAgain(inputs, said, table, signal);
      } else yield [only, resultOfError(said, only)];
      return;
    }
    if (reply.errors.some(isAboutProperties)) throw propertyGone();
    const { known, unknown, unattributed, taken } = resultsOf(inputs, reply, table);
    yield* known;
    const [said] = taken.values();
    if (said !== undefined) yield* await this.#readAgain([...taken.keys()], said, table, signal);
    if (unknown.length > 0) yield* await this.#readAgain(unknown, unattributed, table, signal);
  }

  #request(inputs: readonly PlannedInput[], signal: AbortSignal): Promise<BatchReply> {
    const kind = inputs[0]?.kind ?? 'update';
    const sent = inputs.map(({ id, properties }, index) => ({
      ...(kind !== 'create' && { id }),
      ...(kind !== 'archive' && { properties, objectWriteTraceId: String(index) }),
    }));
    return this.#api.batchWrite(kind, sent, signal);
  }

  async #readAgain(
    inputs: readonly PlannedInput[],
    unattributed: SaidFault | null,
    table: CompanyTable,
    signal: AbortSignal,
  ): Promise<(readonly [PlannedInput, InputResult])[]> {
    const byLead = inputs[0]?.kind === 'create';
    const companies = await this.#api.batchRead(
      inputs.map(({ id }) => id),
      table.wanted,
      byLead ? table.idProperty : null,
      signal,
    );
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
    if (!(await this.#api.hasProperties(lacking, signal))) throw propertyGone();
    return inputs.map((input) => [input, rereadResult(input, companyOf(input), unattributed, table)]);
  }
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
