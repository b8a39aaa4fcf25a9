import { LeadsyncError } from '../lib/errors.ts';
import { fieldKinds } from '../core/lead/field-kinds.ts';
import { defaultFields } from '../core/lead/mapping.ts';
import { createRandom, type Random } from './random.ts';

/** The time that the service goes by, epoch ms (UTC). */
export interface SandboxClock {
  now(): number;
}

export interface LeadFields {
  readonly companyName: string;
  readonly segment: string;
  readonly city: string;
  readonly region: string;
  readonly stage: string;
  /** ISO 8601, UTC; how it is shown is up to the options. */
  readonly nextFollowUpAt: string | null;
  readonly [field: string]: unknown;
}

export interface SandboxLead extends LeadFields {
  readonly id: string;
}

/** A lead without any content: the fields of the API reference (section 2), in its order. */
export const emptyFields = Object.fromEntries(
  defaultFields.map(({ field, type }) => [field, fieldKinds[type].isMoment ? null : '']),
) as LeadFields;

/** The stored leads. Changes made here take effect as if a person had made them in the service's web app: unchecked. */
export class LeadTable {
  readonly #leads = new Map<string, SandboxLead>();
  readonly #created = new LeadOrder();
  readonly #idKind: IdKind;
  readonly #clock: SandboxClock;
  readonly #random: Random;
  readonly #seed: number;
  #shuffled: LeadOrder | undefined;

  constructor(
    seeded: readonly SandboxLead[],
    options: { readonly seed: number; readonly idKind: IdKind; readonly clock: SandboxClock },
  ) {
    this.#clock = options.clock;
    this.#idKind = options.idKind;
    this.#seed = options.seed;
    this.#random = createRandom(options.seed, 'new ids');
    for (const lead of seeded) this.#put(lead);
  }

  get size(): number {
    return this.#leads.size;
  }

  /** All leads, oldest first. */
  list(): SandboxLead[] {
    return [...this.#leads.values()];
  }

  get(id: string): SandboxLead | undefined {
    return this.#leads.get(id);
  }

  add(fields: Partial<SandboxLead>): SandboxLead {
    const id = fields.id ?? createLeadId(this.#idKind, this.#clock.now(), this.#random);
    if (this.#leads.has(id)) {
      throw new LeadsyncError(
        'sandbox.lead-exists',
        `The sandbox already has a lead ${id}; nothing was added.`,
      );
    }
    const lead = { ...emptyFields, ...fields, id };
    this.#put(lead);
    return lead;
  }

  /** Throws `sandbox.lead-unknown`. */
  edit(id: string, fields: Partial<LeadFields>): SandboxLead {
    const before = this.#leads.get(id);
    if (before === undefined) {
      throw new LeadsyncError('sandbox.lead-unknown', `The sandbox has no lead ${id}; nothing was changed.`);
    }
    const lead = { ...before, ...fields, id };
    this.#leads.set(id, lead);
    return lead;
  }

  remove(id: string): boolean {
    this.#created.remove(id);
    this.#shuffled?.remove(id);
    return this.#leads.delete(id);
  }

  /** By creation, or shuffled by the seed; later leads come last in both. */
  places(order: 'created' | 'shuffled'): LeadOrder {
    if (order === 'created') return this.#created;
    this.#shuffled ??= shuffle([...this.#leads.keys()], this.#seed);
    return this.#shuffled;
  }

  #put(lead: SandboxLead): void {
    this.#leads.set(lead.id, lead);
    this.#created.add(lead.id);
    this.#shuffled?.add(lead.id);
  }
}

function shuffle(ids: readonly string[], seed: number): LeadOrder {
  const random = createRandom(seed, 'order');
  const places = new LeadOrder();
  for (const [place, id] of ids.entries()) {
    places.add(id);
    places.swap(place, random.below(place + 1));
  }
  return places;
}

/** `uuid7`: time-ordered as in the API reference, section 2. `other`: UUIDs of version 4, which tell no time. */
export type IdKind = 'uuid7' | 'other';

/** RFC 9562. `atMs`: epoch ms, used by `uuid7` alone. */
export function createLeadId(kind: IdKind, atMs: number, random: Random): string {
  const time = kind === 'uuid7' ? atMs.toString(16).padStart(12, '0') : hex(random, 12);
  const version = kind === 'uuid7' ? '7' : '4';
  const variant = (8 + random.below(4)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}${hex(random, 3)}-${variant}${hex(random, 3)}-${hex(random, 12)}`;
}

/** At most 13 digits: what a number holds exactly; the generator itself gives 32 bits at a time. */
function hex(random: Random, digits: number): string {
  if (digits > 8) return hex(random, 8) + hex(random, digits - 8);
  return random
    .below(16 ** digits)
    .toString(16)
    .padStart(digits, '0');
}

/** Removed places stay empty, so that a position in a cursor stays right and no operation takes longer for more leads. */
export class LeadOrder {
  readonly #ids: (string | undefined)[] = [];
  readonly #placeOf = new Map<string, number>();

  get length(): number {
    return this.#ids.length;
  }

  at(place: number): string | undefined {
    return this.#ids[place];
  }

  add(id: string): void {
    this.#placeOf.set(id, this.#ids.length);
    this.#ids.push(id);
  }

  remove(id: string): void {
    const place = this.#placeOf.get(id);
    if (place === undefined) return;
    this.#placeOf.delete(id);
    this.#ids[place] = undefined;
  }

  swap(place: number, other: number): void {
    const id = this.#ids[place];
    const otherId = this.#ids[other];
    this.#ids[place] = otherId;
    this.#ids[other] = id;
    if (otherId !== undefined) this.#placeOf.set(otherId, place);
    if (id !== undefined) this.#placeOf.set(id, other);
  }
}
