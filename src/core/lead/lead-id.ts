import { uuid } from './uuid.ts';

/**
 * Whether a text can be a lead's id. The reference says UUID (section 2); any text is accepted that can be stored,
 * indexed and displayed: no control characters, no lone surrogates, at most 255 characters.
 */
export function isLeadId(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u.test(text);
}

/** A UUID that is its own key. */
const usualUuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * The comparison key of an id: UUIDs in capitals, in braces or as a URN share one. Never sent: the service gets its own
 * spelling, and the table keeps what people typed.
 */
export function idKey(id: string): string {
  if (usualUuid.test(id)) return id;
  return uuid.exec(id)?.[1]?.toLowerCase() ?? id.trim();
}

const uuidBeginning = /^\s*(?:urn:uuid:)?[{(]?([0-9a-f-]{1,36})[)}]?\s*$/i;

/** As `idKey`, for the first part of an id. */
export function idBeginning(typed: string): string {
  return uuidBeginning.exec(typed)?.[1]?.toLowerCase() ?? typed.trim();
}

/** The creation time in a time-ordered UUID (version 7, RFC 9562 section 5.7), epoch ms. Null for any other id. */
export function leadIdTime(id: string): number | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i.exec(id);
  return match ? Number.parseInt(`${match[1]}${match[2]}`, 16) : null;
}
