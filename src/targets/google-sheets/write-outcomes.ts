import { LeadsyncError, withoutStop } from '../../lib/errors.ts';
import type { RowChange, RowOutcome } from '../../ports/target.ts';
import { idKey } from '../../core/lead/lead-id.ts';
import type { Columns } from '../shared/columns.ts';
import { cellName } from '../shared/cell-name.ts';
import { GoogleFault } from './google-fault.ts';
import { fieldAt, type PlannedRow } from './write-plan.ts';

export interface Refused<T> {
  readonly item: T;
  readonly error: LeadsyncError;
}

export interface Refusals<T> {
  alone(refused: Refused<T>): void;
  isEnough(): boolean;
}

/**
 * Sends all at once; when refused (`target.refused`), halves until the refused ones stand alone. `parts` splits a single item, or gives
 * what is still to try (itself: nothing is). Returns refused groups that were not split. Throws other faults.
 */
export async function bisect<T>(
  items: readonly T[],
  parts: (item: T) => readonly T[],
  send: (items: readonly T[]) => Promise<void>,
  refusals: Refusals<T>,
): Promise<readonly Refused<T>[]> {
  const [first] = items;
  if (first === undefined) return [];
  try {
    await send(items);
    return [];
  } catch (error) {
    if (!(error instanceof LeadsyncError) || error.code !== 'target.refused') throw error;
    const smaller = items.length === 1 ? parts(first) : items;
    if (smaller.length === 1 && smaller[0] === first) {
      refusals.alone({ item: first, error });
      return [];
    }
    if (refusals.isEnough()) return items.map((item) => ({ item, error }));
    const half = Math.ceil(smaller.length / 2);
    const front = await bisect(smaller.slice(0, half), parts, send, refusals);
    return [...front, ...(await bisect(smaller.slice(half), parts, send, refusals))];
  }
}

type Conflict = Extract<RowOutcome, { status: 'deferred' | 'held' }>;

export class RefusedValues {
  readonly #messages = new Map<string, string>();

  /** `field`: of the lead; null: the change as a whole. */
  remember(change: RowChange, field: string | null, message: string): void {
    this.#messages.set(keyOf(change, field), message);
  }

  forget(): void {
    this.#messages.clear();
  }

  heldBy(change: RowChange): Conflict | null {
    if (this.#messages.size === 0) return null;
    const fields = 'values' in change ? Object.keys(change.values) : [];
    for (const field of [null, ...fields]) {
      const message = this.#messages.get(keyOf(change, field));
      if (message !== undefined) return heldAs(change, message);
    }
    return null;
  }
}

function heldAs({ key }: RowChange, message: string): Conflict {
  return { key, status: 'held', code: 'target.value-not-storable', message };
}

function keyOf(change: RowChange, field: string | null): string {
  const values = 'values' in change ? change.values : 'text' in change ? { text: change.text } : {};
  const what = field === null ? [change.kind, Object.entries(values)] : [field, values[field] ?? null];
  const whose = change.leadId ?? ('expect' in change ? change.expect : null);
  return JSON.stringify([whose, ...what]);
}

export interface Settled {
  /** Leads whose rows do not show what was sent. */
  readonly astray: ReadonlySet<string>;
  /** By lead: other people's cells that were hit and restored; and those that could not be restored. */
  readonly putBack: ReadonlyMap<string, readonly string[]>;
  readonly notPutBack: ReadonlyMap<string, readonly string[]>;
}

export function rememberRefused(
  { item, error }: Refused<PlannedRow>,
  changes: readonly RowChange[],
  columns: Columns,
  memory: RefusedValues,
): void {
  const message = refusedMessage(item, error);
  for (const [change, field] of concerned(item, changes, columns)) memory.remember(change, field, message);
}

/** Astray rows are put off, refused ones held; `rest`: refused as a group, of which some may be fine. */
export function outcomesOf(
  changes: readonly RowChange[],
  planned: readonly RowOutcome[],
  rest: readonly Refused<PlannedRow>[],
  settled: Settled,
  columns: Columns,
  memory: RefusedValues,
): readonly RowOutcome[] {
  const byLead = Map.groupBy(changes, ({ leadId }) => idKey(leadId ?? ''));
  const heldWithOthers = new Map<RowChange, string>();
  for (const { item, error } of rest) {
    for (const [change] of concerned(item, byLead.get(idKey(item.leadId)) ?? [], columns))
      heldWithOthers.set(change, refusedMessage(item, error, true));
  }
  return changes.map((change, index): RowOutcome => {
    const outcome = planned[index];
    if (outcome === undefined) throw new Error('a change without outcome');
    if (outcome.status !== 'done') return outcome;
    const held = memory.heldBy(change);
    if (held !== null) return held;
    const message = heldWithOthers.get(change);
    if (message !== undefined) return heldAs(change, message);
    const lead = idKey(change.leadId ?? '');
    // A lost status does not matter: the next run writes it again.
    const isAstray = change.kind !== 'status' && settled.astray.has(lead);
    return isAstray || settled.notPutBack.has(lead) ? defer(change, settled) : outcome;
  });
}

function concerned(
  item: PlannedRow,
  changes: readonly RowChange[],
  columns: Columns,
): [change: RowChange, field: string | null][] {
  const field = item.isWhole || item.cells.size > 1 ? null : onlyField(item, columns);
  const isStatus = !item.isWhole && columns.status !== null && item.cells.has(columns.status);
  return changes.flatMap((change): [RowChange, string | null][] => {
    if (idKey(change.leadId ?? '') !== idKey(item.leadId)) return [];
    if (isStatus) {
      const text = item.cells.get(columns.status);
      return 'text' in change && change.text === text ? [[change, null]] : [];
    }
    if (change.kind === 'status') return [];
    if (field === null) return [[change, null]];
    return 'values' in change && field in change.values ? [[change, field]] : [];
  });
}

function onlyField({ cells }: PlannedRow, columns: Columns): string | null {
  const [column] = cells.keys();
  return column === undefined ? null : fieldAt(columns, column);
}

function refusedMessage({ row, cells, isNew }: PlannedRow, error: Error, isWithOthers = false): string {
  const words = error instanceof GoogleFault && error.words !== null ? `: ${withoutStop(error.words)}.` : '.';
  const names = [...cells.keys()].map((column) => cellName(row, column)).join(', ');
  const others = isWithOthers
    ? ' in a group too large to identify every refused value (those found first are named)'
    : '';
  return isNew
    ? `Google Sheets refused the new row${others}${words} It was not added.`
    : `Google Sheets refused the new values of ${names}${others}${words} The cells were not changed.`;
}

function defer({ key, leadId }: RowChange, { putBack, notPutBack }: Settled): RowOutcome {
  const lead = idKey(leadId ?? '');
  const [back, lost] = [putBack.get(lead) ?? [], notPutBack.get(lead) ?? []];
  const messages = [
    'The row does not show what was written: somebody edited or moved it at that moment. The next run tries again.',
    ...(back.length > 0 ? [`Other cells that the write hit were restored: ${back.join(', ')}.`] : []),
    ...(lost.length > 0
      ? [`Other cells that the write hit could not be restored; they showed: ${lost.join(', ')}.`]
      : []),
  ];
  return { key, status: 'deferred', code: 'row.changed', message: messages.join(' ') };
}
