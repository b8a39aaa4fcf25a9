import type pg from 'pg';
import type { Cells } from '../core/lead/value.ts';
import type { FieldMapping } from '../core/lead/mapping.ts';
import {
  contentMarks,
  findLostRows,
  lostMarks,
  type LostLead,
  type LostRows,
  type Stray,
  strayMarks,
} from '../core/merge/lost-rows.ts';
import type { PlannedAction } from '../core/merge/action.ts';
import { orphan, type PairState, planPair } from '../core/merge/plan.ts';
import { planFoundRow, planMatchedRow } from '../core/merge/plan-link.ts';
import { planMovedRow } from '../core/merge/plan-held-rows.ts';
import { type Elsewhere, type Home, planMissingRow, planRowOfOther } from '../core/merge/row-elsewhere.ts';
import { missedFields, type Policy } from '../core/merge/policy.ts';
import {
  countLost,
  goneLeads,
  renamedLeads,
  strays as streamStrays,
  unheardRows,
} from '../store/lost-rows.ts';
import type { Run } from '../store/runs.ts';
import type { FoundMatches } from './find-matches.ts';
import type { LostCreates } from './find-lost-creates.ts';

/** Up to this number, all leads without a row are kept in memory; above it, only those that a stray row may belong to. */
const mostGone = 20_000;

/** What a scan shows of rows that lost their ids. */
export interface FoundRows extends LostRows {
  /** The rows that get their id back, by lead. */
  readonly rowOf: ReadonlyMap<string, { readonly row: number; readonly cells: Cells }>;
  /** New rows with unknown ids, at most as many as rows of known leads disappeared. */
  readonly idsUnknown: number;
  /** Whether a row with an unreadable id may be this new lead's. */
  mayHaveRow(lead: Cells): boolean;
}

/**
 * Finds the rows of leads that lost theirs; skips rows and leads of `creates`, except leads whose row was not found, and rows
 * of leads in `homes`: it is known whose they are.
 */
export async function findRows(
  pool: pg.Pool,
  run: Run,
  fields: readonly FieldMapping[],
  policy: Policy,
  creates: Pick<LostCreates, 'rows' | 'leadIds' | 'rowless'>,
  homes: ReadonlyMap<string, Home>,
): Promise<FoundRows> {
  const unheard = await unheardRows(pool, run);
  const rowless = [...creates.rowless, ...unheard.filter(({ leadId }) => !creates.leadIds.has(leadId))];
  const counts = await countLost(pool, run);
  if (counts.gone + counts.renamed + counts.unreadable + rowless.length === 0) return nothingLost;
  let [fresh, newOrphans] = [0, 0];
  const ofCreates = new Set([...creates.leadIds, ...rowless.map(({ leadId }) => leadId)]);
  const isFree = ({ leadId }: LostLead): boolean => !ofCreates.has(leadId);
  const gone = [...rowless];
  const renamed = run.allow.includes('rows-shuffled') ? [] : await collect(renamedLeads(pool, run), isFree);
  const marks = new Set(renamed.flatMap((lead) => lostMarks(lead, fields, policy.fields)));
  const seeGone = async (keep: (lead: LostLead) => boolean): Promise<void> => {
    for await (const lead of goneLeads(pool, run)) {
      if (!isFree(lead)) continue;
      if (lead.isFresh) fresh += 1;
      if (keep(lead)) gone.push(lead);
    }
  };
  const areMany = counts.gone > mostGone;
  if (!areMany) {
    await seeGone(() => true);
    for (const lead of gone) for (const mark of lostMarks(lead, fields, policy.fields)) marks.add(mark);
  }
  const strays: Stray[] = [];
  for await (const stray of streamStrays(pool, run, rowless.length > 0)) {
    if (stray.leadId === null ? creates.rows.has(stray.row) : homes.has(stray.leadId)) continue;
    if (stray.isNewOrphan) newOrphans += 1;
    if (areMany || stray.isUnreadable || strayMarks(stray).some((mark) => marks.has(mark)))
      strays.push(stray);
  }
  if (areMany) {
    const ofStrays = new Set(strays.flatMap(strayMarks));
    await seeGone((lead) => lostMarks(lead, fields, policy.fields).some((mark) => ofStrays.has(mark)));
  }
  const lost = findLostRows(strays, [...gone, ...renamed], fields, policy.fields);
  // By the columns that are left two rows may look alike.
  const found = missedFields(policy).length > 0 ? { ...lost, links: new Map<number, string>() } : lost;
  const byRow = new Map(strays.map((stray) => [stray.row, stray]));
  const rowOf = [...found.links].map(
    ([row, leadId]) => [leadId, { row, cells: byRow.get(row)?.cells ?? {} }] as const,
  );
  const unreadable = new Set(
    strays.filter((stray) => stray.isUnreadable).flatMap((stray) => contentMarks(stray.cells, fields)),
  );
  return {
    ...found,
    rowOf: new Map(rowOf),
    idsUnknown: Math.min(newOrphans, fresh - lost.links.size),
    mayHaveRow: (cells) =>
      unreadable.size > 0 && contentMarks(cells, fields).some((mark) => unreadable.has(mark)),
  };
}

const nothingLost: FoundRows = {
  ...findLostRows([], [], [], []),
  rowOf: new Map(),
  idsUnknown: 0,
  mayHaveRow: () => false,
};

async function collect<T>(items: AsyncIterable<T>, keep: (item: T) => boolean): Promise<T[]> {
  const kept: T[] = [];
  for await (const item of items) if (keep(item)) kept.push(item);
  return kept;
}

/** Rows that stand elsewhere than in their table. */
export interface OtherPlaces {
  readonly elsewhere: Elsewhere;
  /** By lead: the tables to which rows of this one belong. */
  readonly homes: ReadonlyMap<string, Home>;
}

/** The actions of one lead id, with what was found about its row. */
export function planOne(
  state: PairState,
  policy: Policy,
  found: FoundRows,
  matches: Pick<FoundMatches, 'rowOf' | 'heldLeads'>,
  { elsewhere, homes }: OtherPlaces,
): readonly PlannedAction[] {
  const { leadId, base, lead, row } = state;
  const held = matches.heldLeads.get(leadId);
  if (held !== undefined) return [held];
  const matched = matches.rowOf.get(leadId);
  if (matched !== undefined) return planMatchedRow(state, policy, matched.message);
  if (row === null) {
    const mayBeAnyones = base === null ? lead !== null && found.mayHaveRow(lead) : found.isAnyones;
    if (mayBeAnyones || found.leadIds.has(leadId)) return [];
    return planMissingRow(state, planPair(state, policy), elsewhere.get(leadId));
  }
  if (found.rowOf.has(leadId)) return planFoundRow(state, policy);
  const movedIn = planRowOfOther(state, homes.get(leadId));
  if (movedIn !== null) return [movedIn];
  const others = found.moved.get(row.row);
  if (others !== undefined && base !== null) return [planMovedRow(state, others)];
  const mayBe = found.mayBe.get(row.row);
  if (mayBe !== undefined && lead === null) return [orphan(state, row, mayBe)];
  return planPair(state, policy);
}
