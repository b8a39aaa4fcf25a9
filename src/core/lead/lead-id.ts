/**
 * Whether a text can be a lead's id. The reference says UUID (section 2); any text is accepted that can be stored,
 * indexed and displayed: no control characters, no lone surrogates, at most 255 characters.
 */
export function isLeadId(text: string): boolean {
  return /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]{1,255}$/u.test(text);
}

const uuid =
  /^\s*(?:urn:uuid:)?[{(]?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})[)}]?\s*$/i;

/** What `isUuid` looks for, as a pattern that SQL knows as well (`~*`). */
export const uuidPattern = uuid.source;

/** Whether an id may be written in several ways; see `idKey`. */
export function isUuid(id: string): boolean {
  return uuid.test(id);
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

/**
 * Whether cells can be ids of a service that shows `ids`: most look like them or are UUIDs and, where those are all, one of the
 * cells is one of them. Empty cells can.
 */
export function canBeIds(cells: readonly string[], ids: readonly string[], isAll: boolean): boolean {
  const known = new Set(ids.map(idKey));
  const shapes = new Set(ids.map(shapeOf));
  const filled = cells.filter((text) => text.trim() !== '');
  const alike = filled.filter((text) => isUuid(text) || shapes.has(shapeOf(text)));
  const isOne = (text: string): boolean => !isAll || isUuid(text) || known.has(idKey(text));
  return filled.length === 0 || (alike.length * 2 >= filled.length && alike.some(isOne));
}

/** Numbers of any length, letters of any length, and the signs between them. */
function shapeOf(id: string): string {
  return isUuid(id)
    ? 'uuid'
    : id
        .trim()
        .replaceAll(/\d+/g, '0')
        .replaceAll(/\p{L}+/gu, 'a');
}
