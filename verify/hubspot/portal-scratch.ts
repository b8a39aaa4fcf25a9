import { setTimeout as sleep } from 'node:timers/promises';
import { Differs, Skipped } from '../check.ts';
import { type Definition, definitionOf, definitionsOf, kinds } from './definition.ts';
import {
  type Batch,
  batchOf,
  codesOf,
  codesOfReply,
  describeReply,
  type PortalClient,
  type PortalReply,
  type ShownCompany,
} from './portal-client.ts';

/** The version that the adapter speaks. */
const version = '2026-09';
export const companiesPath = `/crm/objects/${version}/companies`;
export const definitionsPath = `/crm/properties/${version}/companies`;
export const ticketsPath = `/crm/associations/${version}/companies/tickets/batch/read`;
/** HubSpot's property of the record ids that were merged into a company. */
export const mergedIds = 'hs_merged_object_ids';
/** Of inputs in a batch and of companies in a page. */
export const mostInputs = 100;

const prefix = 'leadsync_verify_';
/** Ms that a new property may take to be listed. */
const listedMs = 15_000;
/** Pages of a list that are read at most. */
const mostPages = 200;

export interface Input {
  readonly id: string;
  readonly properties: Readonly<Record<string, string | null>>;
  readonly trace?: string;
}

/** Companies and properties of its own to try things on, in a portal of somebody else. */
export class PortalScratch {
  /** The unique property of all companies made here. The same in every run: a portal has room for ten. */
  readonly idProperty = `${prefix}id`;
  /** Common to the names of all companies made here. */
  readonly mark = `leadsync verify ${new Date().toISOString()}`;
  readonly #client: PortalClient;
  readonly #stopped: AbortSignal;
  readonly #run = Date.now().toString(36);
  /** Values of the unique property and record ids of what was, or may have been, made. */
  readonly #uniques = new Set<string>();
  readonly #ids = new Set<string>();
  readonly #properties = new Map<string, Promise<string>>();

  /** `stopped`: no further request is sent, other than those of `cleanUp`. */
  constructor(client: PortalClient, stopped: AbortSignal) {
    this.#client = client;
    this.#stopped = stopped;
  }

  /** Throws Skipped for what HubSpot cannot or may not answer. */
  async ask(method: string, path: string, json?: unknown): Promise<PortalReply> {
    if (this.#stopped.aborted) throw new Skipped('it was stopped before');
    return this.#client.ask(method, path, json);
  }

  /** A value of the unique property that no company has. */
  unique(): string {
    const value = `${this.#run}-${this.#uniques.size + 1}`;
    this.#uniques.add(value);
    return value;
  }

  /** The unique property, which every other check needs. Throws Differs or Skipped. */
  async begin(): Promise<void> {
    const made = await this.define({ ...kinds.text, name: this.idProperty, hasUniqueValue: true });
    if (made.hasUniqueValue !== true)
      throw new Differs(`${this.idProperty} was made, but not as a unique property`);
  }

  /** The name of a property of this kind. */
  own(kind: keyof typeof kinds): Promise<string> {
    const known = this.#properties.get(kind);
    if (known !== undefined) return known;
    const name = this.newName(kind);
    const made = this.define({ ...kinds[kind], name }).then(() => name);
    this.#properties.set(kind, made);
    return made;
  }

  /** A name that no property has. */
  newName(what: string): string {
    return `${prefix}${this.#run}_${what}`;
  }

  /** Makes a property, or takes it as it is, and waits until it is listed. */
  async define(given: { readonly name: string; readonly [member: string]: unknown }): Promise<Definition> {
    const reply = await this.create(given);
    if (reply.status !== 201 && reply.status !== 200 && reply.status !== 409)
      throw new Differs(`the property ${given.name} was not made: ${describeReply(reply)}`);
    for (const until = Date.now() + listedMs; ; await sleep(250)) {
      const found = (await this.definitions()).find(({ name }) => name === given.name);
      if (found !== undefined) return found;
      if (Date.now() > until)
        throw new Differs(`the property ${given.name} is not listed after ${listedMs / 1000} s`);
    }
  }

  /** Asks for a property to be made, as leadsync does. */
  create(given: { readonly name: string; readonly [member: string]: unknown }): Promise<PortalReply> {
    const label = given.name.replaceAll('_', ' ');
    return this.ask('POST', definitionsPath, { label, groupName: 'companyinformation', ...given });
  }

  /** All properties that are not archived. */
  async definitions(): Promise<Definition[]> {
    return definitionsOf(await this.ask('GET', definitionsPath));
  }

  async definition(name: string): Promise<Definition> {
    return definitionOf(await this.ask('GET', `${definitionsPath}/${name}`));
  }

  /** With a trace id for each input that names one. `id` of an upsert: of the unique property; not sent of a create. */
  async post(
    verb: 'update' | 'upsert' | 'create',
    inputs: readonly Input[],
    idProperty = this.idProperty,
  ): Promise<PortalReply> {
    const by = verb === 'upsert' ? { idProperty } : {};
    for (const { id } of inputs) if (verb === 'upsert') this.#uniques.add(id);
    const reply = await this.ask('POST', `${companiesPath}/batch/${verb}`, {
      inputs: inputs.map(({ id, properties, trace }) => ({
        ...(verb !== 'create' && { id }),
        ...by,
        properties,
        ...(trace !== undefined && { objectWriteTraceId: trace }),
      })),
    });
    if (reply.status < 300) for (const { id } of batchOf(reply).results) this.#ids.add(id);
    return reply;
  }

  read(
    ids: readonly string[],
    properties: readonly string[],
    idProperty?: string,
    propertiesWithHistory: readonly string[] = [],
  ): Promise<PortalReply> {
    const body = { ...readBody(ids, properties, idProperty), propertiesWithHistory };
    return this.ask('POST', `${companiesPath}/batch/read`, body);
  }

  archive(ids: readonly string[]): Promise<PortalReply> {
    return this.ask('POST', `${companiesPath}/batch/archive`, { inputs: ids.map((id) => ({ id })) });
  }

  /** New companies with these values, in this order. */
  async made(...values: readonly Readonly<Record<string, string>>[]): Promise<readonly Made[]> {
    const inputs = values.map((properties) => {
      const id = this.unique();
      return { id, trace: id, properties: { name: `${this.mark} ${id}`, ...properties } };
    });
    const reply = await this.post('upsert', inputs);
    const byUnique = new Map(
      batchOf(reply).results.map((shown) => [shown.properties[this.idProperty], shown.id]),
    );
    return inputs.map(({ id: unique }) => {
      const id = byUnique.get(unique);
      if (id === undefined) throw new Differs(`a company was not made: ${describeReply(reply)}`);
      return { id, unique };
    });
  }

  async one(properties: Readonly<Record<string, string>> = {}): Promise<Made> {
    const [made] = await this.made(properties);
    if (made === undefined) throw new Differs('no company was made');
    return made;
  }

  /** Null: it is not there. */
  async shown(id: string, properties: readonly string[], idProperty?: string): Promise<ShownCompany | null> {
    return batchOf(await this.read([id], properties, idProperty)).results[0] ?? null;
  }

  /** What comes of writing this text to a new company: the value that is read, or `refused: CODE`. */
  async stored(property: string, text: string): Promise<string | null> {
    const { id } = await this.one();
    const reply = await this.post('update', [{ id, trace: '0', properties: { [property]: text } }]);
    const refused = reply.status >= 300 ? codesOfReply(reply) : batchOf(reply).errors.map(codesOf)[0];
    if (refused !== undefined) return `refused: ${refused}`;
    const value = (await this.shown(id, [property]))?.properties[property];
    return value === undefined ? 'left out of the answer' : value;
  }

  /** Keeps a record id that came of a merge, to be archived. */
  keep(id: string): void {
    this.#ids.add(id);
  }

  /** Looks for a company in a whole list. Throws Skipped when the list is too long for that. */
  async listed(id: string, archived: boolean): Promise<ShownCompany | null> {
    let after: string | null = null;
    for (let pages = 0; pages < mostPages; pages++) {
      const query = new URLSearchParams({
        limit: String(mostInputs),
        properties: `${this.idProperty},${mergedIds}`,
        archived: String(archived),
        ...(after !== null && { after }),
      });
      const page: Batch = batchOf(await this.ask('GET', `${companiesPath}?${query.toString()}`));
      const found = page.results.find((each) => each.id === id);
      if (found !== undefined) return found;
      after = page.paging?.next?.after ?? null;
      if (after === null) return null;
    }
    throw new Skipped(`the list is longer than ${mostPages * mostInputs} companies`);
  }

  /**
   * Archives all companies made here, also those whose making was not answered, and all properties, also those of runs that
   * were killed. Throws when anything is left.
   */
  async cleanUp(): Promise<{ companies: number; properties: number }> {
    const ids = new Set<string>();
    const look = async (values: readonly string[], idProperty?: string): Promise<void> => {
      if (values.length === 0) return;
      const [some, rest] = [values.slice(0, mostInputs), values.slice(mostInputs)];
      const body = readBody(some, ['name'], idProperty);
      const reply = await this.#client.ask('POST', `${companiesPath}/batch/read`, body);
      // One of them may be none, such as a value that came to be another's: the others must not be left for that.
      const refused = reply.status === 400 || reply.status === 404;
      if (refused && some.length > 1) {
        const half = Math.ceil(some.length / 2);
        await look(some.slice(0, half), idProperty);
        await look(some.slice(half), idProperty);
      } else if (!refused) for (const { id } of batchOf(reply).results) ids.add(id);
      await look(rest, idProperty);
    };
    await look([...this.#uniques], this.idProperty);
    await look([...this.#ids]);
    const inputs = [...ids].map((id) => ({ id }));
    for (let at = 0; at < inputs.length; at += mostInputs) {
      const body = { inputs: inputs.slice(at, at + mostInputs) };
      const reply = await this.#client.ask('POST', `${companiesPath}/batch/archive`, body);
      if (reply.status >= 300) throw new Differs(`companies are left: ${describeReply(reply)}`);
    }
    const listed = definitionsOf(await this.#client.ask('GET', definitionsPath));
    const own = listed.filter(({ name }) => name.startsWith(prefix));
    for (const { name } of own) {
      const reply = await this.#client.ask('DELETE', `${definitionsPath}/${name}`);
      if (reply.status >= 300 && reply.status !== 404)
        throw new Differs(`the property ${name} is left: ${describeReply(reply)}`);
    }
    return { companies: ids.size, properties: own.length };
  }
}

/** A company made here: its record id, and its value of the unique property. */
export interface Made {
  readonly id: string;
  readonly unique: string;
}

function readBody(ids: readonly string[], properties: readonly string[], idProperty?: string): object {
  return {
    inputs: ids.map((id) => ({ id })),
    properties,
    propertiesWithHistory: [],
    ...(idProperty !== undefined && { idProperty }),
  };
}
