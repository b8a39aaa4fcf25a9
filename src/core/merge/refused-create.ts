import { shortHash } from '../lead/content-hash.ts';
import {
  canonicalJson,
  type Cells,
  isUnreadable,
  sameCell,
  showCell,
  type Value,
  type Values,
} from '../lead/value.ts';
import { headingOf, type Headings } from '../lead/mapping.ts';
import type { Changes } from './action.ts';
import { undoneMessages } from './holds.ts';
import type { Policy } from './policy.ts';

/** Why exactly this content does not become a lead; `why`: without a full stop. */
export interface Refused {
  readonly code: 'lead.create-refused' | 'lead.exists' | 'row.undone';
  readonly why: string;
}

/** An undo deleted the lead created from it. */
export const undoneRow: Refused = { code: 'row.undone', why: undoneMessages['row.undone'] };

export function refusedMessage(row: number | null, { code, why }: Refused): string {
  if (code === 'row.undone') return why;
  return `no lead was created from row ${row ?? '?'}: ${why}. It is sent again when the row changes, or when you decide so: leadsync conflicts shows the number for leadsync resolve NUMBER --use row`;
}

/** What a new row sends. */
export function sentContent(cells: Cells, { fields }: Policy): Values {
  const sent = fields.flatMap(({ field, direction }): [string, Value][] => {
    const cell = cells[field] ?? null;
    return direction === 'to-target' || isUnreadable(cell) || sameCell(cell, null) ? [] : [[field, cell]];
  });
  return Object.fromEntries(sent);
}

/** A text that two creates share exactly when they send the same, whatever else their rows show. */
export function sentKey(content: Values): string {
  const fields = Object.entries(content).map(([field, value]) =>
    JSON.stringify([field, canonicalJson(value)]),
  );
  return shortHash(fields.toSorted().join(','));
}

/** Where the id of a reply to a create was met. */
export interface Sighting {
  readonly leadId: string;
  readonly connection: string;
  /** Null: none is known. */
  readonly row: number | null;
  /** Its new row is written in this run. */
  readonly getsRow: boolean;
  readonly cells: Cells;
  /** Epoch ms; null: certainly before the request, as in the scan of the run or by another create. */
  readonly since: number | null;
}

/**
 * The lead that was there before a request left (`attemptedAt`, epoch ms by the clock of the sightings); null: it is new.
 * Another connection may have met a lead that this very request made, but only later.
 */
export function existingLead(
  sightings: readonly Sighting[],
  attemptedAt: number,
  own: string,
): Sighting | null {
  const before = sightings.filter(({ since }) => since === null || since < attemptedAt);
  const told = (one: Sighting): number => Number(one.connection === own) * 2 + Number(one.row !== null);
  return before.toSorted((a, b) => told(b) - told(a))[0] ?? null;
}

/** What a create wrote into a lead that was there: fields that show what was sent, and showed something else before. */
export function overwritten(sent: Values, before: Cells, stored: Cells): Changes {
  const changed = Object.entries(sent).flatMap(([field, value]) => {
    const [from, to] = [before[field] ?? null, stored[field] ?? null];
    const isWritten = field in before && !sameCell(from, to) && sameCell(to, value);
    return isWritten ? [[field, { from, to, rule: 'overwritten' as const }] as const] : [];
  });
  return Object.fromEntries(changed);
}

/** Why no lead was made: the service answered with one that is there. `own`: the connection of the row. */
export function existsReason(existing: Sighting, written: Changes, own: string, fields: Headings): string {
  const { leadId, connection, row, getsRow, cells } = existing;
  const name = cells['companyName'] ?? null;
  const where = row !== null ? `row ${row}` : getsRow ? 'its row is written in this run' : 'it has no row';
  const place = connection === own ? where : `connection ${connection}${row === null ? '' : `, row ${row}`}`;
  const shown = [...(name === null ? [] : [showCell(name)]), place].join(', ');
  const lost = Object.entries(written).map(
    ([field, { from }]) => `${headingOf(fields, field)}, which was ${showCell(from)}`,
  );
  const overwrote =
    lost.length === 0 ? '' : `. It overwrote ${lost.join('; ')} (leadsync why ${leadId} shows it)`;
  const isOneRow = connection === own && row === null && !getsRow;
  const advice = isOneRow
    ? `If the row is that lead, type ${leadId} into its id cell`
    : 'If the row is that lead, delete the row';
  return `the service answered with lead ${leadId} (${shown}), which was there already${overwrote}. ${advice}; if it is another company, change its name`;
}

/** What the service made no lead of, by what was sent (`sentKey`). A plan asks it, and notes what it met. */
export class RefusedCreates {
  readonly #known: ReadonlyMap<string, Refused>;
  readonly met = new Set<string>();
  readonly released = new Set<string>();

  constructor(known: ReadonlyMap<string, Refused>) {
    this.#known = known;
  }

  find(key: string): Refused | null {
    const found = this.#known.get(key);
    if (found === undefined) return null;
    this.met.add(key);
    return found;
  }

  /** A person decided that it is sent once more. */
  release(key: string): void {
    if (this.#known.has(key)) this.released.add(key);
  }
}
