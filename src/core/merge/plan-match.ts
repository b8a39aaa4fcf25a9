import { hashContent } from '../lead/content-hash.ts';
import { type Cells, showCell } from '../lead/value.ts';
import type { PlannedAction } from './action.ts';
import { type PairState, planPair } from './plan.ts';
import type { Policy } from './policy.ts';

/**
 * Gives a new row the id of a new lead that is the same. Differences follow the rules of a first sight. The baseline
 * moves with the link, not before: until then they are two. `message`: the evidence.
 */
export function planMatchedRow(state: PairState, policy: Policy, message: string): readonly PlannedAction[] {
  const merged = planPair(state, policy);
  const { leadId, row } = state;
  const contentHash = hashContent(row?.cells ?? {}, policy.fields);
  const toRow = merged.find(({ kind }) => kind === 'update-row');
  const link: PlannedAction = {
    kind: 'link',
    leadId,
    row: row?.row ?? null,
    contentHash,
    changes: toRow?.changes ?? {},
    expect: row?.cells ?? {},
    reason: 'matched',
    message,
  };
  const others = merged.flatMap((one) => {
    if (one.kind === 'update-lead') return [{ ...one, contentHash }];
    return one.kind === 'hold' ? [one] : [];
  });
  return [...others, link];
}

/** A lead or a row that waits because the two may be the same. */
interface Told {
  readonly leadId: string;
  readonly lead: Cells;
  readonly row: number;
  readonly contentHash: string;
  readonly cells: Cells;
  readonly why: string;
}

const help = 'Neither was created on the other side. leadsync match shows both and records your decision';

/** A lead and a row that are each other's likeliest match. */
export function planProposed({ leadId, lead, row, contentHash, cells, why }: Told): PlannedAction {
  const message = `row ${row}${named(cells)} has no id and may be lead ${leadId}${named(lead)}: ${why}. ${help}`;
  return { ...held, leadId, row, contentHash, reason: 'match.proposed', message };
}

/** A lead that may be several rows; `rows`: the likeliest first. */
export function planAmbiguousLead(leadId: string, lead: Cells, rows: readonly number[]): PlannedAction {
  const message = `lead ${leadId}${named(lead)} may be ${someOf('row', rows)}; none is certain. No row was written for it. ${help}`;
  return { ...held, leadId, row: null, contentHash: '', reason: 'match.ambiguous', message };
}

/** A row that may be several leads, or shares its lead with another row. */
export function planAmbiguousRow(
  { row, contentHash, cells }: Pick<Told, 'row' | 'contentHash' | 'cells'>,
  leadIds: readonly string[],
): PlannedAction {
  const message = `row ${row}${named(cells)} has no id and may be ${someOf('lead', leadIds)}; none is certain. No lead was created. ${help}`;
  return { ...held, leadId: null, row, contentHash, expect: cells, reason: 'match.ambiguous', message };
}

const held = { kind: 'hold', changes: {}, expect: {} } as const;

const shown = 3;

function someOf(what: 'row' | 'lead', items: readonly (string | number)[]): string {
  const more = items.length - shown;
  const first = items.slice(0, shown).join(', ');
  if (items.length === 1) return `${what} ${first}`;
  return `one of the ${what}s ${first}${more > 0 ? ` and ${more} more` : ''}`;
}

function named({ companyName = null }: Cells): string {
  return companyName === null ? '' : ` (${showCell(companyName)})`;
}
