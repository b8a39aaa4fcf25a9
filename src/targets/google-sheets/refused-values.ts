import type { RowChange, RowOutcome } from '../../ports/target.ts';

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

export function heldAs({ key }: RowChange, message: string): Conflict {
  return { key, status: 'held', code: 'target.value-not-storable', message };
}

function keyOf(change: RowChange, field: string | null): string {
  const values = 'values' in change ? change.values : 'text' in change ? { text: change.text } : {};
  const what = field === null ? [change.kind, Object.entries(values)] : [field, values[field] ?? null];
  const whose = change.leadId ?? ('expect' in change ? change.expect : null);
  return JSON.stringify([whose, ...what]);
}
