// Beside lead.ts: who looks at ids alone needs none of the code that reads dates.
export const uuid =
  /^\s*(?:urn:uuid:)?[{(]?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})[)}]?\s*$/i;

/** What `isUuid` looks for, as a pattern that SQL knows as well (`~*`). */
export const uuidPattern = uuid.source;

/** Whether an id may be written in several ways; see `idKey`. */
export function isUuid(id: string): boolean {
  return uuid.test(id);
}
