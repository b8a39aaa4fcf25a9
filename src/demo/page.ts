import { z } from 'zod';
import type { LeadTable, LeadOrder, SandboxLead } from './lead-table.ts';
import type { SandboxBehaviour } from './options.ts';
import type { Random } from './random.ts';

interface PageRequest {
  /** Where the page begins; 0 for the first one. */
  readonly place: number;
  readonly limit: number;
  readonly matches: (lead: SandboxLead) => boolean;
}

interface Page {
  readonly leads: readonly SandboxLead[];
  /** Where the next page begins; null: this is the last one. */
  readonly next: number | null;
}

/** Takes one page. The work grows with the page (and the leads that do not match), not with the table. */
export function takePage(
  table: LeadTable,
  request: PageRequest,
  options: Pick<SandboxBehaviour, 'order' | 'repeatItems'>,
  random: Random,
): Page {
  const places = table.places(options.order === 'created' ? 'created' : 'shuffled');
  const placeOf =
    options.order === 'random-per-request' ? newOrder(places.length, random) : (place: number) => place;
  const matching = (place: number): SandboxLead | undefined => {
    const lead = table.get(places.at(placeOf(place)) ?? '');
    return lead !== undefined && request.matches(lead) ? lead : undefined;
  };

  // At least one item is new, or the scan would never end.
  const repeated = takeBefore(request.place, Math.min(options.repeatItems, request.limit - 1), matching);
  const leads = [...repeated];
  for (let place = request.place; place < places.length; place++) {
    const lead = matching(place);
    if (lead === undefined) continue;
    if (leads.length === request.limit) return { leads, next: place };
    leads.push(lead);
  }
  return { leads, next: null };
}

/** A lead listed before `place` and one at or after it change places, so that a scan repeats the one and misses the other. */
export function moveLead(places: LeadOrder, place: number, random: Random): void {
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
export function writeCursor(place: number, expires: number): string {
  return Buffer.from(JSON.stringify({ place, expires })).toString('base64url');
}

/** The place, or null when the cursor is not one of ours or has expired. */
export function readCursor(cursor: string, nowMs: number): number | null {
  try {
    const parsed = cursorSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString()));
    return parsed.expires > nowMs ? parsed.place : null;
  } catch {
    return null;
  }
}
