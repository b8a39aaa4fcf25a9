import type { Fault, Method, Route } from './faults.ts';
import type { Random } from './random.ts';

/** What faults look at in a request. `route` undefined: no route of the API. */
export interface FaultRequest {
  readonly method: string;
  readonly route: Route | undefined;
  readonly hasCursor: boolean;
}

/** Counts the requests that each fault matches and says which faults are due. */
export class FaultSchedule {
  readonly #faults: readonly { readonly fault: Fault; matched: number }[];
  readonly #random: Random;

  constructor(faults: readonly Fault[], random: Random) {
    this.#faults = faults.map((fault) => ({ fault, matched: 0 }));
    this.#random = random;
  }

  /** The faults due for this request, in the order they were given; to be asked once for each request. */
  due(request: FaultRequest): Fault[] {
    const due: Fault[] = [];
    for (const entry of this.#faults) {
      if (!matches(entry.fault, request)) continue;
      entry.matched++;
      if (isDue(entry.fault, entry.matched, this.#random)) due.push(entry.fault);
    }
    return due;
  }
}

const writes: readonly (Method | Route)[] = ['create', 'update', 'delete'];

function matches(fault: Fault, request: FaultRequest): boolean {
  if (fault.kind === 'moving' && request.route !== 'list') return false;
  if (fault.kind === 'expired-cursor' && !(request.route === 'list' && request.hasCursor)) return false;
  const byDefault = fault.kind === 'lost-reply' || fault.kind === 'error-after-write' ? writes : [];
  const on = fault.on.length > 0 ? fault.on : byDefault;
  return on.length === 0 || on.some((target) => target === request.method || target === request.route);
}

function isDue(fault: Fault, matched: number, random: Random): boolean {
  if ('every' in fault.when) return matched % fault.when.every === 0;
  if ('once' in fault.when) return matched === fault.when.once;
  if ('after' in fault.when) return matched >= fault.when.after;
  return random.float() < fault.when.rate;
}
