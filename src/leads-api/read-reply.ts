import { z } from 'zod';
import { isLeadId } from '../core/lead/lead-id.ts';
import { isExactNumber, type Lead, writtenNumber } from '../core/lead/lead.ts';
import { decoded, parseJson, valueAt } from '../lib/foreign-text.ts';
import type { LeadPage } from '../ports/leads-service.ts';

/** Characters. A cursor travels in the query, and few servers accept more than 8 KiB. */
const longestCursor = 8192;

/** The list envelope (API reference, section 2). Items are checked singly: a bad one must not cost the page. */
const envelope = z.object({
  items: z.array(z.unknown()),
  nextCursor: z
    .string()
    .max(longestCursor)
    .regex(/^[^\0]*$/)
    .nullish(),
});

/** A page from parsed JSON, or null when it has another shape. An empty cursor counts as absent. */
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

/** The lead with this id, at the top of the JSON or at most two levels down under any keys; else null. */
export function findLead(json: unknown, id: string): Lead | null {
  return candidates(json).find((lead) => sameId(lead.id, id)) ?? null;
}

/** Null also when the object lacks a written field. */
export function findUpdatedLead(
  json: unknown,
  id: string,
  written: Readonly<Record<string, unknown>>,
): Lead | null {
  const lead = findLead(json, id);
  return lead !== null && showsLead(lead, written) ? lead : null;
}

/** Only the id when the object lacks a written field (the caller reads it back); null when there is none, or it is ambiguous. */
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

/** The id at the end of a Location header (absolute or relative, with or without a query), or null. */
export function idFromLocation(location: string | undefined): string | null {
  if (location === undefined) return null;
  const path = location.replace(/[?#].*$/, '').replace(/\/+$/, '');
  const segment = path.slice(path.lastIndexOf('/') + 1);
  return segment === '' || segment === 'leads' ? null : decoded(segment);
}

/** Levels below the top searched for a lead: `{ data: { lead: … } }` has two. */
const deepest = 2;

/** Objects with an id: the JSON itself, else those nearest to the top. */
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

/** Whether a reply shows every written field: a partial lead must not pass for the whole. */
function showsLead(lead: Lead, written: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(written).every((field) => Object.hasOwn(lead.fields, field));
}

/** UUIDs (API reference, section 2) are case-insensitive. */
function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}

/** Cheap, and never wrong in saying no: outside of a text, digits that may be too many for a number, or an exponent; most ids have both within theirs. */
const mayBeInexact = /(?:^|[:,[\s])-?\d(?:[\d.]{15}|[\d.]*[eE])/;

/** A number that none of JavaScript holds (1e400, an id of 20 digits) is a `writtenNumber`, which `JSON.stringify` gives back. Undefined: not JSON. */
export function parseLeadJson(text: string): unknown {
  if (!mayBeInexact.test(text)) return parseJson(text);
  try {
    return JSON.parse(text, (_key, value: unknown, { source }: { readonly source?: string } = {}) =>
      source !== undefined && typeof value === 'number' && !isExactNumber(source)
        ? writtenNumber(source)
        : value,
    ) as unknown;
  } catch {
    // Not JSON, or nested too deeply for the function above.
    return parseJson(text);
  }
}

export interface ErrorBody {
  readonly code: string | null;
  readonly message: string | null;
}

type Path = readonly (string | number)[];

const codePaths: readonly Path[] = [['code'], ['error', 'code'], ['errors', 0, 'code'], ['error']];
const messagePaths: readonly Path[] = [
  ['message'],
  ['error', 'message'],
  ['errors', 0, 'message'],
  ['detail'],
  ['errors', 0, 'detail'],
];

/** Their shape is open (API reference, section 7): a one-word `error` is a code, any other text a message. Partial JSON is no message: it may hold leads. */
export function readErrorBody(body: string): ErrorBody {
  const text = body.trim();
  const json = parseJson(text);
  if (json === undefined) return { code: null, message: /^(?:$|[<[{])/.test(text) ? null : text };
  const isWord = (found: string) => !/\s/.test(found);
  const message =
    textsAt(json, messagePaths)[0] ?? textsAt(json, [['error']]).find((found) => !isWord(found));
  return { code: textsAt(json, codePaths).find(isWord) ?? null, message: message ?? null };
}

function textsAt(json: unknown, paths: readonly Path[]): readonly string[] {
  const found = paths.map((path) => valueAt(json, path));
  return found.flatMap((text) => (typeof text === 'string' && text.trim() !== '' ? [text.trim()] : []));
}
