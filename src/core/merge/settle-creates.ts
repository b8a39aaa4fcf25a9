import { canonicalJson, type Cell, type Cells, readable, sameCell, type Values } from '../lead/value.ts';
import { type PlannedAction, plannedAction } from './action.ts';
import type { LooseRow } from './difference.ts';
import type { LostLead } from './lost-rows.ts';
import {
  agreedContent,
  type CreateMatch,
  filled,
  type Intent,
  isOver,
  type ScanProof,
  shownContent,
  speaksAgainst,
  type Steps,
} from './match-lost-creates.ts';
import { planLink } from './plan.ts';
import type { Policy } from './policy.ts';

/** What a scan says about unfinished creates. */
export interface SettledCreates {
  /** `intentId` ties a link to the create that it finishes. */
  readonly actions: (PlannedAction & { readonly intentId?: number })[];
  /** Leads that belong to a create: not planned as new ones. */
  readonly leadIds: Set<string>;
  /** Leads created from rows that are gone, or carry another id since. */
  readonly rowless: LostLead[];
  /** Row numbers that belong to a create: not planned as new ones. */
  readonly rows: Set<number>;
  /** `base`: what row and lead agree on. */
  readonly found: {
    readonly intent: Intent;
    readonly leadId: string;
    readonly base: Values;
    readonly isPair: boolean;
  }[];
  /** What becomes of each, by its number. */
  readonly changes: ReadonlyMap<number, IntentChange>;
}

/** What becomes of a create that was begun; the rest stays as it is. */
export interface IntentChange {
  /** `created`: its lead is known. `linked`: the row has the id. `abandoned`: it was certainly not made, or its row is gone. */
  readonly state?: 'created' | 'linked' | 'abandoned';
  /** The lead that it made. */
  readonly leadId?: string;
  /** The service said that it made the lead. */
  readonly answered?: true;
  /** The attempt ended only now, without a reply: the service may still act on it for a while. */
  readonly endedNow?: true;
  /** What its row shows after an edit, by which the next scan recognises it. */
  readonly row?: Cells;
  /** The summed weights of the scans that lacked its lead; 0 when one showed leads that may come from it. */
  readonly scansWithoutIt?: number;
}

/** What a scan shows that may be of unfinished creates. */
interface CreateFacts {
  readonly matches: ReadonlyMap<number, CreateMatch>;
  /** The leads that were found: as the scan shows them, and the baselines of those that are pairs. */
  readonly leads: ReadonlyMap<string, Cells>;
  readonly bases: ReadonlyMap<string, Values>;
  /** Whether a row has the id of a lead. */
  readonly hasRow: (leadId: string) => boolean;
  /** The rows without an id. */
  readonly loose: readonly LooseRow[];
  readonly scan: ScanProof;
  /** `leads.query` may hide leads. */
  readonly filtered: boolean;
}

export function nothingSettled(): SettledCreates & { readonly changes: Map<number, IntentChange> } {
  return {
    actions: [],
    leadIds: new Set(),
    rowless: [],
    rows: new Set(),
    found: [],
    changes: new Map(),
  };
}

/** Decides what becomes of every unfinished create, and plans the link between its lead and its row. Pure; see `Steps`. */
export function* settleCreates(
  intents: readonly Intent[],
  { matches, leads, bases, hasRow, loose, scan, filtered }: CreateFacts,
  policy: Policy,
): Steps<SettledCreates> {
  const lost = nothingSettled();
  const becomes = ({ id }: Intent, change: IntentChange): void =>
    void lost.changes.set(id, { ...lost.changes.get(id), ...change });
  const matchOf = ({ id }: Intent): CreateMatch => matches.get(id) ?? { kind: 'wait' };
  const isLinked = (intent: Intent): boolean => {
    const match = matchOf(intent);
    return match.kind === 'found' && hasRow(match.leadId);
  };
  const open = intents.filter((intent) => !isLinked(intent));
  const intentRows = yield* findIntentRows(open, loose);

  for (const intent of intents) {
    const match = matchOf(intent);
    if (match.kind === 'again') {
      becomes(intent, { state: 'abandoned' });
      continue;
    }
    const foundId = match.kind === 'found' ? match.leadId : null;
    const lead = leads.get(foundId ?? '') ?? null;
    const base = agreed(intent, lead, bases.get(foundId ?? ''));
    if (foundId !== null) {
      lost.found.push({ intent, leadId: foundId, base, isPair: bases.has(foundId) });
      if (intent.leadId === null) becomes(intent, { state: 'created', leadId: foundId });
      if (isLinked(intent)) {
        // Its id was written before a crash, or by a person: a pair like any other from now on.
        becomes(intent, { state: 'linked' });
        continue;
      }
      lost.leadIds.add(foundId);
    } else if (match.kind === 'ambiguous') becomes(intent, { scansWithoutIt: 0 });
    else if (speaksAgainst(intent, scan) > 0)
      becomes(intent, { scansWithoutIt: intent.scansWithoutIt + scan.weight });

    const { rows, certain } = intentRows.get(intent.id) ?? { rows: [], certain: false };
    if (rows.length === 0) {
      // The row is gone: its lead, if there is one, is an ordinary new lead, unless another id stands in its row.
      if (foundId !== null) {
        lost.leadIds.delete(foundId);
        lost.rowless.push(lostLead(foundId, intent, lead));
      }
      // What no scan can tell, the person has: who finds no lead deletes the row.
      const isAnswered = filtered && isOver(intent, scan.startedAt);
      if (match.kind !== 'wait' || isAnswered) becomes(intent, { state: 'abandoned' });
      continue;
    }
    // A row with an unreadable id is a conflict of its own, and may be another lead's.
    const writable = rows.filter(({ unreadableId }) => unreadableId === null);
    if (writable.length === 0) continue;
    for (const candidate of writable) lost.rows.add(candidate.row);
    if (match.kind === 'ambiguous') for (const candidate of match.candidates) lost.leadIds.add(candidate);
    // Of several rows another one may be its row as well, but nothing is said of a paused one.
    const row = certain ? writable[0] : writable.find(({ isPaused = false }) => !isPaused);
    if (row === undefined) continue;
    if (certain && row.contentHash !== intent.contentHash) becomes(intent, { row: row.cells });
    const why = certain
      ? whyUndecided(match, filtered && isOver(intent, scan.startedAt))
      : 'that row was edited since, and several rows look like it: write the id of its lead into the right row';
    if (row.isPaused === true) continue;
    if (why !== null) lost.actions.push(inDoubt(intent, row.row, why));
    else if (foundId !== null)
      lost.actions.push(
        ...planLink(foundId, base, lead, row, policy).map((action) =>
          action.kind === 'link' ? { ...action, intentId: intent.id } : action,
        ),
      );
  }
  return lost;
}

function lostLead(leadId: string, { row }: Intent, lead: Cells | null): LostLead {
  const base = readable(row);
  return { leadId, base, lead: lead ?? base, isListed: lead !== null, isFresh: true, place: null };
}

/** What row and lead agree on: the baseline when there is one, else the sent content that the lead shows. */
function agreed(intent: Intent, lead: Cells | null, base: Values | undefined): Values {
  // The row still shows what was sent, so what differs is the lead's edit; except fields that the lead does not show,
  // which the service may never have taken.
  if (intent.lostItsRow) return lead === null ? intent.content : shownContent(intent, lead);
  return base ?? (lead === null ? {} : agreedContent(intent, lead));
}

/** The ids that a message names. */
const candidatesShown = 5;

/** Why a person has to say which lead is the row's; null: nobody has to. `isHidden`: a filtered scan lacks it. */
function whyUndecided(match: CreateMatch, isHidden: boolean): string | null {
  switch (match.kind) {
    case 'ambiguous': {
      const ids = match.candidates.slice(0, candidatesShown).join(', ');
      const others = match.candidates.length - candidatesShown;
      const more = others > 0 ? `, or one of ${others} more new leads` : '';
      const which = match.candidates.length > 1 ? `one of ${ids}${more}` : ids;
      return `the lead may be ${which}: write its id into the row, or when it is another one, delete the row, sync, and add it again`;
    }
    case 'unrecognised':
      return 'the service said that it made one, but there is no new lead: write the id of the right lead into the row. If there is none, delete the row, sync, and add it again';
    case 'wait':
      return isHidden
        ? 'it is not in the scan, but leads.query hides leads: look for it in the service. If it is there, write its id into the row. If not, delete the row, sync, and add it again'
        : null;
    default:
      return null;
  }
}

function inDoubt({ leadId, contentHash }: Intent, row: number, why: string): PlannedAction {
  const message = `could not tell which lead was created from this row, because the reply did not say; ${why}`;
  return plannedAction('hold', { leadId, row, contentHash, reason: 'create.in-doubt', message });
}

/** Rows an intent may have been created from. `certain`: the only one, and no other intent's. */
export interface IntentRows<Row> {
  readonly rows: readonly Row[];
  readonly certain: boolean;
}

/**
 * Finds the rows without id that unfinished creates came from: first, rows that show exactly what was sent; then, for
 * rows edited or removed meanwhile, the remaining rows that share the most filled cells, and at least half. Yields
 * between two intents.
 */
export function* findIntentRows<Row extends { readonly contentHash: string; readonly cells: Cells }>(
  intents: readonly Intent[],
  rows: readonly Row[],
): Steps<ReadonlyMap<number, IntentRows<Row>>> {
  const found = new Map<number, IntentRows<Row>>();
  const byKey = Map.groupBy(rows, ({ contentHash }) => contentHash);
  const free = new Set(rows);
  for (const { id, contentHash } of intents) {
    const exact = byKey.get(contentHash)?.shift();
    if (exact === undefined) continue;
    free.delete(exact);
    found.set(id, { rows: [exact], certain: true });
  }
  const edited = intents.filter((intent) => !found.has(intent.id));
  if (edited.length === 0) return found;
  const likeness = new Likeness([...free]);
  const claims: { readonly id: number; readonly rows: readonly Row[] }[] = [];
  for (const { id, row } of edited) {
    yield;
    claims.push({ id, rows: likeness.most(row) });
  }
  const claimants = new Map<Row, number>();
  for (const [claimed, same] of Map.groupBy(claims, (claim) => claim.rows)) {
    for (const row of claimed) claimants.set(row, (claimants.get(row) ?? 0) + same.length);
  }
  for (const claim of claims) {
    const [only, ...others] = claim.rows;
    const certain = only !== undefined && others.length === 0 && claimants.get(only) === 1;
    found.set(claim.id, { rows: claim.rows, certain });
  }
  return found;
}

/** Finds the rows that share the most cells with a record, by an index. */
class Likeness<Row extends { readonly cells: Cells }> {
  readonly #rows: readonly Row[];
  /** By field and value: indexes of the rows that show it. */
  readonly #places = new Map<string, number[]>();
  /** Cached per content. */
  readonly #known = new Map<string, readonly Row[]>();

  constructor(rows: readonly Row[]) {
    this.#rows = rows;
    for (const [place, row] of rows.entries())
      for (const one of filled(row.cells).map(keyOf)) {
        const places = this.#places.get(one);
        if (places === undefined) this.#places.set(one, [place]);
        else places.push(place);
      }
  }

  /** In row order; none when the most is less than half of the record's filled cells. */
  most(record: Cells): readonly Row[] {
    const cells = filled(record);
    const key = JSON.stringify(cells.map(keyOf).toSorted());
    let rows = this.#known.get(key);
    if (rows === undefined) this.#known.set(key, (rows = this.#find(cells)));
    return rows;
  }

  #find(cells: ReturnType<typeof filled>): readonly Row[] {
    const rarestFirst = cells
      .map((one) => this.#places.get(keyOf(one)) ?? [])
      .toSorted((a, b) => a.length - b.length);
    const shared = new Map<number, number>();
    let most = Math.max(1, cells.length / 2);
    for (const [looked, places] of rarestFirst.entries()) {
      // A row not met so far shares at most the remaining cells.
      if (cells.length - looked < most) break;
      for (const place of places) {
        if (shared.has(place)) continue;
        const row = this.#rows[place]?.cells ?? {};
        const count = cells.filter(([field, cell]) => sameCell(row[field] ?? null, cell)).length;
        shared.set(place, count);
        most = Math.max(most, count);
      }
    }
    const found = [...shared].flatMap(([place, count]) => (count === most ? [place] : []));
    return found.toSorted((a, b) => a - b).flatMap((place) => this.#rows[place] ?? []);
  }
}

function keyOf([field, cell]: readonly [string, Cell]): string {
  return JSON.stringify([field, canonicalJson(cell)]);
}
