import { z } from 'zod';
import { isLeadId, type Lead } from '../core/lead/lead.ts';
import type { LeadPage } from '../ports/leads-service.ts';

/** Characters. A cursor travels in a query, and few servers take one of more than 8 KiB. */
const longestCursor = 8192;

/** The list envelope (API reference, section 2). Items are looked at one by one, so that one bad item costs no page. */
const envelope = z.object({
  items: z.array(z.unknown()),
  nextCursor: z
    .string()
    .max(longestCursor)
    .regex(/^[^\0]*$/)
    .nullish(),
});

/** A page from parsed JSON, or null when it has not the shape of one. An absent or empty cursor is none. */
export function readPage(json: unknown): LeadPage | null {
  const page = envelope.safeParse(json);
  if (!page.success) return null;
  const leads = page.data.items.map(readLead).filter((lead) => lead !== null);
  return {
    leads,
    nextCursor: page.data.nextCursor || null,
    invalidItems: page.data.items.length - leads.length,
  };
}

/** The lead with this id, shown at the top of the JSON or at most two levels down under any keys; null when it is not there. */
export function findLead(json: unknown, id: string): Lead | null {
  return candidates(json).find((lead) => sameId(lead.id, id)) ?? null;
}

/**
 * As `findLead`, for the reply to an update: null also when the object with this id does not show every field that was
 * written.
 */
export function findUpdatedLead(
  json: unknown,
  id: string,
  written: Readonly<Record<string, unknown>>,
): Lead | null {
  const lead = findLead(json, id);
  return lead !== null && showsLead(lead, written) ? lead : null;
}

/**
 * The lead that the reply to a create shows, or its id alone when the object does not show every field that was written
 * (the caller reads it back); null when there is none, or several and nothing tells which of them it is.
 */
export function findCreatedLead(
  json: unknown,
  written: Readonly<Record<string, unknown>>,
): Lead | { readonly id: string } | null {
  const found = candidates(json);
  const shown = found.filter((lead) => showsLead(lead, written));
  if (shown.length === 1) return shown[0] ?? null;
  const [only, ...others] = found;
  return shown.length === 0 && only !== undefined && others.length === 0 ? { id: only.id } : null;
}

/** The id that a Location header (absolute or relative, with or without a query) ends with; null when it names none. */
export function idFromLocation(location: string | undefined): string | null {
  if (location === undefined) return null;
  const path = location.replace(/[?#].*$/, '').replace(/\/+$/, '');
  const segment = path.slice(path.lastIndexOf('/') + 1);
  if (segment === '' || segment === 'leads') return null;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** The levels below the top in which a lead is looked for: `{ data: { lead: … } }` has two. */
const deepest = 2;

/** Objects with an id: the JSON itself when it is one, else those nearest to the top. */
function candidates(json: unknown): Lead[] {
  let level: unknown[] = [json];
  for (let depth = 0; depth <= deepest; depth++) {
    const leads = level.map(readLead).filter((lead) => lead !== null);
    if (leads.length > 0) return leads;
    level = level.flatMap((value): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return [];
}

function readLead(value: unknown): Lead | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const { id, ...fields } = value as Readonly<Record<string, unknown>>;
  return typeof id === 'string' && isLeadId(id) ? { id, fields } : null;
}

/** Whether a reply tells what became of every field that was written: a part of a lead must not pass for the whole. */
function showsLead(lead: Lead, written: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(written).every((field) => Object.hasOwn(lead.fields, field));
}

/** Ids are UUIDs (API reference, section 2): upper and lower case are one. */
function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
